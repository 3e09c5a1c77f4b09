-- Nodes that stay with one holder.
CREATE EXTENSION pg_mint;
\i sql/include/registry_requests.sql
SELECT mint.registry_create();
SELECT mint.registry_end_quarantine();
-- Nodes that stay: one for each holder and width, leased by the holder at one place only, by its key.
SELECT mint.registry_assign(9, 'ada'), mint.registry_assign(9, 'ben'), mint.registry_assign(9, 'ada') AS again, mint.registry_assign(8, 'ada') AS of_another_width;
SELECT mint.registry_assign(9, 'eve', 7), mint.registry_assign(9, 'eve', 7) AS again;
SELECT mint.registry_assign(9, 'eve', 8);
SELECT mint.registry_assign(9, 'zoe', 7);
SELECT mint.registry_assign(9, 'zoe', 512);
SELECT mint.registry_assign(32, 'ada');
SELECT mint.registry_assign(9, '');
SELECT mint.registry_assign(9, NULL);
SELECT mint.registry_assign(NULL, 'ada');
CREATE FUNCTION lease(holder text, assignee jsonb, term jsonb DEFAULT NULL) RETURNS jsonb
BEGIN ATOMIC
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS now)
    SELECT mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', 9, 'lease', term,
        'holder', holder, 'system', 1, 'clock', now, 'assignee', assignee)) FROM clock;
END;
-- A server shows the keys on its disk, the next one to agree on, and what it has in memory only. Numbers of keys are their counters here.
CREATE FUNCTION own(keys int[], next int, instance int, max_outage bigint DEFAULT NULL, place text DEFAULT 'here', origin int DEFAULT 1) RETURNS jsonb
RETURN (SELECT jsonb_build_object('place', place, 'origin', origin, 'instance', instance, 'max_outage', max_outage,
    'keys', (SELECT jsonb_agg(jsonb_build_array(k, k * 100)) FROM unnest(keys) k), 'next', jsonb_build_array(next, next * 100)));
SELECT lease('zoe', own('{1}', 1, 9)) - '{seen,length}'::text[];
SELECT lease('ada', own('{1}', 1, 9, 3600000000)) AS first \gset
SELECT :'first'::jsonb -> 'nodes' AS nodes, max_outage, assigned, place FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
-- Another server of that name. A server that was started again, or a copy, waits for the end of the lease, wherever it is.
SELECT lease('ada', own('{1}', 2, 9, origin => 2, place => 'there')) - '{seen,length}'::text[];
SELECT regexp_replace(lease('ada', own('{1}', 2, 8)) ->> 'denial', 'until .*', 'until SOON') AS denial;
SELECT regexp_replace(lease('ada', own('{1}', 2, 8, place => 'there'), :'first'::jsonb -> 'lease') ->> 'denial', 'until .*', 'until SOON') AS denial;
-- What the server has once said of its outages counts. A lost answer is survived: the registry has the second key.
SELECT lease('ada', own('{1,2}', 2, 9, 1), :'first'::jsonb -> 'lease') -> 'lease' -> 'id' = :'first'::jsonb -> 'lease' -> 'id' AS renewed;
SELECT lease('ada', own('{1,2}', 2, 9, 1)) -> 'denial' AS again;
SELECT max_outage, renewals FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
SELECT lease('ada', own('{1,2,3}', 3, 9), :'first'::jsonb -> 'lease') -> 'denial' AS denial;
SELECT max_outage IS NULL AS without_a_limit, held, copy_place FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
-- A copy has keys of the past, also one with the memory of the server. So has a server whose copy was first.
SELECT lease('ada', own('{1,2}', 4, 8, place => 'there')) - '{seen,length}'::text[];
SELECT lease('ada', own('{1,2}', 4, 7, place => E'th\nere'), :'first'::jsonb -> 'lease') -> 'denial' AS denial;
SELECT place, copy_place, copy_seen > now() - interval '1 min' AS just_now FROM mint_registry.nodes WHERE node_bits = 9 AND holder = 'ada';
-- A registry that has lost its last keys, and one that has lost more than the server keeps.
SELECT lease('ada', own('{3,4,5}', 6, 9)) -> 'denial' AS denial;
SELECT lease('ada', own('{30,31}', 32, 9)) -> 'denial' AS denial;
SELECT lease('ada', own('{32}', 33, 9)) -> 'denial' AS denial;
-- A server that could not write the next key keeps the last one.
SELECT lease('ada', own('{33}', NULL, 9) || '{"next": null}') -> 'denial' AS denial, lease('ada', own('{33}', 34, 9)) -> 'denial' AS again;
-- Given to the next server of that name, at the end of the lease; not to the one that has it.
SELECT mint.registry_assign(9, 'ada', moved => true), mint.registry_assign(9, 'ada', moved => NULL);
SELECT mint.registry_assign(9, 'ada', moved => true);
SELECT lease('ada', own('{34}', 35, 9)) -> 'denial' AS denial;
SELECT regexp_replace(lease('ada', own('{7}', 7, 7, origin => 7)) ->> 'denial', 'until .*', 'until SOON') AS denial;
SELECT release(id) FROM mint_registry.leases WHERE assigned AND node_bits = 9 AND holder = 'ada';
SELECT lease('ada', own('{7}', 7, 7, origin => 7)) AS first \gset
SELECT lease('ada', own('{34}', 35, 9)) -> 'denial' AS denial;
SELECT lease('ada', '{"origin": 5}');
SELECT lease('ada', '{"place": "here"}');
SELECT lease('ada', '"here"');
SELECT lease('ada', own('{1}', 1, 9) || '{"max_outage": "1 d"}');
SELECT lease('ada', own('{1}', 1, 9, -1));
SELECT lease('ada', own('{1}', 1, 9, 9223372036854775807));
SELECT lease('ada', own(array_fill(1, '{17}'), 1, 9));
SELECT lease('ada', own('{1}', 1, 9) || '{"next": [1]}');
-- It is renewed by its assignee only.
SELECT node, why FROM ask((:'first'::jsonb -> 'lease' ->> 'id')::bigint, 9, 511, 511);
SELECT release((:'first'::jsonb -> 'lease' ->> 'id')::bigint);
SELECT node, why FROM ask(NULL, 9, 511, 511);
-- Taken away: reserved for as long as the server may use it, here without a limit; or until somebody knows better.
SELECT mint.registry_unassign(9, 'ada'), round(extract(epoch FROM mint.registry_unassign(9, 'ben') - now()) / 10) * 10 AS soon;
SELECT mint.registry_unassign(9, 'ada');
SELECT mint.registry_unassign(32, 'ada');
SELECT lease('eve', own('{1}', 1, 9, 3600000000)) -> 'denial' AS denial;
SELECT round(extract(epoch FROM mint.registry_unassign(9, 'eve') - now()) / 100) * 100 AS later;
SELECT first_node, holder, assigned, place, held, isfinite(lease_until) AS ends FROM mint_registry.nodes WHERE node_bits = 9 ORDER BY 1;
SELECT mint.registry_assign(9, 'ada') AS another;
SELECT mint.registry_unreserve(9, 511, 511), mint.registry_unreserve(9, 7, 7), mint.registry_unassign(9, 'ada') > now(), mint.registry_unassign(8, 'ada') > now();
-- In a quarantine only by number.
SELECT mint.registry_begin_quarantine();
\set VERBOSITY terse
SELECT mint.registry_assign(9, 'ada', 99);
SELECT regexp_replace(lease('ada', own('{1}', 1, 9)) ->> 'denial', '\d+\.\d s', 'SOME s') AS denial;
SELECT mint.registry_unassign(9, 'ada') > now();
DO $$ BEGIN PERFORM mint.registry_assign(9, 'ada'); EXCEPTION WHEN object_in_use THEN RAISE INFO '%', regexp_replace(SQLERRM, '\d+\.\d s', 'SOME s'); END $$;
\set VERBOSITY default
SELECT mint.registry_end_quarantine();
\set VERBOSITY terse
DROP SCHEMA mint_registry CASCADE;
DROP EXTENSION pg_mint CASCADE;
