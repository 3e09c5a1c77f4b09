-- Requests as members make them. Times are relative to now; the answer has no times and random numbers.
CREATE FUNCTION ask(width bigint, demand jsonb, off interval DEFAULT '0') RETURNS text LANGUAGE sql AS $$
    SELECT regexp_replace((mint.registry_request(jsonb_build_object('protocol', 1, 'holder', 'here', 'later', true, 'width', width,
        'clock', (extract(epoch FROM clock_timestamp() + off) * 1000000)::bigint, 'demand', demand)) -> 'answer')::text,
        '"(from|until|left|ahead)": -?\d+(, )?', '', 'g')
$$;
CREATE FUNCTION lease(node bigint, number bigint, since interval, until interval) RETURNS jsonb LANGUAGE sql AS $$
    SELECT jsonb_build_object('node', node, 'number', number, 'from', (extract(epoch FROM clock_timestamp() + since) * 1000000)::bigint,
        'until', (extract(epoch FROM clock_timestamp() + until) * 1000000)::bigint)
$$;
CREATE FUNCTION renew(width bigint, node bigint, number bigint, since interval DEFAULT '-5 s', until interval DEFAULT '20 s') RETURNS text LANGUAGE sql AS $$
    SELECT ask(width, jsonb_build_object('renewal', lease(node, number, since, until)))
$$;
