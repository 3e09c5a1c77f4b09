//! Drawing numbers of users.

use crate::counter::exhausted::IN_RECOVERY;
use crate::counter::last_used::LastUsed;
use crate::counter::user::sections::SectionRef;
use crate::counter::user::{family, sections, users};
use crate::pg::backend::local::Local;
use crate::pg::backend::lock::{lock_until_commit, try_lock_until_commit};
use crate::pg::backend::recovery;
use crate::pg::catalog::{invalidation, privilege, sql};
use crate::pg::error::report;
use crate::statistics::Wait;
use mint_core::DrawError;
use mint_core::counter::section::section_of;
use mint_core::counter::user_bucket::hash;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// A family that this session has used.
struct UsedFamily {
    family: pg_sys::Oid,
    /// The role that has the privilege to draw; invalid when that must be checked again.
    user: Local<pg_sys::Oid>,
    /// The role that has the privilege to read.
    reader: Local<pg_sys::Oid>,
    /// The sequence of each section, and its slot once that was needed.
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

/// Returns the first of the next `want` numbers of a user.
#[inline]
pub fn next(family: pg_sys::Oid, id: i64, want: u64) -> i64 {
    let known = FAMILIES.recent();
    if let Some(table) = users::mapped_table()
        && known.family == family
        && known.user.get() == privilege::current_user()
        && let Some((_, section)) = known.sections.get(section_of(id, known.sections.len()))
        && let Some(section) = section.get()
        && let Ok(first) = table.draw(
            section.section(),
            section.owner,
            id,
            want,
            sections::note_eviction,
        )
    {
        return first;
    }
    draw(family, id, want)
}

#[cold]
fn draw(family: pg_sys::Oid, id: i64, want: u64) -> i64 {
    let mut can_grow = users::may_grow();
    loop {
        let (sequence, found) = find_section(family, id, pg_sys::ACL_INSERT);
        let (section, owner) = (found.section(), found.owner);
        let drawn = if can_grow {
            users::table().draw(section, owner, id, want, sections::note_eviction)
        } else {
            users::table().draw_or_evict(section, owner, id, want, sections::note_eviction)
        };
        match drawn {
            Ok(first) => return first,
            Err(DrawError::Beyond(beyond)) => sections::raise(sequence, beyond),
            Err(DrawError::NotMine) => forget(sequence),
            Err(DrawError::Crowded) => can_grow = users::grow(),
            Err(DrawError::Unmapped) => users::map_parts(),
            Err(DrawError::UsedUp) => report(
                Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                format!("reached maximum number of user {id} ({})", i64::MAX),
            )
            .detail_if((want > 1).then(|| format!("Fewer than {want} numbers are left.")))
            .raise(),
        }
        pgrx::check_for_interrupts!();
    }
}

/// Returns the number that a user got last, or an upper bound of it.
pub fn current(family: pg_sys::Oid, id: i64) -> i64 {
    let any_of = pg_sys::ACL_INSERT | pg_sys::ACL_SELECT;
    if recovery::is_in_progress() {
        // Users are in the memory of the primary, but the ceiling of the section came with the log.
        let (sequence, _) = section(family, id, any_of);
        return sections::beyond_all(*sequence);
    }
    loop {
        let (sequence, found) = find_section(family, id, any_of);
        match users::table().current(found.section(), found.owner, id) {
            Ok(number) => return number,
            Err(DrawError::Unmapped) => users::map_parts(),
            Err(_) => forget(sequence),
        }
    }
}

/// Locks users until the transaction ends: other transactions that lock them wait. A role that may not draw locks
/// nothing.
///
/// The family's oid is part of the lock, so users of two families never share one. Two users of a family share one with
/// a probability of 2^-32, which costs a wait; a role that looks for such a pair on purpose may lock either of them
/// anyway. So the hash needs no secret.
pub fn lock(family: pg_sys::Oid, ids: &[i64]) {
    recovery::refuse(&IN_RECOVERY);
    demand(family, pg_sys::ACL_INSERT);
    // In the order of locks, not of users, so that two sessions that lock several of them cannot deadlock.
    let mut keys: Vec<u32> = ids.iter().map(|&id| (hash(id) >> 32) as u32).collect();
    keys.sort_unstable();
    keys.dedup();
    for key in keys {
        if !try_lock_until_commit(family, key) {
            let _waiting = Wait::UserLock.begin(true);
            lock_until_commit(family, key, Wait::UserLock.event());
        }
    }
}

/// Registers callbacks. Called once, when the library is loaded.
pub fn init() {
    invalidation::on_relation(forget);
    invalidation::on_role(|| forget(pg_sys::InvalidOid));
}

/// Forgets a relation, as a callback, when it or privileges on it have changed; an invalid oid stands for all.
fn forget(relation: pg_sys::Oid) {
    FAMILIES.each(|known| {
        if relation == pg_sys::InvalidOid || known.family == relation {
            known.user.set(pg_sys::InvalidOid);
            known.reader.set(pg_sys::InvalidOid);
        }
        for (sequence, section) in &known.sections {
            if relation == pg_sys::InvalidOid || *sequence == relation {
                section.set(None);
            }
        }
    });
}

/// Raises an error unless the role has any of these privileges on the family.
fn demand(family: pg_sys::Oid, any_of: u32) {
    invalidation::begin();
    let may = FAMILIES.get(family.to_u32()).is_some_and(|known| {
        known.user.get() == privilege::current_user()
            || any_of != pg_sys::ACL_INSERT && known.reader.get() == privilege::current_user()
    });
    if !may {
        resolve(family, any_of);
    }
}

/// Returns the sequence of a user's section, and its slot if that is known. Demands any of these privileges.
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

/// Returns the sequence of a user's section, and its slot. Demands any of these privileges.
fn find_section(family: pg_sys::Oid, id: i64, any_of: u32) -> (pg_sys::Oid, SectionRef) {
    recovery::refuse(&IN_RECOVERY);
    let (sequence, known) = section(family, id, any_of);
    let section = known.get().unwrap_or_else(|| sections::find(*sequence));
    known.set(Some(section));
    (*sequence, section)
}

/// Finds the sequences of a family's sections. Demands any of these privileges.
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
    known.reader.set(privilege::current_user());
    if any_of == pg_sys::ACL_INSERT {
        known.user.set(known.reader.get());
    }
}
