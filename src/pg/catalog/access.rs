//! Relations of users: the one way to read their rows, to lock and to alter them.
//!
//! A role can put functions into its tables that the server calls: in indexes, statistics, constraints, partition keys,
//! defaults, policies, triggers and views. Planning a query calls them as well. So whatever reads or alters a relation
//!
//! 1. checks first what the **caller** may do: [`read`] the privileges on schema, relation and column, and row security,
//!    and [`own`] the privileges of the owner. There is no lock before;
//! 2. acts then as the **owner** of that relation, as a security-restricted operation, with a search path of the server's
//!    own names. So what a function of the owner can do, the owner could do before;
//! 3. locks the relation by its **oid**, takes its name under the lock, and refuses a statement in which the name
//!    means another relation.

use crate::pg::backend::guc;
use crate::pg::backend::lock::{self, for_vacuum, lock_each, within};
use crate::pg::backend::wait::WaitEvent;
use crate::pg::catalog::binding::{self, Bound};
use crate::pg::catalog::foreign::{self, Foreign, Held};
use crate::pg::catalog::scan::sample::{Limit, Open, Sample};
use crate::pg::catalog::scan::{newest, sample};
use crate::pg::catalog::{privilege, relation, spi, sql};
use crate::pg::charset;
use crate::pg::error::{relay_errors, report};
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode as Code, check_for_interrupts, pg_sys};
use std::ptr;
use std::time::{Duration, Instant};

/// A column of a table that the caller may read, with all of its rows.
#[derive(Debug, Clone, Copy)]
pub struct Readable {
    table: pg_sys::Oid,
    column: i16,
}

/// Why the caller may not read a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// A privilege is missing.
    Denied,
    /// Row security applies to the caller: its policies would be run, as written by the owner of the table.
    RowSecurity,
}

/// Checks whether the caller may read a column, and all rows.
///
/// # Errors
/// Why not.
pub fn read(table: pg_sys::Oid, column: i16) -> Result<Readable, Unreadable> {
    let schema = relation::schema(table);
    let may = privilege::has_on_schema(privilege::user(), schema, pg_sys::ACL_USAGE)
        && privilege::may_read(table, column);
    if !may {
        Err(Unreadable::Denied)
    } else if privilege::hides_rows(table) {
        Err(Unreadable::RowSecurity)
    } else {
        Ok(Readable { table, column })
    }
}

impl Readable {
    /// Reads values from a few blocks of the table, or of a partition of it. None if it cannot be read at once.
    pub fn sample(
        &self,
        leaf: pg_sys::Oid,
        base_type: pg_sys::Oid,
        limit: Limit,
    ) -> Option<Sample> {
        self.look(leaf, base_type, |table, number| {
            sample::sample(table, number, base_type, limit)
        })
    }

    /// Returns the largest number below another, by an index of the table, or of a partition of it. An outer none if there is
    /// no such index, or it cannot be read at once; an inner one if there is no such number.
    pub fn largest(
        &self,
        leaf: pg_sys::Oid,
        base_type: pg_sys::Oid,
        below: i64,
    ) -> Option<Option<i64>> {
        self.look(leaf, base_type, |table, number| {
            newest::largest(table, number, below)
        })
    }

    /// Runs `work` with a table open that is this one or a partition of it, and with the number that the column has there.
    /// It runs no query, so there is nothing of the owner to call; and it would be called as the owner.
    fn look<T>(
        &self,
        leaf: pg_sys::Oid,
        base_type: pg_sys::Oid,
        work: impl FnOnce(&Open, i16) -> Option<T>,
    ) -> Option<T> {
        let open = Open::at_once(leaf)?;
        // Under the lock, the answers stay.
        if !relation::is_within(leaf, self.table) {
            return None;
        }
        let number = if leaf == self.table {
            self.column
        } else {
            let name = relation::column(self.table, usize::from(self.column.unsigned_abs()))?;
            relation::column_number(leaf, &name)?
        };
        if relation::base_type(relation::column_type(leaf, number)?) != base_type {
            return None;
        }
        privilege::as_role_without_names(relation::owner(leaf)?, || work(&open, number))
    }
}

/// A relation of whose owner the caller has the privileges.
#[derive(Debug, Clone, Copy)]
pub struct Owned {
    relation: pg_sys::Oid,
    owner: pg_sys::Oid,
}

/// Checks whether the caller has the privileges of a relation's owner.
///
/// # Errors
/// The owner, if the caller has not. Raises an error if there is no such relation.
pub fn own(relation: pg_sys::Oid) -> Result<Owned, pg_sys::Oid> {
    let owner = relation::owner(relation).unwrap_or_else(|| sql::missing(relation));
    if privilege::is_member(owner) {
        Ok(Owned { relation, owner })
    } else {
        Err(owner)
    }
}

/// Does the same as [`own`]. Raises the server's own error if the caller has not.
pub fn owned(relation: pg_sys::Oid) -> Owned {
    own(relation).unwrap_or_else(|_| {
        let name = charset::c_string(&relation::name(relation).unwrap_or_default());
        // SAFETY: raises an error with a copy of the name.
        relay_errors(|| unsafe {
            let kind = pg_sys::get_relkind_objtype(pg_sys::get_rel_relkind(relation));
            pg_sys::aclcheck_error(pg_sys::AclResult::ACLCHECK_NOT_OWNER, kind, name.as_ptr());
        });
        sql::missing(relation)
    })
}

/// Drops a table of the caller: as the caller, as a schema's owner may drop tables of others in it. In the caller's search
/// path, so that an error names dependent objects as the caller does; the statement itself has no names to look up there.
pub fn drop_table(table: pg_sys::Oid) {
    if let Ok(own) = own(table) {
        own.lock_alone(0);
    }
    let name = sql::exact_name_of(table);
    privilege::restricted(|| spi::run(&format!("DROP TABLE {name}")));
    if relation::kind(table).is_some() {
        binding::refuse();
    }
}

impl Owned {
    /// Returns the owner.
    pub fn owner(&self) -> pg_sys::Oid {
        self.owner
    }

    /// Returns whether the owner can name the relation: has USAGE on its schema.
    pub fn can_be_named(&self) -> bool {
        let schema = relation::schema(self.relation);
        privilege::has_on_schema(self.owner, schema, pg_sys::ACL_USAGE)
    }

    /// Returns whether the owner can create relations and functions beside it.
    pub fn can_create(&self) -> bool {
        let schema = relation::schema(self.relation);
        privilege::has_on_schema(self.owner, schema, pg_sys::ACL_CREATE)
    }

    /// Runs a query that `query` writes with the relation's name, as the owner, and returns its only value. It may name the
    /// relations `below` as well, and no others.
    pub fn ask<T: FromDatum + IntoDatum>(
        &self,
        below: &[pg_sys::Oid],
        query: impl FnOnce(&str) -> String,
    ) -> Option<T> {
        let name = self.locked_name();
        let mut relations = vec![self.relation];
        relations.extend(below);
        let bound = Bound {
            relations: &relations,
            first_only: true,
            ..Bound::default()
        };
        privilege::as_role(self.owner, || {
            guc::with(&[(c"row_security", c"off")], || {
                binding::restrict_to(bound, || spi::one(&query(&name), &[]))
            })
        })
    }

    /// Locks the relation against changes, and returns its name.
    fn locked_name(&self) -> String {
        lock::lock_against_changes(self.relation);
        if relation::owner(self.relation) != Some(self.owner) {
            binding::refuse();
        }
        self.demand_usage();
        sql::exact_name_of(self.relation)
    }

    /// Raises an error unless the owner can name the relation, and the name stays its name.
    fn refuse_moved(&self) {
        self.demand_usage();
        foreign::refuse_moved(self.relation, self.owner);
    }

    #[track_caller]
    fn demand_usage(&self) {
        if self.can_be_named() {
            return;
        }
        let schema = relation::schema_name(relation::schema(self.relation));
        let role = privilege::name_of(self.owner);
        report(
            Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
            format!(
                "owner of relation \"{}\" lacks a privilege on schema \"{schema}\"",
                relation::name(self.relation).unwrap_or_default()
            ),
        )
        .detail(format!(
            "The statement runs with the privileges of the owner, role \"{role}\", which needs USAGE."
        ))
        .hint(format!(
            "Use GRANT USAGE ON SCHEMA {} TO {}.",
            sql::quoted_exactly(&schema),
            sql::quoted_exactly(&role)
        ))
        .raise()
    }

    /// Evaluates an expression that names no relation, as the owner. Raises its error.
    ///
    /// # Errors
    /// An object of another role in it: nothing is evaluated.
    pub fn evaluate<T: FromDatum + IntoDatum>(
        &self,
        expression: &str,
    ) -> Result<Option<T>, Foreign> {
        self.query(&format!("SELECT {expression}"))
    }

    /// Runs a query as the owner, and returns its only value.
    ///
    /// # Errors
    /// An object of another role in it: it is not run.
    fn query<T: FromDatum + IntoDatum>(&self, query: &str) -> Result<Option<T>, Foreign> {
        let tree = self.checked(query)?;
        Ok(self.as_owner(|| binding::restrict_to_tree(&tree, || spi::one(query, &[]))))
    }

    /// Parses a query, and checks what its names mean. Returns its tree.
    fn checked(&self, query: &str) -> Result<String, Foreign> {
        let tree = self.parse(query)?;
        foreign::refuse(&foreign::in_tree(&tree), Held::ByName, self.owner)?;
        Ok(tree)
    }

    /// Parses a query as the owner: nothing of it is planned or run. Returns its tree, as catalogs keep those of views. Raises
    /// its error.
    ///
    /// # Errors
    /// A type of another role that it names: it is not parsed.
    pub fn parse(&self, query: &str) -> Result<String, Foreign> {
        self.refuse_foreign(query)?;
        Ok(self.as_owner(|| spi::tree_of(query)))
    }

    /// Plans a query as the owner, unless it names a relation: another role could have put into that what the planner
    /// calls. Returns whether it is planned. Raises its error.
    ///
    /// # Errors
    /// An object of another role in it: it is not planned.
    pub fn plan(&self, query: &str) -> Result<bool, Foreign> {
        let tree = self.checked(query)?;
        Ok(self.as_owner(|| spi::plan(query, &tree)))
    }

    /// Checks that the owner could parse a text.
    ///
    /// # Errors
    /// A type of another role that it names.
    pub fn refuse_foreign(&self, query: &str) -> Result<(), Foreign> {
        let named = foreign::types(self.as_owner(|| foreign::named(query)));
        foreign::refuse(&named, Held::ByName, self.owner)
    }

    /// Runs statements that alter the relation, as the owner. They were written under a lock that keeps its name, and
    /// the caller of this function looks afterwards whether they have altered it.
    pub fn run<'a>(&self, statements: impl Iterator<Item = &'a str>) {
        self.refuse_moved();
        self.as_owner(|| statements.for_each(spi::run));
    }

    /// Does the same as [`Owned::run`], with a limit on the wait for each lock, and without policies that hide rows.
    pub fn run_within<'a>(&self, millis: i32, statements: impl Iterator<Item = &'a str>) {
        guc::with(&[(c"row_security", c"off")], || {
            within(millis, || self.run(statements));
        });
    }

    /// Runs a statement as [`Owned::run_within`] does, and returns its only value. Raises an error if its names mean objects of
    /// another role.
    pub fn value_within<T: FromDatum + IntoDatum>(&self, millis: i32, query: &str) -> Option<T> {
        guc::with(&[(c"row_security", c"off")], || {
            within(millis, || {
                self.refuse_moved();
                self.query(query).unwrap_or_else(|of| {
                    let what = format!("query of table {}", sql::name_of(self.relation));
                    foreign::raise(&what, of)
                })
            })
        })
    }

    /// Runs `work` as the owner.
    pub(in crate::pg) fn as_owner<T>(&self, work: impl FnOnce() -> T) -> T {
        privilege::as_role(self.owner, work)
    }

    /// Locks a table and all below it against everything, until the transaction ends. Raises an error (55P03) for a lock that
    /// it does not get within `millis`; 0 is without a limit.
    pub fn lock_alone(&self, millis: i32) {
        self.lock_tree(pg_sys::AccessExclusiveLock, millis);
    }

    /// Locks a table and all below it against vacuum, and waits for one that runs, as [`Owned::lock_alone`] does, but for a time
    /// that autovacuum gives way, which it does after `deadlock_timeout`. Sessions that read and write the table wait neither
    /// for this lock nor for a session that waits for it.
    pub fn lock_out_vacuum(&self, millis: i32) {
        self.lock_tree(pg_sys::ShareUpdateExclusiveLock, for_vacuum(millis));
    }

    /// Locks a table, without those below it, against changes of its partitions and of its owner. Sessions that read and write it do
    /// not wait. Raises an error as [`Owned::lock_alone`] does.
    pub fn lock_partitions(&self, millis: i32) {
        lock_each(&[self.relation], pg_sys::ShareUpdateExclusiveLock, millis);
    }

    /// Does the same with tables that foreign keys connect with it, also of other roles: nothing is added to them that the server
    /// would plan. Waits for a vacuum of them as [`Owned::lock_out_vacuum`] does.
    pub fn lock_connected(&self, tables: &[pg_sys::Oid], millis: i32) {
        lock_each(tables, pg_sys::ShareUpdateExclusiveLock, for_vacuum(millis));
    }

    fn lock_tree(&self, mode: u32, millis: i32) {
        within(millis, || {
            let mode = mode.cast_signed();
            // SAFETY: takes locks for the transaction, or raises an error; the list of the oids is not used.
            unsafe {
                pg_sys::LockRelationOid(self.relation, mode);
                pg_sys::find_all_inheritors(self.relation, mode, ptr::null_mut());
            }
        });
    }

    /// Does the same as [`Owned::lock_alone`], without the tables below it.
    pub fn lock_one(&self, millis: i32) {
        lock_each(&[self.relation], pg_sys::AccessExclusiveLock, millis);
    }

    /// Locks a sequence as soon as nobody else has it locked, if that is within a span. It asks again and again rather than
    /// wait: a transaction that has the sequence and wants a lock of this one then fails with no deadlock.
    pub fn poll_sequence(&self, span: Duration) -> bool {
        static EVENT: WaitEvent = WaitEvent::new(c"MintConvert");
        let began = Instant::now();
        loop {
            // SAFETY: takes a lock for the transaction, if it can be had at once.
            if unsafe { pg_sys::ConditionalLockRelationOid(self.relation, ALONE) } {
                return true;
            }
            if began.elapsed() > span {
                return false;
            }
            check_for_interrupts!();
            EVENT.show(|| std::thread::sleep(Duration::from_millis(2)));
        }
    }
}

const ALONE: pg_sys::LOCKMODE = pg_sys::AccessExclusiveLock.cast_signed();
