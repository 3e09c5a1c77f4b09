//! The statements of a conversion and of its revert, made of catalogs and checked fields only.

use crate::adopt::convert::record::{ConversionRecord, CounterKind};
use crate::adopt::convert::table::{SequenceRules, TargetTable, quoted};
use crate::pg::catalog::sql;

/// One statement.
#[derive(Debug)]
pub struct ConvertStep {
    pub command: String,
    /// The relation that it locks, and how.
    pub object: String,
    pub lock: &'static str,
}

const EXCLUSIVE: &str = "ACCESS EXCLUSIVE";
const SHARE_ROW: &str = "SHARE ROW EXCLUSIVE";
const SHARE_UPDATE: &str = "SHARE UPDATE EXCLUSIVE";
const ROW: &str = "ROW EXCLUSIVE";

fn step(object: &str, lock: &'static str, command: String) -> ConvertStep {
    let object = object.to_owned();
    ConvertStep {
        command,
        object,
        lock,
    }
}

fn alter(table: &TargetTable, rest: &str) -> ConvertStep {
    let name = table.quoted();
    step(&name, EXCLUSIVE, format!("ALTER TABLE {name} {rest}"))
}

/// Makes a column's default that one, and ends its sequence. The record has been read from the sequence.
pub fn convert(
    table: &TargetTable,
    default: &str,
    record: Option<&ConversionRecord>,
) -> Vec<ConvertStep> {
    let column = table.quoted_column();
    let set = format!("ALTER COLUMN {column} SET DEFAULT {default}");
    let (Some(record), Some(sequence)) = (record, table.sequence()) else {
        return vec![alter(table, &set)];
    };
    let rules = &sequence.rules;
    let name = rules.quoted();
    let end = rules.end();
    let mut steps = Vec::new();
    if sequence.is_identity {
        steps.push(alter(
            table,
            &format!("ALTER COLUMN {column} DROP IDENTITY, {set}"),
        ));
        steps.push(step(&name, "", create(rules)));
        let owner = table.quoted_owner();
        steps.push(step(
            &name,
            EXCLUSIVE,
            format!("ALTER SEQUENCE {name} OWNER TO {owner}"),
        ));
    } else {
        steps.push(alter(table, &set));
        // With a file of its own, so that a rollback undoes what setval does.
        steps.push(step(
            &name,
            SHARE_ROW,
            format!("ALTER SEQUENCE {name} NO CYCLE OWNED BY NONE RESTART WITH {end}"),
        ));
    }
    steps.push(set_value(&name, end, true));
    if sequence.is_identity {
        steps.extend(grants(table, rules));
    }
    steps.push(comment(&name, Some(&record.to_text())));
    steps
}

/// Puts back what was before.
pub fn revert(
    table: &TargetTable,
    rules: &SequenceRules,
    record: &ConversionRecord,
) -> Vec<ConvertStep> {
    let column = table.quoted_column();
    let name = rules.quoted();
    let mut steps = Vec::new();
    if record.kind == CounterKind::Serial {
        let set = format!("ALTER COLUMN {column} SET DEFAULT {}", exact_default(rules));
        steps.push(alter(table, &set));
        let bare = table
            .below
            .iter()
            .filter(|below| record.is_bare(&below.schema, &below.name));
        for below in bare {
            let below = quoted(&below.schema, &below.name);
            steps.push(step(
                &below,
                EXCLUSIVE,
                format!("ALTER TABLE {below} ALTER COLUMN {column} DROP DEFAULT"),
            ));
        }
        let cycle = if record.cycle { "CYCLE" } else { "NO CYCLE" };
        let owner = if record.is_owned {
            format!(" OWNED BY {}.{column}", table.quoted())
        } else {
            String::new()
        };
        let last = record.last_value;
        steps.push(step(
            &name,
            SHARE_ROW,
            format!("ALTER SEQUENCE {name} {cycle}{owner} RESTART WITH {last}"),
        ));
    } else {
        steps.push(alter(table, &format!("ALTER COLUMN {column} DROP DEFAULT")));
        steps.push(step(
            &name,
            EXCLUSIVE,
            format!("DROP SEQUENCE {name} RESTRICT"),
        ));
        let is_always = record.kind == CounterKind::Always;
        let table_name = table.quoted();
        let add = add_identity(&table_name, &column, is_always, rules, record.cycle);
        steps.push(step(&table_name, EXCLUSIVE, add));
    }
    steps.push(set_value(&name, record.last_value, record.is_called));
    if record.kind != CounterKind::Serial {
        steps.extend(grants(table, rules));
    }
    steps.push(comment(&name, record.comment.as_deref()));
    steps
}

/// Returns the default that draws from a sequence, with the schema of each name.
fn exact_default(rules: &SequenceRules) -> String {
    let name = sql::literal(&rules.quoted());
    format!("pg_catalog.nextval({name}::pg_catalog.regclass)")
}

fn create(rules: &SequenceRules) -> String {
    let kind = if rules.persistence == "u" {
        "UNLOGGED SEQUENCE"
    } else {
        "SEQUENCE"
    };
    format!(
        "CREATE {kind} {} AS pg_catalog.{} {} NO CYCLE",
        rules.quoted(),
        data_type(rules),
        options(rules)
    )
}

/// Returns the type of a sequence by its name in the catalogs.
fn data_type(rules: &SequenceRules) -> &'static str {
    match rules.data_type.as_str() {
        "smallint" => "int2",
        "integer" => "int4",
        _ => "int8",
    }
}

/// Returns the statement that makes a column an identity again, with its sequence.
pub fn add_identity(
    table: &str,
    column: &str,
    is_always: bool,
    rules: &SequenceRules,
    cycle: bool,
) -> String {
    let kind = if is_always { "ALWAYS" } else { "BY DEFAULT" };
    let cycle = if cycle { "CYCLE" } else { "NO CYCLE" };
    format!(
        "ALTER TABLE {table} ALTER COLUMN {column} ADD GENERATED {kind} AS IDENTITY (SEQUENCE NAME {} {} {cycle})",
        rules.quoted(),
        options(rules)
    )
}

fn options(rules: &SequenceRules) -> String {
    format!(
        "INCREMENT BY {} MINVALUE {} MAXVALUE {} START WITH {} CACHE {}",
        rules.increment, rules.min, rules.max, rules.start, rules.cache
    )
}

fn set_value(name: &str, value: i64, is_called: bool) -> ConvertStep {
    let sequence = sql::literal(name);
    let command = format!(
        "SELECT pg_catalog.setval({sequence}::pg_catalog.regclass, '{value}'::pg_catalog.int8, {is_called})"
    );
    step(name, ROW, command)
}

fn comment(name: &str, text: Option<&str>) -> ConvertStep {
    let text = text.map_or_else(|| "NULL".to_owned(), sql::literal);
    step(
        name,
        SHARE_UPDATE,
        format!("COMMENT ON SEQUENCE {name} IS {text}"),
    )
}

/// Gives a new sequence the privileges of another, whatever the default privileges are.
pub fn grants(table: &TargetTable, rules: &SequenceRules) -> Vec<ConvertStep> {
    let name = &rules.quoted();
    let run = |command| step(name, SHARE_UPDATE, command);
    let name_of = |role: &Option<String>| {
        role.as_ref()
            .map_or_else(|| "PUBLIC".to_owned(), |role| sql::quoted_exactly(role))
    };
    let revoke = |role| {
        run(format!(
            "REVOKE ALL ON SEQUENCE {name} FROM {}",
            name_of(role)
        ))
    };
    let mut steps: Vec<ConvertStep> = table.default_roles.iter().map(revoke).collect();
    let Some(acl) = &rules.acl else { return steps };
    let owner = table.quoted_owner();
    steps.push(run(format!("REVOKE ALL ON SEQUENCE {name} FROM {owner}")));
    for grant in acl {
        let Some(privilege) = ["USAGE", "SELECT", "UPDATE"]
            .into_iter()
            .find(|known| grant.privilege == *known)
        else {
            continue;
        };
        let role = name_of(&grant.role);
        let option = if grant.is_grantable {
            " WITH GRANT OPTION"
        } else {
            ""
        };
        steps.push(run(format!(
            "GRANT {privilege} ON SEQUENCE {name} TO {role}{option}"
        )));
    }
    steps
}
