-- One of the locks of retried.sql: what is left of half a second.

      PERFORM pg_catalog.set_config('lock_timeout', pg_catalog.int4larger(1, 500 OPERATOR(pg_catalog.-) (1000 OPERATOR(pg_catalog.*) pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) began))::pg_catalog.int4)::pg_catalog.text, true);
      $lock$;
