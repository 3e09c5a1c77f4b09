//! The nodes that a member can be granted: which are free, and how many its login can still hold.

use crate::registry::identity;
use crate::registry::server::answer::{Limits, Requester};
use crate::registry::server::nodes::NodeRange;
use crate::registry::server::tables::{OpenTables, arguments, at, text};
use mint_core::Micros;

/// Finds the highest node of a width that is free, one that no member lists if there is any. People number nodes from
/// below.
pub fn find_any(
    tables: &mut OpenTables<'_, '_>,
    width: i32,
    member: &Requester,
    now: Micros,
) -> Result<NodeRange, String> {
    let all = NodeRange::of_width(width);
    let count = all.range.end() + 1;
    let listed = "UNION ALL
             SELECT unnest(listed) FROM (
                 SELECT DISTINCT listed FROM mint_registry.leases
                 WHERE NOT isempty(listed) AND free_from > $3
             ) AS others";
    let mut highest = |taken: &str| {
        let select = format!(
            "SELECT upper(int8multirange(int8range(0, $2)) - range_agg(nodes)) - 1
             FROM (
                 SELECT int8range(first_node, last_node, '[]') AS nodes
                 FROM mint_registry.leases
                 WHERE node_bits = $1 AND free_from > $3
                 UNION ALL
                 SELECT unnest($4::int8multirange)
                 UNION ALL SELECT 'empty'::int8range
                 {taken}
             ) AS taken"
        );
        let values = [width.into(), count.into(), at(now), text(&member.listed)];
        tables.one(&select, &values, |row| row.get::<i64>(1))
    };
    // What others list is their wish, not their lease: it does not use up the nodes.
    match highest(listed).or_else(|| highest("")) {
        Some(node) => Ok(NodeRange {
            range: node..=node,
            ..all
        }),
        None => Err(format!(
            "all {count} nodes ({}) are in use, or listed by this server",
            identity::bits(width.unsigned_abs())
        )),
    }
}

/// Finds the first of these nodes that are free, up to the next one that is not.
pub fn find_among(
    tables: &mut OpenTables<'_, '_>,
    wanted: &NodeRange,
    now: Micros,
) -> Option<NodeRange> {
    let select = "SELECT lower(nodes), upper(nodes) - 1
         FROM (
             SELECT unnest(int8multirange(int8range($2, $3, '[]')) - range_agg(taken)) AS nodes
             FROM (
                 SELECT int8range(first_node, last_node, '[]') AS taken
                 FROM mint_registry.leases
                 WHERE $overlaps AND free_from > $4
                 UNION ALL SELECT 'empty'::int8range
             ) AS leased
         ) AS free
         ORDER BY nodes LIMIT 1";
    let values = arguments(wanted, [at(now)]);
    let free = tables.rows(select, &values, |row| NodeRange {
        range: row.need(1)..=row.need(2),
        ..wanted.clone()
    });
    free.into_iter().next()
}

/// Checks that a member's login can hold these nodes as well.
pub fn check_limits(
    tables: &mut OpenTables<'_, '_>,
    limits: Limits,
    member: &Requester,
    nodes: &NodeRange,
    now: Micros,
) -> Result<(), String> {
    let Some(login) = &member.login else {
        return Ok(());
    };
    let select = "SELECT count(id), coalesce(sum(last_node - first_node + 1), 0)::int8
         FROM mint_registry.leases
         WHERE login = $1 AND lease_until > $2";
    let values = [text(login), at(now)];
    let (leases, held): (i64, i64) = tables.one(select, &values, |row| (row.need(1), row.need(2)));
    let more = nodes.range.end() - nodes.range.start() + 1;
    if leases >= limits.leases {
        return Err(format!(
            "role \"{login}\" has {leases} leases (maximum {})",
            limits.leases
        ));
    }
    if more > limits.nodes.saturating_sub(held) {
        return Err(format!(
            "role \"{login}\" has leases of {held} nodes and requests {more} more (maximum {})",
            limits.nodes
        ));
    }
    Ok(())
}
