//! The leases in the registry's tables: found, written and renewed.

use crate::pg::catalog::spi::Row;
use crate::pg::datum::text::DecodedText;
use crate::registry::server::answer::{GrantedLease, Requester};
use crate::registry::server::nodes::{Holder, NodeRange};
use crate::registry::server::tables::{OpenTables, arguments, at, text, time};
use mint_core::{LeaseEnd, LeaseTerm, Micros};

/// Returns a lease's times from a row that has them in its first two columns.
pub fn term_of(row: &Row<'_>) -> LeaseTerm {
    LeaseTerm {
        from: time(row, 1),
        until: time(row, 2),
    }
}

/// Returns whose nodes a row of leases has, of these nodes.
fn holder_of(row: &Row<'_>, wanted: &NodeRange) -> Holder {
    let (first, last): (i64, i64) = (row.need(1), row.need(2));
    Holder {
        name: row.need::<DecodedText>(3).0,
        nodes: NodeRange {
            range: first.max(*wanted.range.start())..=last.min(*wanted.range.end()),
            ..wanted.clone()
        },
        end: LeaseEnd {
            until: time(row, 4),
            free_from: time(row, 5),
        },
        is_reserved: row.need(6),
        is_assigned: row.need(7),
    }
}

impl OpenTables<'_, '_> {
    /// Returns the other leases and reservations of any of these nodes whose nodes are not free.
    pub fn holders(&mut self, nodes: &NodeRange, id: i64, now: Micros) -> Vec<Holder> {
        // An assigned node is never free, however long its server was away.
        let select = "SELECT first_node, last_node, holder,
                 CASE WHEN assigned THEN 'infinity'::timestamptz ELSE lease_until END,
                 free_from, NOT isfinite(free_from), assigned
             FROM mint_registry.leases
             WHERE $overlaps AND (assigned OR id <> $4)
                 AND free_from > $5
             ORDER BY first_node";
        let values = arguments(nodes, [id.into(), at(now)]);
        self.rows(select, &values, |row| holder_of(row, nodes))
    }

    /// Writes a new lease, in place of those of its nodes that have ended. The caller has locked the state.
    pub fn replace(&mut self, lease: &GrantedLease, member: &Requester, now: Micros) {
        let delete = "DELETE FROM mint_registry.leases
             WHERE $overlaps AND lease_until <= $4 AND NOT assigned
             RETURNING id, lease_until";
        let values = arguments(&lease.nodes, [at(now)]);
        let (mut numbers, mut end) = (lease.id, Micros::MIN);
        self.rows(delete, &values, |row| {
            numbers ^= row.need::<i64>(1);
            end = end.max(time(row, 2));
        });
        self.insert(lease, member);
        self.save_changes(numbers, end);
    }

    /// Inserts a lease that is granted to a member, or a reservation.
    fn insert(&mut self, lease: &GrantedLease, member: &Requester) {
        let insert = "INSERT INTO mint_registry.leases (node_bits, first_node, last_node, id, holder, login, system_identifier,
                 address, since, lease_from, lease_until, free_from, listed, written)
             VALUES ($1, $2, $3, $4, $5, $6, $7, inet_client_addr(), $8, $8, $9, $10,
                 $11::int8multirange, $transaction)";
        let further = [
            lease.id.into(),
            text(&member.name),
            member.login.clone().map(DecodedText).into(),
            member.system.into(),
            at(lease.span.from),
            at(lease.span.until),
            at(lease.free_from),
            text(&member.listed),
        ];
        self.update(insert, &arguments(&lease.nodes, further));
    }

    /// Returns the times of a lease, and locks it; none if there is no such lease, or somebody else has changed it.
    pub fn find_and_lock(&mut self, id: i64, nodes: &NodeRange) -> Option<LeaseTerm> {
        let select = "SELECT lease_from, lease_until FROM mint_registry.leases
             WHERE node_bits = $1 AND first_node = $2 AND last_node = $3 AND id = $4
                 AND xmin = written AND NOT assigned
             FOR UPDATE";
        self.rows(select, &arguments(nodes, [id.into()]), term_of)
            .pop()
    }

    /// Writes the times of a lease that is renewed.
    pub fn extend(&mut self, lease: &GrantedLease, member: &Requester) {
        let update = "UPDATE mint_registry.leases
             SET lease_from = $2, lease_until = $3, free_from = $4, listed = $5::int8multirange,
                 renewals = renewals + 1, written = $transaction
             WHERE id = $1";
        let LeaseTerm { from, until } = lease.span;
        let [from, until, free_from] = [from, until, lease.free_from].map(at);
        let listed = text(&member.listed);
        self.update(update, &[lease.id.into(), from, until, free_from, listed]);
    }
}
