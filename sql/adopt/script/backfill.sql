-- Fills a shadow in short transactions, which skip rows that others have locked and come back for them. Variables and
-- columns have their block or table before them: the table can have columns of the same names.

DO $block$
<<fill>>
DECLARE
  pages pg_catalog.int8 := pg_catalog.pg_relation_size($literal$::pg_catalog.regclass) OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size'::pg_catalog.text)::pg_catalog.int8;
  tenth pg_catalog.int8 := pages OPERATOR(pg_catalog./) 10::pg_catalog.int8;
  page pg_catalog.int8;
  shown pg_catalog.int8;
  locked pg_catalog.tid[];
  written pg_catalog.int8;
BEGIN
  $refuse_superuser$;
  LOOP
    page := 0;
    shown := tenth;
    WHILE page OPERATOR(pg_catalog.<=) pages LOOP
      SET LOCAL ROLE $owner$;
      LOCK TABLE $table$ IN ROW EXCLUSIVE MODE;
      $refuse_replaced$;
      locked := ARRAY(
        SELECT t.ctid FROM $table$ AS t
        WHERE t.ctid OPERATOR(pg_catalog.>=) pg_catalog.format('(%s,0)'::pg_catalog.text, fill.page)::pg_catalog.tid
          AND t.ctid OPERATOR(pg_catalog.<) pg_catalog.format('(%s,0)'::pg_catalog.text, fill.page OPERATOR(pg_catalog.+) 10::pg_catalog.int8)::pg_catalog.tid
          AND NOT ($equal$)
        FOR NO KEY UPDATE SKIP LOCKED);
      UPDATE $table$ AS t SET $shadow$ = t.$column$ WHERE t.ctid OPERATOR(pg_catalog.=) ANY (fill.locked);
      GET DIAGNOSTICS written = ROW_COUNT;
      IF written OPERATOR(pg_catalog.<) pg_catalog.cardinality(locked) THEN
        RAISE EXCEPTION '$shown$: % of % rows were not updated', pg_catalog.cardinality(locked) OPERATOR(pg_catalog.-) written, pg_catalog.cardinality(locked)
          USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'A trigger has suppressed the update.',
            HINT = 'Disable the trigger until the swap, and run mint.convert_plan() again.';
      END IF;
      COMMIT;
      page := page OPERATOR(pg_catalog.+) 10::pg_catalog.int8;
      IF page OPERATOR(pg_catalog.>) shown THEN
        shown := page OPERATOR(pg_catalog.+) tenth;
        RAISE NOTICE '$shown$: % of % pages', pg_catalog.int8smaller(page, pages), pages;
      END IF;
    END LOOP;
    SET LOCAL ROLE $owner$;
    LOCK TABLE $table$ IN ROW EXCLUSIVE MODE;
    $refuse_replaced$;
    EXIT WHEN NOT EXISTS (SELECT FROM $table$ AS t WHERE NOT ($equal$));
    COMMIT;
    PERFORM pg_catalog.pg_sleep(0.5);
  END LOOP;
END
$block$
