//! What prevents the script.

use crate::adopt::convert::checks::Blocker;
use crate::adopt::convert::online::closure::{Closure, LinkedColumn};
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::{access, sql};

impl Closure {
    /// Returns what prevents the script.
    pub fn blockers(&self, table: &TargetTable) -> Vec<Blocker> {
        let changed: Vec<&LinkedColumn> = self.changed().collect();
        let mut found: Vec<Blocker> = changed
            .iter()
            .flat_map(|member| member.blockers(table))
            .collect();
        let temporal = self
            .indexes
            .iter()
            .find(|index| index.constraint.is_some() && index.method != "btree");
        if let Some(index) = temporal {
            found.push(Blocker::unsupported(
                format!("constraint \"{}\" is WITHOUT OVERLAPS", index.name),
                Some("Its index cannot be built concurrently.".to_owned()),
                "Drop it, and add it again after the swap.",
            ));
        }
        let odd = self.indexes.iter().find(|index| {
            !index.is_valid
                || index.columns.iter().any(|column| {
                    column.class.is_some() && self.find(index.relation, column.number).is_some()
                })
        });
        if let Some(index) = odd {
            found.push(Blocker::state(
                format!(
                    "index \"{}\" is not valid, or has an operator class of another type",
                    index.name
                ),
                None,
                "Drop it, and create it again after the swap.",
            ));
        }
        found
    }
}

impl LinkedColumn {
    fn blockers(&self, table: &TargetTable) -> Vec<Blocker> {
        /// Bytes, so that all names made of it are names.
        const LONGEST: usize = 40;
        let what = format!("column \"{}\" of table \"{}\"", self.name, self.table);
        let mut found = Vec::new();
        let instead = format!(
            "Use ALTER TABLE {} ALTER COLUMN {} TYPE bigint, which locks and rewrites the table.",
            self.quoted_table(),
            self.quoted_name()
        );
        if !self.is_plain {
            found.push(Blocker::unsupported(
                format!(
                    "{what} is of a partitioned, inherited, typed or temporary table, or generated"
                ),
                Some(
                    "Its indexes cannot be built concurrently, or its shadow not be kept equal."
                        .to_owned(),
                ),
                &instead,
            ));
        }
        if self.is_narrow && !["integer", "smallint"].contains(&self.data_type.as_str()) {
            found.push(Blocker::unsupported(
                format!("{what} is of domain {}", self.data_type),
                Some("A shadow would be of another type.".to_owned()),
                &instead,
            ));
        }
        self.owner_blockers(table, &mut found);
        if self.name.len() > LONGEST {
            found.push(Blocker::unsupported(
                format!("the name of {what} is longer than {LONGEST} bytes"),
                None,
                "Rename the column for the time of the conversion.",
            ));
        }
        self.name_blockers(&what, &mut found);
        if self.has_privileges {
            found.push(Blocker::state(
                format!("{what} has privileges of its own"),
                None,
                "Revoke them, and grant them again after the swap.",
            ));
        }
        if !self.dependents.is_empty() {
            found.push(Blocker::state(
                format!("other objects depend on {what}"),
                Some(format!(
                    "They would keep to the column of before: {}.",
                    self.dependents.join(", ")
                )),
                "Drop them, and create them again after the swap.",
            ));
        }
        found
    }

    /// Checks that the owner of the first table can do all with this one.
    fn owner_blockers(&self, table: &TargetTable, found: &mut Vec<Blocker>) {
        if self.owner != table.owner {
            found.push(Blocker::state(
                format!(
                    "table \"{}\" has another owner than table \"{}\"",
                    self.table, table.name
                ),
                Some(format!("Its owner is role \"{}\".", self.owner_name)),
                "Give both the same owner.",
            ));
        } else if !access::owned(self.oid()).can_create() {
            found.push(Blocker::privilege(
                format!(
                    "owner of table \"{}\" cannot create functions in schema \"{}\"",
                    self.table, self.schema
                ),
                Some("The trigger that keeps the shadow equal has a function.".to_owned()),
                format!(
                    "Use GRANT USAGE, CREATE ON SCHEMA {} TO {} for the time of the conversion.",
                    sql::quoted_exactly(&self.schema),
                    self.quoted_owner()
                ),
            ));
        }
    }

    /// Checks the names of columns and triggers.
    fn name_blockers(&self, what: &str, found: &mut Vec<Blocker>) {
        if let Some(name) = self.taken.first() {
            found.push(Blocker::state(
                format!("table \"{}\" has a column \"{name}\"", self.table),
                Some(format!("{what} needs the name for its shadow.")),
                "Rename that column for the time of the conversion.",
            ));
        }
        if let Some(name) = &self.other_shadow {
            found.push(Blocker::state(
                format!("another conversion of table \"{}\" has begun", self.table),
                Some(format!("Column \"{name}\" is of its script.")),
                "Run that script up to its swap, or take it back; rename the column if there is no script.",
            ));
        }
        if let Some(name) = self.late_triggers.first() {
            found.push(Blocker::state(
                format!("trigger \"{name}\" fires after that of {what}"),
                Some(format!(
                    "Triggers fire by their names, and the one that copies the column is {}.",
                    self.trigger()
                )),
                "Use ALTER TRIGGER ... RENAME TO a name that sorts before it.",
            ));
        }
    }
}
