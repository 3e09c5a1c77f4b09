//! A registry with as many leases as a large fleet has, and requests for them by SQL.

use crate::registry::members::Registry;

/// Width of the nodes that are leased: there are more of them than leases.
pub const WIDTH: u32 = 16;

/// Writes leases as the registry does, from the top down, of nobody who renews them.
pub fn fill(registry: &Registry, leases: i64) {
    registry.connect().run(&format!(
        "BEGIN;
         INSERT INTO mint_registry.leases (id, node_bits, first_node, last_node, holder, login, system_identifier,
             since, lease_from, lease_until, free_from, written)
         SELECT hashint8extended(g, 1) & 9223372036854775807, {WIDTH}, 65535 - g, 65535 - g, 'member ' || g, 'member', g,
             now(), now(), now() + '60 s', now() + '70 s', pg_current_xact_id()::xid
         FROM generate_series(0, {leases} - 1) AS g;
         UPDATE mint_registry.registry
         SET digest = (SELECT bit_xor(id) FROM mint_registry.leases), written = pg_current_xact_id()::xid;
         COMMIT;
         ANALYZE mint_registry.leases"
    ));
}

/// Makes the functions of a member: `grant_any()`, a request for any node, and `renew(number)`, the renewal of the lease
/// of a member that [`fill`] has made.
pub fn create_requests(registry: &Registry) {
    const REQUEST: &str = "'protocol', 1, 'request', 'lease', 'listed', '[]'::jsonb, 'holder', 'x', 'system', 1, 'seen', NULL,
        'clock', micros(clock_timestamp())";
    registry.connect().run(&format!(
        "CREATE FUNCTION micros(timestamptz) RETURNS bigint LANGUAGE sql IMMUTABLE
             AS 'SELECT (extract(epoch FROM $1) * 1000000)::bigint';
         CREATE FUNCTION grant_any() RETURNS jsonb LANGUAGE sql VOLATILE AS $$
             SELECT mint.registry_request(jsonb_build_object({REQUEST}, 'node_bits', {WIDTH}, 'nodes', NULL, 'lease', NULL))
         $$;
         CREATE TABLE known AS SELECT system_identifier AS number, id, first_node AS node FROM mint_registry.leases;
         CREATE UNIQUE INDEX ON known (number);
         GRANT SELECT ON known TO member;
         CREATE FUNCTION renew(bigint) RETURNS jsonb LANGUAGE sql VOLATILE AS $$
             SELECT mint.registry_request(jsonb_build_object({REQUEST}, 'node_bits', {WIDTH}, 'nodes', jsonb_build_array(node, node),
                 'lease', jsonb_build_object('id', id, 'from', micros(now()), 'until', micros(now() + '20 s'))))
             FROM known WHERE number = $1
         $$"
    ));
}
