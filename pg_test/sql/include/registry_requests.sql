-- Requests as members make them.
CREATE FUNCTION ask(id bigint, width int, first bigint, last bigint,
    off interval DEFAULT '0', holder text DEFAULT 'here', seen jsonb DEFAULT NULL, listed jsonb DEFAULT NULL)
    RETURNS TABLE (got bigint, node bigint, upto bigint, seconds numeric, why text)
BEGIN ATOMIC
    WITH clock AS (SELECT (extract(epoch FROM clock_timestamp() + off) * 1000000)::bigint AS now),
    answer AS (
        SELECT now, mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'lease', 'node_bits', width, 'nodes', CASE WHEN first IS NOT NULL THEN jsonb_build_array(first, last) END,
            'lease', CASE WHEN id IS NOT NULL THEN jsonb_build_object('id', id, 'from', now - 1000000, 'until', now + 1000000) END,
            'holder', holder, 'system', 1, 'clock', now, 'seen', seen, 'listed', listed, 'later', true)) AS a
        FROM clock
    )
    SELECT (a -> 'lease' ->> 'id')::bigint, (a -> 'nodes' ->> 0)::bigint, (a -> 'nodes' ->> 1)::bigint, round(((a -> 'lease' ->> 'until')::bigint - now)::numeric / 1000000),
           regexp_replace(regexp_replace(a ->> 'denial', '\d{4}-\d\d-\d\dT[0-9:.]*Z', 'MOMENT', 'g'), '\d+\.\d s', 'SOME s')
    FROM answer;
END;
CREATE FUNCTION release(id bigint) RETURNS jsonb
    RETURN mint.registry_request(jsonb_build_object('protocol', 1, 'request', 'release', 'id', id, 'until', 0));
