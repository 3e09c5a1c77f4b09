//! A column and all that refer to it by foreign keys, with their indexes, as the catalogs have them.

use crate::adopt::convert::checks::orphans;
use crate::adopt::convert::recreated::Recreated;
use crate::adopt::convert::table::{TargetTable, is_narrow, quoted};
use crate::pg::catalog::{function, relation, sql};
use crate::pg::charset;
use crate::pg::datum::json::list;
use serde::Deserialize;
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub struct Closure {
    #[serde(deserialize_with = "list")]
    pub columns: Vec<LinkedColumn>,
    #[serde(deserialize_with = "list")]
    pub indexes: Vec<LinkedIndex>,
    #[serde(deserialize_with = "list")]
    pub keys: Vec<LinkedKey>,
    #[serde(deserialize_with = "list")]
    pub checks: Vec<LinkedCheck>,
    /// Successors of nothing, as a restore or the drop of an index leaves them.
    #[serde(deserialize_with = "list")]
    pub stale_indexes: Vec<StaleObject>,
    #[serde(deserialize_with = "list")]
    pub stale_constraints: Vec<StaleObject>,
    /// What the swap drops and creates again, in the order of the drops.
    #[serde(skip)]
    pub recreated: Vec<Recreated>,
    /// Names of columns, by the oid of the table and the number of the column.
    names: Option<BTreeMap<String, String>>,
    /// Quoted names of tables, by oid; none if the table is gone.
    tables: Option<BTreeMap<String, String>>,
}

/// A column of the closure.
#[derive(Debug, Clone, Deserialize)]
pub struct LinkedColumn {
    pub relation: u32,
    pub number: i16,
    pub schema: String,
    pub table: String,
    pub name: String,
    #[serde(rename = "type")]
    pub data_type: String,
    type_oid: u32,
    pub not_null: bool,
    /// Its constraint, from PostgreSQL 18 on.
    pub not_null_constraint: Option<NotNullConstraint>,
    pub identity: String,
    pub default: Option<String>,
    pub owner: u32,
    pub owner_name: String,
    /// An ordinary table, no part of another and not of a type, and no generated column.
    pub is_plain: bool,
    /// Publications that its table is in.
    #[serde(deserialize_with = "list")]
    pub publications: Vec<String>,
    pub bytes: i64,
    pub comment: Option<String>,
    /// What `ALTER COLUMN ... SET (...)` has set.
    pub options: Option<String>,
    /// What `SET STATISTICS` has set.
    pub statistics: Option<i32>,
    /// The function of the trigger that keeps the shadow equal, quoted; none if there is no trigger, and so no shadow.
    function: Option<String>,
    /// What that function begins with ([`orphans::label`]).
    #[serde(skip)]
    pub label: String,
    /// The type of the shadow before the swap, if there is one.
    pub new_type: Option<String>,
    /// The type of the shadow after the swap, if there is one.
    pub old_type: Option<String>,
    /// Columns that are no shadow and have its name.
    #[serde(deserialize_with = "list")]
    pub taken: Vec<String>,
    /// Whether another trigger has the name of the one that keeps the shadow equal.
    pub has_other_trigger: bool,
    /// The shadow of a column that another script is about to change.
    pub other_shadow: Option<String>,
    /// Whether the trigger is enabled.
    pub is_copied: bool,
    /// Triggers that could change the column after the shadow was made.
    #[serde(deserialize_with = "list")]
    pub late_triggers: Vec<String>,
    /// Whether the check that the shadow is filled is validated; none if there is no check.
    pub filled: Option<bool>,
    /// Whether another constraint has the name of that check.
    pub has_other_check: bool,
    #[serde(deserialize_with = "list")]
    pub dependents: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct NotNullConstraint {
    pub name: String,
    pub comment: Option<String>,
    pub validated: bool,
    pub no_inherit: bool,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LinkedIndex {
    pub oid: u32,
    pub relation: u32,
    pub schema: String,
    pub name: String,
    pub comment: Option<String>,
    pub is_unique: bool,
    pub is_replica_identity: bool,
    pub is_clustered: bool,
    pub is_valid: bool,
    pub method: String,
    pub tablespace: Option<String>,
    pub constraint: Option<IndexConstraint>,
    /// Whether a column of the closure has another operator class in it than that of its type.
    pub has_class: bool,
    /// What comes behind the name of the table, without the predicate; none if that cannot be told.
    pub definition: Option<String>,
    pub predicate: Option<String>,
    /// Its expressions, as a list.
    pub expressions: Option<String>,
    /// Statements on it that its definition does not have.
    #[serde(deserialize_with = "list")]
    pub after: Vec<String>,
    /// How often it names each column of the closure, by the column's number.
    pub counts: BTreeMap<i16, usize>,
    /// Whether its successor is valid; none if there is no successor.
    pub built: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct IndexConstraint {
    pub name: String,
    pub is_primary: bool,
    pub deferrable: bool,
    pub deferred: bool,
    pub comment: Option<String>,
}

/// A check constraint.
#[derive(Debug, Clone, Deserialize)]
pub struct LinkedCheck {
    pub oid: u32,
    pub name: String,
    pub comment: Option<String>,
    pub relation: u32,
    /// Its expression.
    pub text: String,
    pub validated: bool,
    /// Not so only from PostgreSQL 18 on.
    pub is_enforced: bool,
    pub no_inherit: bool,
    /// As [`LinkedIndex::counts`].
    pub counts: BTreeMap<i16, usize>,
    /// Whether its successor is validated; none if there is no successor.
    pub built: Option<bool>,
}

#[derive(Debug, Clone, Deserialize)]
pub struct LinkedKey {
    pub oid: u32,
    pub name: String,
    pub comment: Option<String>,
    pub relation: u32,
    pub to: u32,
    pub numbers: Vec<i16>,
    pub to_numbers: Vec<i16>,
    pub update: String,
    pub delete: String,
    #[serde(rename = "match")]
    pub match_type: String,
    pub deferrable: bool,
    pub deferred: bool,
    pub validated: bool,
    /// Not so only from PostgreSQL 18 on.
    pub is_enforced: bool,
    /// From PostgreSQL 18 on.
    pub has_period: bool,
    #[serde(deserialize_with = "list")]
    pub set_numbers: Vec<i16>,
    /// Whether not all of its triggers are enabled as usual.
    pub is_disabled: bool,
    /// Whether its successor is validated; none if there is no successor.
    pub built: Option<bool>,
}

/// An index or a constraint that no script waits for.
#[derive(Debug, Clone, Deserialize)]
pub struct StaleObject {
    pub relation: u32,
    /// Of an index quoted, with its schema.
    pub name: String,
}

impl Closure {
    /// Reads the closure of a table's column.
    pub fn of(table: &TargetTable) -> Self {
        let oid = pgrx::pg_sys::Oid::from_u32(table.oid);
        let arguments = [oid.into(), table.column().number.into()];
        let query = concat!(
            include_str!("../../../../sql/adopt/convert_closure.sql"),
            include_str!("../../../../sql/adopt/convert_closure_read.sql")
        );
        let found: Option<Self> = sql::read_now(query, &arguments);
        let found = found.filter(|closure| closure.tables.is_some());
        let mut found = found.unwrap_or_else(|| sql::missing(oid));
        let label = orphans::label(table);
        let members = found.columns.iter_mut();
        members.for_each(|member| member.label.clone_from(&label));
        let changed = found.places();
        found.recreated = Recreated::of(&changed);
        // Columns that refer to it and are bigint stay as they are.
        let names = |relation: u32, counts: &BTreeMap<i16, usize>| {
            let mut names = counts.iter().filter(|&(_, &count)| count > 0);
            names.any(|(&number, _)| changed.contains(&(relation.into(), number)))
        };
        let has = |relation: u32, numbers: &[i16]| {
            let mut numbers = numbers.iter();
            numbers.any(|&number| changed.contains(&(relation.into(), number)))
        };
        found
            .indexes
            .retain(|index| names(index.relation, &index.counts));
        found
            .checks
            .retain(|check| names(check.relation, &check.counts));
        found
            .keys
            .retain(|key| has(key.relation, &key.numbers) || has(key.to, &key.to_numbers));
        found
    }

    /// Returns the columns that the script changes: before the swap those that are too narrow, and after it those with a shadow of
    /// before. A column that came to refer to them in between waits for the next script.
    pub fn changed(&self) -> impl Iterator<Item = &LinkedColumn> {
        let is_swapped = self.is_swapped();
        self.columns.iter().filter(move |member| {
            if is_swapped {
                member.old_type.is_some()
            } else {
                member.is_narrow()
            }
        })
    }

    /// Returns the tables and numbers of the columns that the script changes.
    pub fn places(&self) -> Vec<(pgrx::pg_sys::Oid, i16)> {
        self.changed().map(LinkedColumn::place).collect()
    }

    /// Returns whether there is a script for this column: it is integer, or others that refer to it are, or were.
    pub fn is_needed(&self) -> bool {
        self.changed().next().is_some()
    }

    /// Returns whether the swap has been done, and the cleanup not.
    pub fn is_swapped(&self) -> bool {
        self.columns.iter().any(|member| member.old_type.is_some())
    }

    pub fn find(&self, relation: u32, number: i16) -> Option<&LinkedColumn> {
        self.changed()
            .find(|member| (member.relation, member.number) == (relation, number))
    }

    /// Returns the owner of all tables, quoted.
    pub fn quoted_owner(&self) -> String {
        self.columns
            .first()
            .map_or_else(String::new, LinkedColumn::quoted_owner)
    }

    /// Returns the quoted name of a table.
    pub fn table(&self, relation: u32) -> &str {
        self.tables
            .as_ref()
            .and_then(|tables| tables.get(&relation.to_string()))
            .map_or("", String::as_str)
    }

    /// Returns the name of a column.
    pub fn column(&self, relation: u32, number: i16) -> &str {
        let name = format!("{relation}.{number}");
        self.names
            .as_ref()
            .and_then(|names| names.get(&name))
            .map_or("", String::as_str)
    }
}

impl NotNullConstraint {
    /// Returns what its definition ends with.
    pub fn only(&self) -> &'static str {
        if self.no_inherit { " NO INHERIT" } else { "" }
    }
}

impl LinkedIndex {
    /// Returns whether its text has names of functions, of operators or of types.
    pub fn has_expression(&self) -> bool {
        self.predicate.is_some() || self.expressions.is_some()
    }

    pub fn quoted(&self) -> String {
        quoted(&self.schema, &self.name)
    }
}

impl LinkedColumn {
    /// Returns whether it is an integer that cannot hold a bigint, or a domain over one.
    pub fn is_narrow(&self) -> bool {
        is_narrow(self.type_oid)
    }

    /// Returns the oid of its table, and its number.
    fn place(&self) -> (pgrx::pg_sys::Oid, i16) {
        (self.oid(), self.number)
    }

    /// Returns the oid of its table.
    pub fn oid(&self) -> pgrx::pg_sys::Oid {
        self.relation.into()
    }

    pub fn quoted_table(&self) -> String {
        quoted(&self.schema, &self.table)
    }

    pub fn quoted_name(&self) -> String {
        sql::quoted_exactly(&self.name)
    }

    /// Returns the name of the shadow before the swap.
    pub fn new_name(&self) -> String {
        sql::quoted_exactly(&format!("mint_new_{}", self.name))
    }

    /// Returns the name of the shadow after the swap.
    pub fn old_name(&self) -> String {
        sql::quoted_exactly(&format!("mint_old_{}", self.name))
    }

    pub fn check_name(&self) -> String {
        sql::quoted_exactly(&format!("mint_filled_{}", self.name))
    }

    pub fn trigger(&self) -> String {
        sql::quoted_exactly(&format!("~mint_copy_{}", self.name))
    }

    /// Returns whether it has the trigger that keeps its shadow equal.
    pub fn has_trigger(&self) -> bool {
        self.function.is_some()
    }

    /// Returns the name of the trigger's function. After a restore it has the oid of before. If another role has a function
    /// of the name, it is another one.
    pub fn function(&self) -> String {
        self.function.clone().unwrap_or_else(|| {
            let schema = relation::schema(self.oid());
            let is_free = |name: &String| {
                let found = function::find(schema, &charset::c_string(name), &[]);
                found
                    .and_then(function::owner)
                    .is_none_or(|owner| owner == self.owner.into())
            };
            /// Bytes of a name that fits with the longest oid.
            const FITS: usize = 42;
            let first = if self.name.len() > FITS {
                format!("mint_copy_{}_{}", self.relation, self.number)
            } else {
                format!("mint_copy_{}_{}", self.relation, self.name)
            };
            let others =
                (1..1_000).map(|n| format!("mint_copy_{}_{}_{n}", self.relation, self.number));
            let name = std::iter::once(first.clone()).chain(others).find(is_free);
            quoted(&self.schema, &name.unwrap_or(first))
        })
    }

    pub fn quoted_owner(&self) -> String {
        sql::quoted_exactly(&self.owner_name)
    }
}
