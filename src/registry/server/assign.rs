//! Nodes that are assigned to a holder for good, which nobody else is ever granted.
//!
//! An assigned node is a lease that is never free again. The first server of the holder's name that leases it makes it
//! its own, by keys that the two agree on: see [`assigned_rules`](mint_core::registry::assigned_rules). So the server may
//! mint under it while the registry is away, for as long as it has ever told the registry: nobody else gets the node for
//! that time, even when it is taken away.

use crate::pg::catalog::spi::Row;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::interval;
use crate::pg::error;
use crate::pg::error::report;
use crate::pg::machine::clock;
use crate::registry::identity::bits;
use crate::registry::protocol::{Assignee, LeaseAnswer};
use crate::registry::server::admin::{admit, reserve_as};
use crate::registry::server::answer::{
    GrantedLease, Requester, answer, describe_denial, printable,
};
use crate::registry::server::free;
use crate::registry::server::grant::random_id;
use crate::registry::server::leases::term_of;
use crate::registry::server::nodes::NodeRange;
use crate::registry::server::place::Caller;
use crate::registry::server::tables::{OpenTables, at, text, with_tables};
use mint_core::clock::timestamp_text;
use mint_core::registry::assigned_rules::{AgreedKey, Standing, Stranger, Tenancy, Tenant};
use mint_core::registry::lease_rules::QUARANTINE;
use mint_core::{Denial, LeaseTerm, Micros};
use pgrx::PgSqlErrorCode as Code;
use pgrx::datum::TimestampWithTimeZone;

/// A node that is assigned, as the tables have it.
struct AssignedRow {
    id: i64,
    nodes: NodeRange,
    term: LeaseTerm,
    tenancy: Tenancy,
    /// Where the server is that uses it.
    place: String,
    /// The role as which that server connects.
    login: Option<String>,
    /// For how long at most that server has ever said that it uses the node without the registry; none is without a limit.
    max_outage: Option<Micros>,
    /// Whether the registry itself wrote the row.
    is_intact: bool,
}

impl AssignedRow {
    /// Returns where its server is, in a message.
    fn at(&self) -> String {
        match self.place.as_str() {
            "" => String::new(),
            place => format!(" at {place}"),
        }
    }
}

/// Assigns a node of a width to a holder: any free one, or this one if it is free. That can be done in a quarantine too, as
/// the holder gets no lease before its end. Returns the node; the one that the holder has, if any, which `moved` gives to
/// the next server of that name.
pub fn assign(width: i32, holder: &str, node: Option<NodeRange>, moved: bool) -> i64 {
    let holder = printable(holder);
    with_tables(Caller::Owner, |tables| {
        tables.load_and_check_state(true, None);
        if let Some(assigned) = find(tables, width, &holder, true) {
            if node.is_some_and(|node| node.range != assigned.nodes.range) {
                let nodes = assigned.nodes.describe();
                let message = format!("{nodes} is assigned to \"{holder}\"");
                report(Code::ERRCODE_OBJECT_IN_USE, message)
                    .hint("Use mint.registry_unassign() first.")
                    .raise();
            }
            if moved {
                vacate(tables, &assigned);
            }
            return *assigned.nodes.range.start();
        }
        let nodes = reserve_as(
            tables,
            true,
            &holder,
            |tables, state, member, now| match node {
                Some(node) => Ok(node),
                None => admit(state, now).and_then(|()| free::find_any(tables, width, member, now)),
            },
        );
        *nodes.range.start()
    })
}

/// Makes the node that of the next server of its holder's name. The instance stays, which is not to be that server. The
/// caller has locked the state.
fn vacate(tables: &mut OpenTables<'_, '_>, assigned: &AssignedRow) {
    let update = "UPDATE mint_registry.leases
         SET id = $2, place = NULL, origin = NULL, key_counter = NULL, key_number = NULL, copy_place = NULL, copy_seen = NULL,
             written = $transaction
         WHERE id = $1";
    let id = random_id();
    tables.update(update, &[assigned.id.into(), id.into()]);
    tables.save_changes(assigned.id ^ id, Micros::MIN);
}

/// Takes a node away from its holder: a reservation is left for as long as the server can use the node from now on, as the
/// registry can have forgotten its last lease. Returns when others can get it.
pub fn unassign(width: i32, holder: &str) -> Option<TimestampWithTimeZone> {
    let holder = printable(holder);
    with_tables(Caller::Owner, |tables| {
        let (_, now) = tables.load_and_check_state(true, None);
        let Some(assigned) = find(tables, width, &holder, true) else {
            report(Code::ERRCODE_UNDEFINED_OBJECT, missing(width, &holder)).raise();
        };
        let outage = match assigned.tenancy {
            Tenancy::Vacant => Some(0),
            Tenancy::Moved(_) | Tenancy::Taken(_) => assigned.max_outage,
        };
        let end = outage.map_or(Micros::MAX, |outage| {
            assigned.term.until.max(now.saturating_add(outage))
        });
        let update = "UPDATE mint_registry.leases
             SET id = $2, assigned = false, place = NULL, origin = NULL, instance = NULL, key_counter = NULL, key_number = NULL,
                 copy_place = NULL, copy_seen = NULL, max_outage = NULL, login = NULL,
                 system_identifier = NULL, address = NULL, written = $transaction, lease_until = $3, free_from = $4
             WHERE id = $1
             RETURNING free_from";
        let id = random_id();
        let free_from = at(end.saturating_add(QUARANTINE));
        let values = [assigned.id.into(), id.into(), at(end), free_from];
        let free_from = tables.one(update, &values, |row| row.need(1));
        tables.save_changes(assigned.id ^ id, Micros::MIN);
        Some(free_from)
    })
}

/// Leases the node that is assigned to a member, or renews its lease. `told`: the lease that the member holds in memory.
pub fn lease(
    width: i32,
    assignee: &Assignee,
    told: Option<LeaseTerm>,
    member: &Requester,
) -> LeaseAnswer {
    let assignee = Assignee {
        place: printable(&assignee.place),
        ..assignee.clone()
    };
    let proof = &assignee.proof;
    with_tables(Caller::Member, |tables| {
        let (mut state, mut now) = tables.load_and_check_state(false, Some(member));
        // A renewal locks its own row only. The number of a new lease, and a copy that is noted, are one at a time: under the
        // lock of the state, which comes before that of the row. A server that tells of no lease has released the last one,
        // and that message can still be on its way.
        let is_renewal = told.is_some()
            && find(tables, width, &member.name, false).is_some_and(|own| {
                own.is_intact && proof.check(&own.tenancy) == Ok(Standing::Running)
            });
        if !is_renewal {
            (state, now) = tables.load_and_check_state(true, Some(member));
        }
        let registry = &state.registry;
        let agrees = registry.check_clock(now, member.clock).is_ok();
        let refuse = |why: String| answer(registry, agrees, Err(why));
        let Some(own) = find(tables, width, &member.name, true) else {
            return LeaseAnswer {
                is_unassigned: true,
                ..refuse(missing(width, &member.name))
            };
        };
        let standing = match standing(tables, &own, member, &assignee) {
            Ok(standing) => standing,
            Err(why) => {
                return LeaseAnswer {
                    is_stranger: true,
                    ..refuse(why)
                };
            }
        };
        if is_renewal && standing != Standing::Running {
            return refuse("registry of nodes is busy".to_owned());
        }
        let is_evicted = matches!(own.tenancy, Tenancy::Taken(Tenant { instance: None, .. }));
        let span = registry.check_clock(now, member.clock);
        let span =
            span.and_then(|()| registry.lease_assigned(now, standing, is_evicted, own.term, told));
        match span {
            Ok(span) => {
                let lease = GrantedLease {
                    id: if is_renewal { own.id } else { random_id() },
                    nodes: own.nodes.clone(),
                    span,
                    free_from: Micros::MAX,
                };
                write(tables, &lease, &own, &assignee, member);
                answer(registry, agrees, Ok(lease))
            }
            Err(Denial::Leased { until }) => refuse(format!(
                "{} is leased by \"{}\"{} until {}",
                own.nodes.describe(),
                member.name,
                own.at(),
                timestamp_text(until)
            )),
            Err(denial) => refuse(describe_denial(registry, denial)),
        }
    })
}

/// Returns what is known of a member that wants an assigned node. The caller has locked the state, unless it is the running
/// server.
///
/// # Errors
/// Why the node is not its own.
fn standing(
    tables: &mut OpenTables<'_, '_>,
    own: &AssignedRow,
    member: &Requester,
    assignee: &Assignee,
) -> Result<Standing, String> {
    // Others can have seen its keys, in a backup or in what the registry shows of its sessions.
    if let (Tenancy::Taken(_), Some(login)) = (own.tenancy, &own.login)
        && member.login.as_ref() != Some(login)
    {
        return Err(format!(
            "{} of \"{}\" is leased by role \"{login}\"; this server is at {}, and connects as another role",
            own.nodes.describe(),
            member.name,
            assignee.place
        ));
    }
    let standing = assignee.proof.check(&own.tenancy);
    standing.map_err(|stranger| turn_away(tables, stranger, own, member, assignee))
}

/// Returns why a node is not that of a member at this place. The caller has locked the state.
fn turn_away(
    tables: &mut OpenTables<'_, '_>,
    stranger: Stranger,
    own: &AssignedRow,
    member: &Requester,
    assignee: &Assignee,
) -> String {
    let (nodes, name) = (own.nodes.describe(), &member.name);
    let place = &*assignee.place;
    // Its own request can arrive once more, and late.
    let instance = Some(assignee.proof.instance);
    let is_own = matches!(own.tenancy, Tenancy::Taken(tenant) if tenant.instance == instance);
    match stranger {
        Stranger::Copy => {
            if !is_own {
                note_copy(tables, own, member, place);
            }
            format!(
                "another server has used this key: one of the two is a copy; {nodes} is used{}, this server is at {place}",
                own.at()
            )
        }
        Stranger::Other if own.place == place => format!(
            "{nodes} is assigned to another server of the name \"{name}\"{}, or this server has lost its keys",
            own.at()
        ),
        Stranger::Other => format!(
            "{nodes} is assigned to another server of the name \"{name}\"{}; this server is at {place}, and does not have its keys",
            own.at()
        ),
        Stranger::Replaced => {
            format!("{nodes} was given to another server of the name \"{name}\"")
        }
    }
}

/// Writes down that a copy of the server has asked for its node.
fn note_copy(tables: &mut OpenTables<'_, '_>, own: &AssignedRow, member: &Requester, place: &str) {
    const MINUTE: Micros = 60_000_000;
    let update = "UPDATE mint_registry.leases
         SET copy_place = $2, copy_seen = statement_timestamp(), written = $transaction
         WHERE id = $1 AND (copy_seen IS NULL OR copy_place <> $2 OR copy_seen < $3)
         RETURNING 1";
    let values = [own.id.into(), text(place), at(clock::now() - MINUTE)];
    if tables.update(update, &values) {
        error::log(format!(
            "{} of \"{}\" was requested by a copy of its server: it is used{}, the copy is at {place}",
            own.nodes.describe(),
            member.name,
            own.at()
        ));
    }
}

/// Finds the node that is assigned to a holder, and locks its row if it is to be changed.
fn find(
    tables: &mut OpenTables<'_, '_>,
    width: i32,
    holder: &str,
    lock: bool,
) -> Option<AssignedRow> {
    let select = "SELECT lease_from, lease_until, id, first_node, place,
             (extract(epoch FROM max_outage) * 1000000)::int8,
             xmin = written, origin, instance, key_counter, key_number, login
         FROM mint_registry.leases
         WHERE assigned AND node_bits = $1 AND holder = $2";
    let lock = if lock { " FOR UPDATE" } else { "" };
    let select = format!("{select}{lock}");
    tables
        .rows(&select, &[width.into(), text(holder)], |row| {
            read(row, width)
        })
        .pop()
}

/// Returns the node of a row of [`find`].
fn read(row: &Row<'_>, width: i32) -> AssignedRow {
    let number = |column| row.get::<i64>(column);
    let node: i64 = row.need(4);
    let (key, instance) = (number(10).zip(number(11)), number(9));
    let tenancy = match (number(8).zip(key), instance) {
        (Some((origin, (counter, number))), instance) => Tenancy::Taken(Tenant {
            origin,
            key: AgreedKey { counter, number },
            instance,
        }),
        (None, Some(instance)) => Tenancy::Moved(instance),
        (None, None) => Tenancy::Vacant,
    };
    AssignedRow {
        id: row.need(3),
        nodes: NodeRange {
            range: node..=node,
            ..NodeRange::of_width(width)
        },
        term: term_of(row),
        tenancy,
        // None before the first lease.
        place: row
            .get(5)
            .map_or_else(String::new, |DecodedText(place)| place),
        max_outage: number(6),
        is_intact: row.need(7),
        login: row.get(12).map(|DecodedText(login)| login),
    }
}

/// Writes a lease of an assigned node, the key that was agreed on, and what is known of the server.
fn write(
    tables: &mut OpenTables<'_, '_>,
    lease: &GrantedLease,
    own: &AssignedRow,
    assignee: &Assignee,
    member: &Requester,
) {
    let update = "UPDATE mint_registry.leases
         SET id = $2, lease_from = $3, lease_until = $4, place = $5, max_outage = $6, login = $7, system_identifier = $8,
             address = inet_client_addr(), listed = $9::int8multirange,
             renewals = CASE WHEN id = $2 THEN renewals + 1 ELSE 0 END,
             origin = $10, instance = $11, key_counter = $12, key_number = $13, written = $transaction
         WHERE id = $1";
    // A shorter limit counts for the server, which has promised nothing of its copies.
    let max_outage = match own.tenancy {
        Tenancy::Taken(_) => {
            let limits = own.max_outage.zip(assignee.max_outage);
            limits.map(|(before, now)| before.max(now))
        }
        Tenancy::Vacant | Tenancy::Moved(_) => assignee.max_outage,
    };
    let kept = match own.tenancy {
        Tenancy::Taken(tenant) => Some(tenant.key),
        Tenancy::Vacant | Tenancy::Moved(_) => None,
    };
    let proof = &assignee.proof;
    let key = proof.next.or(kept).or_else(|| proof.keys.last().copied());
    let AgreedKey { counter, number } = key.unwrap_or_default();
    let values = [
        own.id.into(),
        lease.id.into(),
        at(lease.span.from),
        at(lease.span.until),
        text(&assignee.place),
        max_outage.map(interval).into(),
        member.login.clone().map(DecodedText).into(),
        member.system.into(),
        text(&member.listed),
        proof.origin.into(),
        proof.instance.into(),
        counter.into(),
        number.into(),
    ];
    tables.update(update, &values);
    if own.id != lease.id {
        tables.save_changes(own.id ^ lease.id, Micros::MIN);
    }
}

fn missing(width: i32, holder: &str) -> String {
    format!(
        "no node ({}) is assigned to \"{holder}\"",
        bits(width.unsigned_abs())
    )
}
