-- What fix_settings.sql does before its error, in a transaction that ends before.

    PERFORM pg_catalog.set_config('mint_script.settings', (pg_catalog.current_setting('mint_script.settings'::pg_catalog.text)::pg_catalog.jsonb OPERATOR(pg_catalog.||) pg_catalog.jsonb_build_object('default_transaction_read_only', pg_catalog.current_setting('default_transaction_read_only'::pg_catalog.text)))::pg_catalog.text, false);
    PERFORM pg_catalog.set_config('default_transaction_read_only', 'on', false);
    COMMIT;
