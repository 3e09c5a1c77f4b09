//! What prevents a conversion: an error of the conversion itself, a line of the plan.

use crate::adopt::convert::generator::{Floor, NewDefault};
use crate::adopt::convert::record::{self, ConversionRecord};
use crate::adopt::convert::table::{TargetTable, UsedSequence};
use crate::pg::catalog::sql;
use crate::pg::error::{Report, report};
use pgrx::PgSqlErrorCode as Code;

/// Why a column cannot be converted as it is, and what to do.
#[derive(Debug, Clone)]
pub struct Blocker {
    code: Code,
    message: String,
    detail: Option<String>,
    hint: String,
}

impl Blocker {
    /// Returns the blocker of an object that is not as a conversion needs it.
    pub fn state(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
        Self::new(code, message, detail, hint)
    }

    /// Returns the blocker of what no conversion does.
    pub fn unsupported(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message, detail, hint)
    }

    /// Returns the blocker of a privilege that the owner of the table lacks.
    pub fn privilege(message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        Self::new(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message, detail, hint)
    }

    fn new(code: Code, message: String, detail: Option<String>, hint: impl Into<String>) -> Self {
        let hint = hint.into();
        Self {
            code,
            message,
            detail,
            hint,
        }
    }

    pub fn to_report(&self) -> Report {
        report(self.code, self.message.clone())
            .detail_if(self.detail.clone())
            .hint(self.hint.clone())
    }

    /// Returns the blocker as a line of the plan.
    pub fn note(&self) -> String {
        let detail = self
            .detail
            .as_ref()
            .map_or_else(String::new, |detail| format!(" {detail}"));
        format!("blocker: {}.{detail} {}", self.message, self.hint)
    }
}

/// Returns what prevents the conversion, the first thing to do first.
pub fn blockers(table: &TargetTable) -> Vec<Blocker> {
    let mut found = Vec::new();
    of_table(table, &mut found);
    of_below(table, &mut found);
    of_column(table, &mut found);
    found.extend(of_sequences(table));
    of_record(table, &mut found);
    if !table.narrow.is_empty() {
        let list = table.narrow.join(", ");
        found.push(Blocker::state(
            format!(
                "{} is referred to by columns that cannot hold a bigint",
                table.what()
            ),
            Some(format!("They are {list}.")),
            "Change their types first: mint.convert_plan() prints how, without an outage.",
        ));
    }
    if !table.unindexed.is_empty() {
        let list = table.unindexed.join(", ");
        found.push(Blocker::state(
            format!("{} has no index that begins with it", table.what()),
            Some(format!(
                "It has none on {list}: the largest id could not be read under a lock."
            )),
            "Make it the primary key, or use CREATE UNIQUE INDEX CONCURRENTLY.",
        ));
    }
    found
}

/// Checks that there is no record of an earlier conversion, as after a table was dropped and created again.
fn of_record(table: &TargetTable, found: &mut Vec<Blocker>) {
    if table.sequence().is_none() {
        return;
    }
    if let Some(earlier) = record::find(table) {
        let name = earlier.rules.quoted();
        found.push(Blocker::state(
            format!("sequence {name} has a record of {}", table.what()),
            Some("It is of an earlier conversion, and the column draws from another sequence.".to_owned()),
            format!("Use DROP SEQUENCE {name}, or COMMENT ON SEQUENCE {name} IS NULL, if that conversion is not to be reverted."),
        ));
    }
}

/// Returns the blocker of a record that is too long to be read again.
pub fn too_long(table: &TargetTable, record: Option<&ConversionRecord>) -> Option<Blocker> {
    record?.excess().map(|excess| {
        Blocker::state(
            format!("record of the conversion of {} is too long", table.what()),
            Some(excess),
            "Use COMMENT ON SEQUENCE with a shorter text, or ALTER TABLE ... SET DEFAULT for each partition.",
        )
    })
}

/// Checks that a conversion is for the type of the column, before anything is parsed by it.
pub fn of_type(table: &TargetTable) -> Option<Blocker> {
    let known = ["bigint", "uuid", "integer", "smallint"];
    (!known.contains(&table.column().base_type.as_str())).then(|| {
        Blocker::unsupported(
            format!("{} is of type {}", table.what(), table.column().type_name),
            Some("Columns of types bigint and uuid can be converted.".to_owned()),
            "Use ALTER TABLE ... SET DEFAULT.",
        )
    })
}

fn of_column(table: &TargetTable, found: &mut Vec<Blocker>) {
    let column = table.column();
    if !column.generated.is_empty() {
        found.push(Blocker::unsupported(
            format!("{} is a generated column", table.what()),
            None,
            "Its value is that of its expression: convert the column that this refers to.",
        ));
        return;
    }
    found.extend(of_type(table));
    if ["integer", "smallint"].contains(&column.base_type.as_str()) {
        found.push(Blocker::state(
            format!("{} is of type {}, which cannot hold the ids", table.what(), column.type_name),
            None,
            "Use mint.convert_plan(), which prints a script that makes it a bigint without an outage.",
        ));
    }
    let Some(default) = &column.default else {
        return;
    };
    let is_known = table
        .sequence()
        .is_some_and(|sequence| table.draws_from(sequence.rules.oid));
    if default.contains("nextval(") && !is_known {
        let hint = match table.sequences.first() {
            Some(sequence) => format!(
                "Use ALTER TABLE {} ALTER COLUMN {} SET DEFAULT {} first.",
                table.quoted(),
                table.quoted_column(),
                sequence.rules.default()
            ),
            None => format!(
                "Use ALTER TABLE {} ALTER COLUMN {} SET DEFAULT nextval('...'::regclass) first, with the schema of the sequence.",
                table.quoted(),
                table.quoted_column()
            ),
        };
        found.push(Blocker::state(
            format!("default of {} does not name one sequence", table.what()),
            Some(match table.sequences.first() {
                Some(_) => format!("It is {default}."),
                None => format!("It is {default}: each session looks up the text again, so the sequence is not known."),
            }),
            hint,
        ));
    }
}

/// Checks that a default does not draw from the sequence that the column draws from now.
pub fn draws_from_itself(table: &TargetTable, generator: &NewDefault) -> Option<Blocker> {
    let sequence = table.sequence()?;
    generator.names(sequence.rules.oid).then(|| {
        Blocker::state(
            format!(
                "the new default draws from sequence \"{}\", as the old one does",
                sequence.rules.name
            ),
            Some("A conversion ends the sequence of before.".to_owned()),
            format!(
                "Use ALTER TABLE {} ALTER COLUMN {} SET DEFAULT {}.",
                table.quoted(),
                table.quoted_column(),
                generator.text
            ),
        )
    })
}

/// Returns the largest id of the table, read by its indexes.
pub fn largest(table: &TargetTable) -> Option<i64> {
    let below = table.below.iter().map(|table| table.oid.into());
    let column = table.quoted_column();
    table.access().ask(&below.collect::<Vec<_>>(), |name| {
        format!("SELECT max({column}::int8) FROM {name}")
    })
}

/// Checks that new ids meet none of the table.
pub fn meets(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let largest = largest(table).filter(|&largest| largest > floor)?;
    Some(Blocker::state(
        format!("{} has ids that new ones could meet", table.what()),
        Some(format!(
            "The largest id is {largest}, and new ones can be as small as {}.",
            floor.saturating_add(1)
        )),
        format!(
            "If it is of the same layout, wait until its time has come, or use snowflake_start_above({largest}, ...) for a default of one shard. \
             If it is of another layout or epoch, use that one, or one whose ids are larger."
        ),
    ))
}

/// Checks that the table takes the smallest new id: that it has a partition, and that no check refuses it.
pub fn refuses(table: &TargetTable, floor: Floor) -> Option<Blocker> {
    let Floor::Above(floor) = floor else {
        return None;
    };
    let id = floor.saturating_add(1);
    lacks_partition(table, id).or_else(|| fails_check(table, id))
}

/// Returns whether an expression of the column is not false for an id.
fn holds(table: &TargetTable, id: i64, expression: &str) -> bool {
    let value = format!(
        "({expression}) IS NOT FALSE FROM (SELECT '{id}'::int8 AS {}) AS one",
        table.quoted_column()
    );
    table.access().evaluate(&value) != Some(false)
}

fn fails_check(table: &TargetTable, id: i64) -> Option<Blocker> {
    let mut checks = table.checks.iter();
    let check = checks.find(|check| !holds(table, id, &check.text))?;
    Some(Blocker::state(
        format!(
            "check constraint \"{}\" of table \"{}\" refuses new ids",
            check.name, table.name
        ),
        Some(format!(
            "It is {}, and an id like {id} fails it.",
            check.text
        )),
        format!(
            "Use ALTER TABLE {} DROP CONSTRAINT {}, or a default whose ids pass it.",
            table.quoted(),
            sql::quoted_exactly(&check.name)
        ),
    ))
}

fn lacks_partition(table: &TargetTable, id: i64) -> Option<Blocker> {
    if table.partitions.is_empty() {
        return None;
    }
    // The only partition of all has none.
    let constraints = table
        .partitions
        .iter()
        .map(|text| text.as_deref().unwrap_or("true"));
    let any: Vec<String> = constraints.map(|text| format!("({text})")).collect();
    (!holds(table, id, &any.join(" OR "))).then(|| {
        Blocker::state(
            format!("table \"{}\" has no partition for new ids", table.name),
            Some(format!(
                "It is partitioned by the column, and an id like {id} has none."
            )),
            "Create partitions for the new ids first, or a DEFAULT partition.",
        )
    })
}

/// Checks the table itself.
pub fn of_table(table: &TargetTable, found: &mut Vec<Blocker>) {
    if let Some(parent) = &table.parent {
        found.push(Blocker::unsupported(
            format!(
                "table \"{}\" is a partition or a child of table {parent}",
                table.name
            ),
            None,
            "Convert the root: its default reaches all tables below.",
        ));
    }
    if table.persistence == "t" {
        found.push(Blocker::unsupported(
            format!("table \"{}\" is temporary", table.name),
            Some("It ends with its session.".to_owned()),
            "Use ALTER TABLE ... SET DEFAULT.",
        ));
    }
    of_row_security(table, found);
    of_schema(table, found);
}

/// Checks that the owner may use the schema: all is done with the rights of the owner.
pub fn of_schema(table: &TargetTable, found: &mut Vec<Blocker>) {
    if !table.access().can_be_named() {
        found.push(Blocker::privilege(
            format!(
                "owner of table \"{}\" cannot use schema \"{}\"",
                table.name, table.schema
            ),
            Some(format!(
                "The column is converted with the privileges of the owner, role \"{}\".",
                table.owner_name
            )),
            format!(
                "Use GRANT USAGE ON SCHEMA {} TO {}.",
                sql::quoted_exactly(&table.schema),
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
}

/// Checks that the owner sees all rows.
pub fn of_row_security(table: &TargetTable, found: &mut Vec<Blocker>) {
    if table.force_row_security {
        found.push(Blocker::state(
            format!(
                "table \"{}\" has row security that is forced on its owner",
                table.name
            ),
            Some("The owner might not see all of its rows.".to_owned()),
            "Use ALTER TABLE ... NO FORCE ROW LEVEL SECURITY for the time of the conversion.",
        ));
    }
}

/// Checks partitions and children.
pub fn of_below(table: &TargetTable, found: &mut Vec<Blocker>) {
    if let Some(below) = table.below.iter().find(|below| below.kind == "f") {
        found.push(Blocker::unsupported(
            format!("partition \"{}\" is a foreign table", below.name),
            Some("Its ids are on another server, where no lock can be held.".to_owned()),
            "Detach it for the time of the conversion, and set its default on both servers.",
        ));
    }
    if let Some(below) = table.below.iter().find(|below| below.owner != table.owner) {
        found.push(Blocker::state(
            format!(
                "partition \"{}\" has another owner than table \"{}\"",
                below.name, table.name
            ),
            None,
            format!(
                "Use ALTER TABLE ... OWNER TO {}.",
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
    let default = table.column().default.as_ref();
    let odd = table.below.iter().find(|below| {
        below
            .default
            .as_ref()
            .is_some_and(|own| Some(own) != default)
    });
    if let Some(below) = odd {
        found.push(Blocker::state(
            format!("partition \"{}\" has a default of its own", below.name),
            None,
            format!(
                "Use ALTER TABLE {} ALTER COLUMN {} DROP DEFAULT, or give it that of its root.",
                sql::quoted_exactly(&below.name),
                table.quoted_column()
            ),
        ));
    }
    let inherits = |own: &String| own.is_empty() || *own == table.column().identity;
    let odd = table
        .below
        .iter()
        .find(|below| !below.identity.as_ref().is_none_or(inherits));
    if let Some(below) = odd {
        found.push(Blocker::state(
            format!("partition \"{}\" has an identity of its own", below.name),
            None,
            "Use ALTER TABLE ... ALTER COLUMN ... DROP IDENTITY on it first.",
        ));
    }
}

/// Returns what prevents the conversion in the sequences of a column.
pub fn of_sequences(table: &TargetTable) -> Vec<Blocker> {
    let mut found = Vec::new();
    for sequence in &table.sequences {
        of_sequence(table, sequence, &mut found);
    }
    found
}

fn of_sequence(table: &TargetTable, sequence: &UsedSequence, found: &mut Vec<Blocker>) {
    let name = &sequence.rules.name;
    if !sequence.is_identity && !sequence.in_default {
        found.push(Blocker::state(
            format!(
                "{} owns sequence \"{name}\" without drawing from it",
                table.what()
            ),
            None,
            format!(
                "Use ALTER SEQUENCE {} OWNED BY NONE, or set a default of it.",
                sequence.rules.quoted()
            ),
        ));
        return;
    }
    if !sequence.others.is_empty() {
        let list = sequence.others.join(", ");
        found.push(Blocker::state(
            format!("sequence \"{name}\" is shared"),
            Some(format!("Other columns draw from it: {list}.")),
            "Give those another default first: the sequence returns nothing after the conversion.",
        ));
    }
    let own = format!("{}.{}", table.name, table.column().name);
    if let Some(owner) = sequence
        .owned_by
        .as_ref()
        .filter(|_| !sequence.is_owned && !sequence.is_identity)
    {
        found.push(Blocker::state(
            format!("sequence \"{name}\" is owned by another column"),
            Some(format!("It is owned by {owner}, and {own} draws from it.")),
            format!(
                "Use ALTER SEQUENCE {} OWNED BY NONE first.",
                sequence.rules.quoted()
            ),
        ));
    }
    if sequence.rules.owner != table.owner {
        found.push(Blocker::state(
            format!(
                "sequence \"{name}\" has another owner than table \"{}\"",
                table.name
            ),
            Some(
                "The record of the conversion is trusted only from the owner of the table."
                    .to_owned(),
            ),
            format!(
                "Use ALTER SEQUENCE {} OWNER TO {}.",
                sequence.rules.quoted(),
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
    if sequence.is_identity {
        of_identity(table, sequence, found);
    }
}

/// Checks the sequence of an identity column, which is dropped and created again.
fn of_identity(table: &TargetTable, sequence: &UsedSequence, found: &mut Vec<Blocker>) {
    let name = &sequence.rules.name;
    if !sequence.dependents.is_empty() {
        let list = sequence.dependents.join(", ");
        found.push(Blocker::state(
            format!("other objects depend on sequence \"{name}\" of an identity column"),
            Some(format!(
                "The sequence is dropped and created again, which would drop these: {list}."
            )),
            "Drop them, convert, and create them again: the new sequence has the same name.",
        ));
    }
    if !table.can_create {
        found.push(Blocker::state(
            format!(
                "owner of table \"{}\" cannot create relations in schema \"{}\"",
                table.name, table.schema
            ),
            Some("The sequence of an identity column is created again.".to_owned()),
            format!(
                "Use GRANT CREATE ON SCHEMA {} TO {} for the time of the conversion.",
                sql::quoted_exactly(&table.schema),
                sql::quoted_exactly(&table.owner_name)
            ),
        ));
    }
    if sequence
        .rules
        .acl
        .iter()
        .flatten()
        .any(|grant| !grant.is_owners)
    {
        found.push(Blocker::state(
            format!("privileges on sequence \"{name}\" were granted by others than its owner"),
            None,
            "Revoke those, and have the owner grant them.",
        ));
    }
}
