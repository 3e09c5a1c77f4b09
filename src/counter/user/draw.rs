//! Drawing numbers of users.

use crate::counter::exhausted::IN_RECOVERY;
use crate::counter::user::sections::SectionRef;
use crate::counter::user::{family, sections, users};
use crate::pg::backend::last_used::LastUsed;
use crate::pg::backend::local::Local;
use crate::pg::backend::lock::lock_until_commit;
use crate::pg::backend::recovery;
use crate::pg::catalog::{invalidation, privilege, sql};
use crate::pg::error::report;
use mint_core::Held;
use mint_core::counter::section::section_of;
use mint_core::counter::user_bucket::hash;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// What a session knows of a family.
struct UsedFamily {
    family: pg_sys::Oid,
    /// The role that was found to have the privilege to draw; none when that must be asked again.
    user: Local<pg_sys::Oid>,
    /// The role that was found to have the one to look.
    reader: Local<pg_sys::Oid>,
    /// The sequence of each section, and where it is, once that was needed.
    sections: Vec<(pg_sys::Oid, Local<Option<SectionRef>>)>,
}

static NONE: UsedFamily = UsedFamily {
    family: pg_sys::InvalidOid,
    user: Local::new(pg_sys::InvalidOid),
    reader: Local::new(pg_sys::InvalidOid),
    sections: Vec::new(),
};

/// Every family that the session has used.
static FAMILIES: LastUsed<UsedFamily> = LastUsed::new(&NONE);

/// The next `want` numbers of a user: the first of them.
#[inline]
pub fn next(family: pg_sys::Oid, id: i64, want: u64) -> i64 {
    let known = FAMILIES.recent();
    if let Some(table) = users::mapped()
        && known.family == family
        && known.user.get() == privilege::user()
        && let Some((_, place)) = known.sections.get(section_of(id, known.sections.len()))
        && let Some(place) = place.get()
        && let Ok(first) = table.draw(place.section(), place.owner, id, want, sections::evicted)
    {
        return first;
    }
    draw(family, id, want)
}

#[cold]
fn draw(family: pg_sys::Oid, id: i64, want: u64) -> i64 {
    let mut can_grow = true;
    loop {
        let (sequence, place) = place(family, id, pg_sys::ACL_INSERT);
        let (section, owner) = (place.section(), place.owner);
        let drawn = if can_grow {
            users::table().draw(section, owner, id, want, sections::evicted)
        } else {
            users::table().draw_or_evict(section, owner, id, want, sections::evicted)
        };
        match drawn {
            Ok(first) => return first,
            Err(Held::Beyond(beyond)) => sections::raise(sequence, beyond),
            Err(Held::NotMine) => forget(sequence),
            Err(Held::Crowded) => can_grow = users::grow(),
            Err(Held::Unmapped) => users::map_parts(),
            Err(Held::UsedUp) => report(
                Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                format!("user {id} has no {want} numbers left"),
            )
            .raise(),
        }
        pgrx::check_for_interrupts!();
    }
}

/// The number that a user got last, or may have got at most.
pub fn current(family: pg_sys::Oid, id: i64) -> i64 {
    let any_of = pg_sys::ACL_INSERT | pg_sys::ACL_SELECT;
    if recovery::is_under_way() {
        // Users are in the memory of the primary. What each of them is below came with the log.
        let (sequence, _) = section(family, id, any_of);
        return sections::beyond_all(*sequence);
    }
    loop {
        let (sequence, place) = place(family, id, any_of);
        match users::table().current(place.section(), place.owner, id) {
            Ok(number) => return number,
            Err(Held::Unmapped) => users::map_parts(),
            Err(_) => forget(sequence),
        }
    }
}

/// Waits for the transactions that drew for these users to end, and keeps others from drawing until this one
/// does. Only those that ask for the locks. Nothing is locked for a role that may not draw.
///
/// The family's oid is in the lock as it is, so users of two families never share one. Two of a family do with a
/// probability of 2^-32, which costs a wait; a role that looks for such a pair on purpose may lock either of them anyway.
/// So the hash needs no secret.
pub fn lock(family: pg_sys::Oid, ids: &[i64]) {
    recovery::refuse(&IN_RECOVERY);
    demand(family, pg_sys::ACL_INSERT);
    // In the order of locks, not of users: so two sessions that lock several of them cannot wait for each other.
    let mut keys: Vec<u32> = ids.iter().map(|&id| (hash(id) >> 32) as u32).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        lock_until_commit(family, key);
    }
}

/// Registers what is to be forgotten, and when. Called once, when the library is loaded.
pub fn init() {
    invalidation::on_relation(forget);
    invalidation::on_role(|| forget(pg_sys::InvalidOid));
}

/// Called when a relation or what privileges depend on has changed; without an oid, when any may have.
fn forget(relation: pg_sys::Oid) {
    FAMILIES.each(|known| {
        if relation == pg_sys::InvalidOid || known.family == relation {
            known.user.set(pg_sys::InvalidOid);
            known.reader.set(pg_sys::InvalidOid);
        }
        for (sequence, place) in &known.sections {
            if relation == pg_sys::InvalidOid || *sequence == relation {
                place.set(None);
            }
        }
    });
}

/// Raises an error unless this session's user has any of these privileges on the family.
fn demand(family: pg_sys::Oid, any_of: u32) {
    invalidation::begin();
    let may = FAMILIES.get(family.to_u32()).is_some_and(|known| {
        known.user.get() == privilege::user()
            || any_of != pg_sys::ACL_INSERT && known.reader.get() == privilege::user()
    });
    if !may {
        resolve(family, any_of);
    }
}

/// The sequence of a user's section, and where that is if it is known, if this session's user may.
fn section(
    family: pg_sys::Oid,
    id: i64,
    any_of: u32,
) -> &'static (pg_sys::Oid, Local<Option<SectionRef>>) {
    demand(family, any_of);
    let section = FAMILIES.get(family.to_u32()).and_then(|known| {
        FAMILIES.set_recent(known);
        known.sections.get(section_of(id, known.sections.len()))
    });
    section.unwrap_or_else(|| sql::missing(family))
}

/// The sequence of a user's section, and where that is, if this session's user may.
fn place(family: pg_sys::Oid, id: i64, any_of: u32) -> (pg_sys::Oid, SectionRef) {
    recovery::refuse(&IN_RECOVERY);
    let (sequence, known) = section(family, id, any_of);
    let place = known.get().unwrap_or_else(|| sections::find(*sequence));
    known.set(Some(place));
    (*sequence, place)
}

/// Finds the sequences of a family's sections, if the user has any of these privileges on it.
fn resolve(family: pg_sys::Oid, any_of: u32) {
    let sections = family::sections_of(family, any_of);
    let is_it = |known: &&UsedFamily| known.sections.iter().map(|(oid, _)| oid).eq(&sections);
    let known = FAMILIES.get(family.to_u32()).filter(is_it);
    let known = known.unwrap_or_else(|| {
        let sections = sections.iter().map(|&oid| (oid, Local::new(None)));
        let known = UsedFamily {
            family,
            user: Local::new(pg_sys::InvalidOid),
            reader: Local::new(pg_sys::InvalidOid),
            sections: sections.collect(),
        };
        FAMILIES.put(family.to_u32(), known)
    });
    known.reader.set(privilege::user());
    if any_of == pg_sys::ACL_INSERT {
        known.user.set(known.reader.get());
    }
}
