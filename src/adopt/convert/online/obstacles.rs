//! What prevents the script.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::rebound::{self, Texts};
use crate::adopt::convert::online::closure::{Closure, LinkedColumn, LinkedIndex, LinkedKey};
use crate::adopt::convert::online::columns::{self, Direction};
use crate::adopt::convert::online::{lacks, meanings, rehearsal};
use crate::adopt::convert::recreated::Recreated;
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::{access, relation, sql};
use mint_core::adopt::rename::has_places;
use pgrx::pg_sys;
use std::collections::BTreeMap;

impl Closure {
    /// Returns what prevents the script. Where all is ready for the swap, its texts have been parsed.
    pub fn blockers(&self, table: &TargetTable, is_ready: bool) -> Vec<Blocker> {
        let changed = self.changed();
        let mut found: Vec<Blocker> = changed.flat_map(|member| member.blockers(table)).collect();
        self.index_blockers(&mut found);
        if let Some(key) = self.keys.iter().find(|key| key.is_disabled) {
            let (name, table) = (&key.name, self.table(key.relation));
            found.push(Blocker::state(
                format!("triggers of foreign key \"{name}\" of table {table} are disabled"),
                "They would be enabled after the swap.",
                "Use ALTER TABLE ... ENABLE TRIGGER ALL on its tables.",
            ));
        }
        if let Some(key) = self.keys.iter().find(|key| key.has_period) {
            let (name, table) = (&key.name, self.table(key.relation));
            let blocker = Blocker::state(
                format!("foreign key \"{name}\" of table {table} has PERIOD"),
                "The index that it refers to cannot be built concurrently.",
                "Drop it, and add it again after the swap.",
            );
            found.push(blocker.unsupported());
        }
        let is_clear = |relation, counts, text: &str| {
            columns::on_shadows(self, relation, text, counts, Direction::There).is_some()
        };
        // An index of a partitioned table has no such text; the table itself is refused.
        let texts = self
            .indexes
            .iter()
            .filter_map(|index| Some((index, columns::index_text(index)?)));
        let mut indexes = texts
            .filter(|(index, text)| !is_clear(index.relation, &index.counts, text))
            .map(|(index, _)| index);
        let mut checks = self
            .checks
            .iter()
            .filter(|check| !is_clear(check.relation, &check.counts, &check.text));
        let unclear = indexes.next().map(|index| ("index", &index.name));
        if let Some((kind, name)) =
            unclear.or_else(|| checks.next().map(|check| ("constraint", &check.name)))
        {
            found.push(Blocker::state(
                format!("{kind} \"{name}\" names something else as the column is named"),
                "The two cannot be told apart in its text.",
                "Drop it, and create it again after the swap.",
            ));
        }
        // A foreign key reads both of its tables.
        let ends = self.keys.iter().flat_map(|key| [key.relation, key.to]);
        let tables = self.places().into_iter().map(|(of, _)| of);
        let tables = tables.chain(ends.map(Into::into));
        found.extend(Blocker::of_casts(tables, table.owner));
        found.extend(rebound::blockers(&self.places(), Texts::All));
        found.extend(self.other_owner(table));
        found.extend(self.of_partitioned());
        found.extend(lacks::blockers(self));
        found.extend(self.recreated.iter().filter_map(|one| self.lost(one)));
        found.extend(self.dependents_of_indexes());
        if found.is_empty() && !is_ready {
            found.extend(rehearsal::blockers(self, table));
        }
        found
    }

    /// Checks that indexes can be built again beside themselves.
    fn index_blockers(&self, found: &mut Vec<Blocker>) {
        let mut indexes = self.indexes.iter();
        if let Some(index) =
            indexes.find(|index| index.constraint.is_some() && index.method != "btree")
        {
            let blocker = Blocker::state(
                format!("constraint \"{}\" is WITHOUT OVERLAPS", index.name),
                "Its index cannot be built concurrently.",
                "Drop it, and add it again after the swap.",
            );
            found.push(blocker.unsupported());
        }
        let is_deferrable = |index: &&LinkedIndex| {
            let constraint = index.constraint.as_ref();
            constraint.is_some_and(|constraint| constraint.deferrable)
        };
        if let Some(index) = self.indexes.iter().find(is_deferrable) {
            let blocker = Blocker::state(
                format!("constraint \"{}\" is DEFERRABLE", index.name),
                "Its new index would be checked immediately until the swap.",
                "Drop it, and add it again after the swap.",
            );
            found.push(blocker.unsupported());
        }
        if let Some(index) = self.indexes.iter().find(|index| self.has_cast(index)) {
            let blocker = Blocker::state(
                format!(
                    "index \"{}\" has a cast of the column to a type of integers as a column",
                    index.name
                ),
                "The cast is gone where the column is of that type.",
                "Drop it; after the swap, create it on the column itself.",
            );
            found.push(blocker.unsupported());
        }
        let odd = self
            .indexes
            .iter()
            .find(|index| !index.is_valid || index.has_class);
        if let Some(index) = odd {
            let name = &index.name;
            found.push(Blocker::state(
                format!("index \"{name}\" is not valid, or has an operator class of another type"),
                "",
                "Drop it, and create it again after the swap.",
            ));
        }
    }

    /// Checks that the swap can drop the indexes.
    fn dependents_of_indexes(&self) -> Vec<Blocker> {
        let oids = |all: Vec<u32>| Vec::from_iter(all.into_iter().map(pg_sys::Oid::from_u32));
        let keys = self.keys.iter().map(|key| key.oid).collect();
        let views = self.recreated.iter().filter(|one| one.view.is_some());
        let views = views.filter_map(|one| one.relation).collect();
        let indexes = self.indexes.iter().map(|index| index.oid).collect();
        let query = include_str!("../../../../sql/adopt/convert_index_dependents.sql");
        let arguments = [oids(indexes), oids(keys), oids(views)].map(Into::into);
        let found: Option<BTreeMap<u32, Vec<String>>> = sql::read_now(query, &arguments);
        let found = found.unwrap_or_default();
        let depended = self.indexes.iter().filter_map(|index| {
            let list = found.get(&index.oid)?.join(", ");
            let name = meanings::index(self.table(index.relation), &index.name);
            Some(Blocker::state(
                format!("other objects depend on {name}"),
                format!("The swap could not drop it: {list}."),
                "Drop them, and create them again after the swap, or after the cleanup where they have whole rows.",
            ))
        });
        depended.collect()
    }

    /// Returns whether an index has a cast of a column as a column, which is the column itself where that has the type.
    fn has_cast(&self, index: &LinkedIndex) -> bool {
        let texts = index.expressions.as_deref().unwrap_or_default();
        let of_table = self
            .columns
            .iter()
            .filter(|column| column.relation == index.relation);
        let mut casts = of_table.flat_map(|column| {
            let name = sql::quoted_exactly(&column.name);
            ["bigint", "integer", "smallint"].map(|of| format!("({name})::{of}"))
        });
        casts.any(|cast| texts.split(", ").any(|text| text == cast))
    }

    /// Returns what prevents that an object is made again in the swap.
    fn lost(&self, one: &Recreated) -> Option<Blocker> {
        let by_place = || {
            let text = one.view.as_ref().and(one.text.as_ref())?;
            let mut tables = self.changed().map(LinkedColumn::quoted_table);
            tables.any(|table| has_places(text, &table)).then_some(
                "it names columns of a table or join by their places, which the swap changes",
            )
        };
        let refused = one.refused.as_deref().or_else(by_place)?;
        let blocker = Blocker::state(
            format!(
                "{} cannot be dropped and created again in the swap",
                one.name
            ),
            format!("The reason is that {refused}."),
            "Drop it, and create it again after the swap.",
        );
        Some(blocker.unsupported())
    }

    /// Checks that foreign keys can be built again beside themselves, under a name that the swap changes.
    fn of_partitioned(&self) -> Option<Blocker> {
        let is_partitioned = |key: &&LinkedKey| {
            relation::kind(key.relation.into()) == Some(pg_sys::RELKIND_PARTITIONED_TABLE)
        };
        // Of a column that would be changed itself, all is said.
        let is_changed = |key: &&LinkedKey| {
            let mut changed = self.changed();
            changed.any(|member| member.relation == key.relation)
        };
        let mut keys = self.keys.iter().filter(is_partitioned);
        let key = keys.find(|key| !is_changed(key))?;
        let blocker = Blocker::state(
            format!("foreign key \"{}\" is of a partitioned table", key.name),
            "It cannot be built beside itself, as its partitions would keep the name.",
            "Drop it, and add it again after the swap.",
        );
        Some(blocker.unsupported())
    }

    /// Checks that the script acts on tables of one owner alone.
    fn other_owner(&self, table: &TargetTable) -> Option<Blocker> {
        let mut ends = self.keys.iter().flat_map(|key| [key.relation, key.to]);
        ends.any(|end| access::owned(end.into()).owner() != table.owner.into())
            .then(|| {
                Blocker::state(
                    format!(
                        "a table that foreign keys connect with table \"{}\" has another owner",
                        table.name
                    ),
                    "The script would act on it as the owner of this one.",
                    "Give both the same owner.",
                )
            })
    }
}

impl LinkedColumn {
    fn blockers(&self, table: &TargetTable) -> Vec<Blocker> {
        /// Bytes, so that all names made of it are names.
        const LONGEST: usize = 51;
        let what = format!("column \"{}\" of table \"{}\"", self.name, self.table);
        let mut found = Vec::new();
        if !self.is_plain {
            let blocker = Blocker::state(
                format!(
                    "{what} is of a partitioned, inherited, typed or temporary table, or generated"
                ),
                "Its indexes cannot be built concurrently, or its shadow not be kept equal.",
                self.instead(),
            );
            found.push(blocker.unsupported());
        }
        if self.is_narrow() && !["integer", "smallint"].contains(&self.data_type.as_str()) {
            let blocker = Blocker::state(
                format!("{what} is of domain {}", self.data_type),
                "A shadow would be of another type.",
                self.instead(),
            );
            found.push(blocker.unsupported());
        }
        found.extend(self.owner_blocker(table));
        if self.name.len() > LONGEST {
            let blocker = Blocker::state(
                format!("the name of {what} is longer than {LONGEST} bytes"),
                "",
                "Rename the column for the time of the conversion.",
            );
            found.push(blocker.unsupported());
        }
        let constraint = self.not_null_constraint.as_ref();
        if let Some(constraint) = constraint.filter(|constraint| !constraint.validated) {
            let (name, table) = (&constraint.name, self.quoted_table());
            found.push(Blocker::state(
                format!("constraint \"{name}\" of {what} is NOT VALID"),
                "The table can have rows that the backfill could not update.",
                format!(
                    "Use ALTER TABLE {table} VALIDATE CONSTRAINT {}.",
                    sql::quoted_exactly(name)
                ),
            ));
        }
        found.extend(self.default_blocker(table, &what));
        self.name_blockers(&what, &mut found);
        if !self.dependents.is_empty() {
            let list = self.dependents.join(", ");
            found.push(Blocker::state(
                format!("other objects depend on {what}"),
                format!("They would keep to the column of before: {list}."),
                "Drop them, and create them again after the swap, or after the cleanup where they have whole rows.",
            ));
        }
        found
    }

    /// Returns what to do in place of the script.
    fn instead(&self) -> String {
        let table = self.quoted_table();
        let fixed_by = TargetTable::find(self.oid(), &self.name).fixed_by;
        match fixed_by.as_deref() {
            Some("key") => "Create another table with a bigint and with partitions for the new ids, copy the rows, and rename the two: the type of a column in a partition key cannot be altered.".to_owned(),
            Some(_) => format!("Use ALTER TABLE {table} NOT OF first."),
            None => format!(
                "Use ALTER TABLE {table} ALTER COLUMN {} TYPE bigint, which locks and rewrites the table.",
                self.quoted_name()
            ),
        }
    }

    /// Checks that the owner of the first table can do all with this one.
    fn owner_blocker(&self, table: &TargetTable) -> Option<Blocker> {
        let (name, of, schema) = (&self.table, &table.name, &self.schema);
        if self.owner != table.owner {
            return Some(Blocker::state(
                format!("table \"{name}\" has another owner than table \"{of}\""),
                format!("Its owner is role \"{}\".", self.owner_name),
                "Give both the same owner.",
            ));
        }
        if access::owned(self.oid()).can_create() {
            return None;
        }
        let (quoted, owner) = (sql::quoted_exactly(schema), self.quoted_owner());
        let blocker = Blocker::state(
            format!("owner of table \"{name}\" cannot create functions in schema \"{schema}\""),
            "The trigger that keeps the shadow equal has a function.",
            format!(
                "Use GRANT USAGE, CREATE ON SCHEMA {quoted} TO {owner} for the time of the conversion."
            ),
        );
        Some(blocker.privilege())
    }

    /// Checks that the default of a column that refers to the first one has no cast to a type that cannot hold the ids. That of
    /// the first one is replaced.
    fn default_blocker(&self, table: &TargetTable, what: &str) -> Option<Blocker> {
        let own = (table.oid, table.column().number);
        let default = self.default.as_ref().filter(|default| {
            let casts = [")::integer", ")::smallint"];
            (self.relation, self.number) != own && casts.iter().any(|cast| default.contains(cast))
        })?;
        let (table, column) = (self.quoted_table(), self.quoted_name());
        Some(Blocker::state(
            format!("default of {what} has a cast to a type that cannot hold new ids"),
            format!("It is {default}."),
            format!(
                "Use ALTER TABLE {table} ALTER COLUMN {column} SET DEFAULT with a text or a bigint, or DROP DEFAULT."
            ),
        ))
    }

    /// Checks the names of columns and triggers.
    fn name_blockers(&self, what: &str, found: &mut Vec<Blocker>) {
        let table = &self.table;
        if let Some(name) = self.taken.first() {
            found.push(Blocker::state(
                format!("table \"{table}\" has a column \"{name}\""),
                format!("{what} needs the name for its shadow."),
                "Rename that column for the time of the conversion.",
            ));
        }
        if let Some(name) = &self.other_shadow {
            found.push(Blocker::state(
                format!("another conversion of table \"{table}\" has begun"),
                format!("Column \"{name}\" is of its script."),
                "Run that script up to its swap, or take it back, its phase \"cleanup\" included; rename the column if there is no script.",
            ));
        }
        if self.has_other_trigger {
            let trigger = self.trigger();
            found.push(Blocker::state(
                format!("trigger {trigger} of table \"{table}\" is not of a script"),
                format!("{what} needs the name for a trigger with a function of the owner."),
                format!("Use DROP TRIGGER {trigger} ON {}.", self.quoted_table()),
            ));
        }
        if self.has_other_check {
            let name = &self.name;
            found.push(Blocker::state(
                format!(
                    "constraint \"mint_filled_{name}\" of table \"{table}\" is not of a script"
                ),
                format!("{what} needs the name for the check that its shadow is filled."),
                format!("Use ALTER TABLE {} RENAME CONSTRAINT.", self.quoted_table()),
            ));
        }
        if let Some(name) = self.late_triggers.first() {
            let trigger = self.trigger();
            found.push(Blocker::state(
                format!("trigger \"{name}\" fires after that of {what}"),
                format!(
                    "Triggers fire by their names, and the one that copies the column is {trigger}."
                ),
                "Use ALTER TRIGGER ... RENAME TO a name that sorts before it.",
            ));
        }
    }
}
