-- A table of ids, and the bounds of plans.
SET timezone = 'UTC';
-- A scan of a whole table is what is left without an index; it is not shown as disabled.
SET seq_page_cost = 1000;
SET enable_bitmapscan = off;

-- The bounds in a plan. Versions write subplans differently.
CREATE FUNCTION bounds(query text) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE line text;
BEGIN
    FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP
        IF line ~ 'Index Cond|Seq Scan' THEN
            RETURN NEXT regexp_replace(regexp_replace(replace(trim(line), '(id IS NOT NULL) AND ', ''), '\((\(.*\)) AND \(id IS NOT NULL\)\)', '\1'), '\(InitPlan[^)]*\)[.]col1|[$]\d', '(InitPlan)');
        END IF;
    END LOOP;
END $$;

CREATE TABLE events (id bigint PRIMARY KEY, n int);
INSERT INTO events SELECT snowflake_encode(timestamptz '2026-01-01' + n * interval '1 minute', 5, 0), n
FROM generate_series(0, 10000) n;
VACUUM ANALYZE events;
