//! The plan: every statement of a conversion in order, and what is to be known before.

use crate::adopt::convert::checks;
use crate::adopt::convert::checks::Blocker;
use crate::adopt::convert::generator::{Floor, NewDefault};
use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::online::script;
use crate::adopt::convert::record;
use crate::adopt::convert::record::Record;
use crate::adopt::convert::row::Row;
use crate::adopt::convert::run;
use crate::adopt::convert::steps;
use crate::adopt::convert::table::Table;
use crate::pg::catalog::sql;

/// Plans a conversion, or without a new default the way back. Nothing is changed, and no id is minted.
pub fn plan(table: &Table, new_default: Option<&str>) -> Vec<Row> {
    let closure = Closure::of(table);
    let Some(new_default) = new_default else {
        return if closure.is_needed() {
            script::back(table, &closure)
        } else {
            revert(table)
        };
    };
    if let Some(blocker) = checks::of_type(table) {
        return vec![Row::says("check", blocker.note())];
    }
    let generator = NewDefault::parse(new_default, table);
    if closure.is_needed() {
        return script::there(table, &closure, &generator.text);
    }
    if run::is_converted(table, &generator) {
        return vec![Row::says(
            "check",
            "The column is converted already: there is nothing to do.".to_owned(),
        )];
    }
    let mut found = checks::blockers(table);
    found.extend(checks::draws_from_itself(table, &generator));
    if found.is_empty() {
        found.extend(blocking_ids(table, &generator));
    }
    let record = found.is_empty().then(|| Record::of(table)).flatten();
    found.extend(checks::too_long(table, record.as_ref()));
    if !found.is_empty() {
        return found
            .iter()
            .map(|blocker| Row::says("check", blocker.note()))
            .collect();
    }
    let notes = checks::notes(table);
    let mut rows: Vec<Row> = notes
        .into_iter()
        .map(|note| Row::says("check", note))
        .collect();
    rows.extend(statements(table, &generator, record.as_ref()));
    rows
}

/// The way back of a column that is no integer.
fn revert(table: &Table) -> Vec<Row> {
    if record::find(table).is_none() {
        return vec![Row::says(
            "check",
            "The column has no record of a conversion: see mint.conversions.".to_owned(),
        )];
    }
    let name = table.quoted();
    let [literal, column] = [&name, &table.column().name].map(|text| sql::literal(text));
    let call = format!("SELECT mint.convert_revert({literal}, {column})");
    vec![Row::runs("swap", call).locking(&name, "ACCESS EXCLUSIVE")]
}

/// Whether ids of the table are at or above the smallest new one, as far as that is known without minting.
fn blocking_ids(table: &Table, generator: &NewDefault) -> Option<Blocker> {
    match generator.floor(table) {
        Floor::Any | Floor::Unknown => None,
        floor => checks::meets(table, floor).or_else(|| checks::refuses(table, floor)),
    }
}

fn statements(table: &Table, generator: &NewDefault, record: Option<&Record>) -> Vec<Row> {
    let name = table.quoted();
    let [literal, column, text] =
        [&name, &table.column().name, &generator.text].map(|text| sql::literal(text));
    let call = format!("SELECT mint.convert({literal}, {column}, {text})");
    let mut rows = vec![
        Row::runs("swap", "BEGIN".to_owned()).noting(&format!("In place of all that follows: {call}. It checks the ids under the lock, and tries again for a lock that it does not get.")),
        Row::runs("swap", format!("LOCK TABLE {name} IN SHARE UPDATE EXCLUSIVE MODE"))
            .locking(&name, "SHARE UPDATE EXCLUSIVE")
            .noting("Waits for a vacuum of the table, and nobody waits behind it. Autovacuum gives way after deadlock_timeout."),
        Row::runs("swap", "SET LOCAL lock_timeout TO '1s'".to_owned()),
        Row::runs("swap", format!("LOCK TABLE {name} IN ACCESS EXCLUSIVE MODE"))
            .locking(&name, "ACCESS EXCLUSIVE")
            .noting("Waits for transactions that use the table, and others wait behind it."),
    ];
    let steps = steps::convert(table, &generator.text, record);
    rows.extend(
        steps
            .into_iter()
            .map(|step| Row::runs("swap", step.command).locking(&step.object, step.lock)),
    );
    rows.push(Row::runs("swap", "COMMIT".to_owned()));
    rows
}
