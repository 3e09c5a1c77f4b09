//! The script: what is left to do, as the catalogs say.

use crate::adopt::convert::checks;
use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::checks::new_ids;
use crate::adopt::convert::checks::orphans;
use crate::adopt::convert::generator::NewDefault;
use crate::adopt::convert::online::blocks;
use crate::adopt::convert::online::build::{build, drop_constraint, exclusive};
use crate::adopt::convert::online::closure::{Closure, LinkedColumn};
use crate::adopt::convert::online::columns::{self, Direction, successor_key};
use crate::adopt::convert::online::meanings;
use crate::adopt::convert::online::notes;
use crate::adopt::convert::online::rehearsal;
use crate::adopt::convert::online::swap::{self, SwappedColumn};
use crate::adopt::convert::plan::{self, PlanRow};
use crate::adopt::convert::table::{SequenceRules, TargetTable};
use crate::adopt::mentions::Mentions;
use crate::pg::catalog::sql;
use std::collections::HashSet;

/// Bytes per microsecond that it is estimated to take to write every row.
const WRITES: i64 = 10;

/// Plans the way to bigint, and from there to the new default.
pub fn there(table: &TargetTable, closure: &Closure, generator: &NewDefault) -> Vec<PlanRow> {
    let new_default = &generator.text;
    let parts = parts(closure);
    let mut last = Vec::from_iter(checks::of_isolation());
    last.extend(checks::of_last_step(table));
    last.extend(orphans::blockers(table));
    let left = if closure.is_swapped() {
        Vec::new()
    } else {
        left(closure)
    };
    // The swap asks for the plan, as only it does with the table locked: it compares what it has created, and clients wait.
    let is_ready = !closure.is_swapped() && left.is_empty() && table.is_locked();
    let before = if closure.is_swapped() {
        Vec::new()
    } else {
        obstacles(table, closure, &parts, is_ready)
    };
    // What reads the tables comes last: they can have what another role has written.
    if last.is_empty() && before.is_empty() {
        last.extend(checks::of_generator(table, generator));
        // What cannot be parsed with a bigint cannot be evaluated for one.
        if last.is_empty() && !is_ready {
            last.extend(of_new_ids(table, &parts, generator));
        }
    }
    let mut blockers = plan::blocked(&last);
    if closure.is_swapped() {
        if !blockers.is_empty() {
            return blockers;
        }
        let mut rows = vec![PlanRow::says(
            "check",
            "The swap is done. Until the cleanup, mint.convert_plan() with a new default of NULL prints the way back.",
        )];
        rows.extend(cleanup(closure, &parts));
        rows.push(to_default(table, new_default));
        return rows;
    }
    blockers.splice(..0, before);
    // What is of the tables is of the last step as well.
    let mut said = HashSet::new();
    blockers.retain(|row| said.insert(row.note.clone()));
    if !blockers.is_empty() {
        return blockers;
    }
    let mut rows = notes::of(closure);
    rows.extend(plan::checked(notes::timeouts()));
    if !is_ready {
        rows.extend(warnings(table, closure, &parts, generator));
    }
    rows.extend(left);
    rows.push(swapping(
        closure,
        &parts,
        Direction::There,
        &plan_of(table, &sql::literal(new_default)),
    ));
    rows.extend(cleanup(closure, &parts));
    rows.push(to_default(table, new_default));
    rows
}

/// Returns what to know of functions and views that have the columns, before the first step.
fn warnings(
    table: &TargetTable,
    closure: &Closure,
    parts: &[SwappedColumn<'_>],
    generator: &NewDefault,
) -> Vec<PlanRow> {
    let mut rows = Vec::new();
    let found = Mentions::find(table.relations(), table.sequence_oids());
    rows.extend(plan::checked(plan::mentions(&found)));
    rows.extend(plan::checked(rehearsal::changed_types(closure, table)));
    let floor = generator.floor(table);
    let doubts = parts
        .iter()
        .flat_map(|(_, part)| new_ids::doubts(part, floor));
    rows.extend(plan::checked(doubts));
    rows.extend(plan::checked(new_ids::unshown(table, floor)));
    rows.extend(plan::checked(new_ids::borrowed(table)));
    rows
}

/// Returns the steps before the swap that are left.
fn left(closure: &Closure) -> Vec<PlanRow> {
    let mut left = Vec::new();
    for member in closure.changed() {
        left.extend(prepare(member));
    }
    let unfilled = closure
        .changed()
        .filter(|member| member.filled != Some(true));
    left.extend(unfilled.map(backfill));
    build(closure, Direction::There, &mut left);
    left
}

/// Returns what prevents new ids in the columns, and in views of them.
fn of_new_ids(
    table: &TargetTable,
    parts: &[SwappedColumn<'_>],
    generator: &NewDefault,
) -> Option<Blocker> {
    let floor = generator.floor(table);
    let own = (table.oid, table.column().number);
    let mut others = parts
        .iter()
        .filter(|(member, _)| (member.relation, member.number) != own);
    new_ids::meet(table, floor)
        .or_else(|| others.find_map(|(_, part)| new_ids::fit(part, floor)))
        .or_else(|| new_ids::show(table, floor))
        .or_else(|| new_ids::try_out(table, generator))
}

/// Plans the way back: to the columns of before, or only without the shadows if there was no swap yet.
pub fn back(table: &TargetTable, closure: &Closure) -> Vec<PlanRow> {
    let parts = parts(closure);
    if !closure.is_swapped() {
        return abandon(table, closure);
    }
    let mut left = Vec::new();
    build(closure, Direction::Back, &mut left);
    let mut blockers = obstacles(table, closure, &parts, left.is_empty() && table.is_locked());
    if blockers.is_empty() {
        blockers.extend(plan::blocked(&Vec::from_iter(too_large(&parts))));
    }
    if !blockers.is_empty() {
        return blockers;
    }
    let mut rows = vec![PlanRow::says(
        "check",
        "Ids beyond the type of before have no way back: the check of the filled column fails on them.",
    )];
    rows.extend(plan::checked(casts(closure)));
    rows.extend(left);
    rows.push(swapping(
        closure,
        &parts,
        Direction::Back,
        &plan_of(table, "NULL"),
    ));
    rows.push(PlanRow::says("cleanup", "After the swap, run mint.convert_plan() with a new default of NULL again: it prints what drops the shadows."));
    rows
}

/// Checks that the columns of before can hold all values: the first step of the way back refuses others from then on, and the
/// next one would fail on them.
fn too_large(parts: &[SwappedColumn<'_>]) -> Option<Blocker> {
    let mut unproved = parts
        .iter()
        .filter(|(member, _)| member.filled != Some(true));
    unproved.find_map(|(member, of)| {
        let kind = member.old_type.as_deref()?;
        let (least, most) = columns::range(kind);
        let ask = |which: &str, order: &str, limit: i64| {
            let column = member.quoted_name();
            of.access().ask::<i64>(&[], |name| {
                format!("SELECT pg_catalog.{which}({column})::pg_catalog.int8 FROM {name} HAVING pg_catalog.{which}({column}) OPERATOR(pg_catalog.{order}) {limit}::pg_catalog.int8")
            })
        };
        let value = ask("max", ">", most).or_else(|| ask("min", "<", least))?;
        Some(Blocker::state(
            format!("{} has values that are out of the range of type {kind}", of.what()),
            format!("One of them is {value}."),
            "Delete these rows, or stay with bigint: the cleanup of the way there ends the way back.",
        ))
    })
}

/// Returns what to know of texts with casts to bigint: those that came with the columns stay.
fn casts(closure: &Closure) -> Option<String> {
    let indexes = closure.indexes.iter().map(|index| {
        let texts =
            [&index.expressions, &index.predicate].map(|text| text.as_deref().unwrap_or_default());
        (format!("index {}", index.quoted()), texts.concat())
    });
    let checks = closure.checks.iter().map(|check| {
        let name = meanings::constraint(closure.table(check.relation), &check.name);
        (name, check.text.clone())
    });
    let others = closure.recreated.iter();
    let others = others.map(|one| (one.name.clone(), one.text.clone().unwrap_or_default()));
    let all = indexes.chain(checks).chain(others);
    let cast = all.filter(|(_, text)| text.contains("::bigint"));
    let names: Vec<String> = cast.map(|(name, _)| name).collect();
    (!names.is_empty()).then(|| {
        format!("These have casts to bigint, which can be of the way there, and keep them: {}. Create them again after the way back to have them as they were.", names.join(", "))
    })
}

fn parts(closure: &Closure) -> Vec<SwappedColumn<'_>> {
    let part = |member| {
        (
            member,
            TargetTable::find(LinkedColumn::oid(member), &member.name),
        )
    };
    closure.changed().map(part).collect()
}

fn obstacles(
    table: &TargetTable,
    closure: &Closure,
    parts: &[SwappedColumn<'_>],
    is_ready: bool,
) -> Vec<PlanRow> {
    let mut found = orphans::blockers(table);
    found.extend(closure.blockers(table, is_ready));
    for (_, part) in parts {
        found.extend(checks::of_row_security(part));
        found.extend(checks::of_sequences(part));
    }
    plan::blocked(&found)
}

/// Returns the step that fills a shadow, which writes the whole table.
fn backfill(member: &LinkedColumn) -> PlanRow {
    let row = PlanRow::runs("backfill", blocks::backfill(member))
        .locking(&member.quoted_table(), "ROW EXCLUSIVE");
    PlanRow {
        rewrites: true,
        ..row.taking(member.bytes, WRITES)
    }
}

/// Returns the step that makes the shadow and its trigger together: a column without the trigger is not a shadow.
fn prepare(member: &LinkedColumn) -> Option<PlanRow> {
    let table = member.quoted_table();
    let statements = if member.new_type.is_none() {
        let shadow = member.new_name();
        let mut statements = vec![format!(
            "ALTER TABLE {table} ADD COLUMN {shadow} pg_catalog.int8"
        )];
        statements.extend(copying(member));
        statements
    } else if !member.has_trigger() {
        copying(member)
    } else if !member.is_copied {
        vec![columns::enable(member)]
    } else {
        return None;
    };
    let command = blocks::retried(
        &member.quoted_owner(),
        columns::EXCLUSIVE,
        &[&table],
        &statements,
    );
    Some(
        exclusive("prepare", &table, command)
            .noting("From now on each row that is written has its shadow."),
    )
}

fn copying(member: &LinkedColumn) -> Vec<String> {
    let function = columns::function(member, Direction::Back);
    function
        .into_iter()
        .chain(columns::trigger(member))
        .collect()
}

/// Returns the call that returns this plan.
fn plan_of(table: &TargetTable, new_default: &str) -> String {
    let [name, column] = [&table.quoted(), &table.column().name].map(|text| sql::literal(text));
    format!(
        "mint.convert_plan({name}::pg_catalog.regclass, {column}::pg_catalog.text, {new_default}::pg_catalog.text)"
    )
}

fn swapping(closure: &Closure, parts: &[SwappedColumn<'_>], way: Direction, plan: &str) -> PlanRow {
    exclusive(
        "swap",
        &swap::tables(closure).join(", "),
        swap::swap(closure, parts, way, plan),
    )
    .noting("One transaction, which takes its locks at once or lets go of them and tries again.")
}

/// Returns the steps that end the way back.
fn cleanup(closure: &Closure, parts: &[SwappedColumn<'_>]) -> Option<PlanRow> {
    let mut widened = Vec::new();
    for (_, of) in parts {
        let sequences = of.sequences.iter();
        let sequences = sequences.filter(|sequence| sequence.is_owned || sequence.is_identity);
        widened.extend(sequences.filter_map(|sequence| widen(&sequence.rules)));
    }
    let kept = |member| (member, Direction::There.kept(member));
    let kept = parts.iter().map(|(member, _)| kept(member));
    // Before the swap, the successors are those that it gives their names.
    let is_begun = closure.is_swapped();
    drop_shadows(closure, kept.collect(), is_begun, &widened)
}

/// Returns the statement that gives a sequence the type of the column that draws from it.
fn widen(rules: &SequenceRules) -> Option<String> {
    let is_narrow = [i64::from(i16::MAX), i64::from(i32::MAX)].contains(&rules.max);
    let (name, most) = (rules.quoted(), i64::MAX);
    is_narrow.then(|| format!("ALTER SEQUENCE {name} AS pg_catalog.int8 MAXVALUE {most}"))
}

/// Returns the step that drops shadows, with the constraints that a way has begun with, after other statements: all at once, as a way
/// back for some of the columns is none, and one with a sequence of another type is not the way to what was before.
fn drop_shadows(
    closure: &Closure,
    shadows: Vec<(&LinkedColumn, String)>,
    is_begun: bool,
    first: &[String],
) -> Option<PlanRow> {
    let there = shadows
        .iter()
        .map(|(member, shadow)| blocks::refuse_undone(member, shadow));
    let mut drop = Vec::from_iter(there);
    drop.extend_from_slice(first);
    if is_begun {
        let keys = closure.keys.iter().filter(|key| key.built.is_some());
        let keys = keys.map(|key| (key.relation, successor_key(key)));
        let stale = closure.stale_constraints.iter();
        let all = keys.chain(stale.map(|one| (one.relation, one.name.clone())));
        drop.extend(all.map(|(table, name)| drop_constraint(closure.table(table), &name)));
    }
    for (member, shadow) in &shadows {
        let table = member.quoted_table();
        drop.push(format!(
            "DROP TRIGGER IF EXISTS {} ON {table}",
            member.trigger()
        ));
        drop.push(format!("DROP FUNCTION IF EXISTS {}()", member.function()));
        drop.push(format!("ALTER TABLE {table} DROP COLUMN {shadow}"));
    }
    let (owner, tables) = (closure.quoted_owner(), swap::tables(closure));
    let command = blocks::retried(&owner, columns::EXCLUSIVE, &tables, &drop);
    let row = exclusive("cleanup", &tables.join(", "), command);
    (!drop.is_empty()).then(|| row.noting("There is no way back afterwards."))
}

/// Drops shadows before any swap.
fn abandon(table: &TargetTable, closure: &Closure) -> Vec<PlanRow> {
    let blockers = plan::blocked(&orphans::blockers(table));
    if !blockers.is_empty() {
        return blockers;
    }
    let shadows = closure.changed().filter(|member| member.new_type.is_some());
    let shadows = shadows.map(|member| (member, member.new_name()));
    let nothing = "Nothing has been begun: there is nothing to take back.";
    let drop = drop_shadows(closure, shadows.collect(), true, &[]);
    vec![drop.unwrap_or_else(|| PlanRow::says("check", nothing))]
}

/// Returns the last step, which makes the generator the default as for a column of type bigint.
fn to_default(table: &TargetTable, new_default: &str) -> PlanRow {
    let [name, column, default] =
        [&table.quoted(), &table.column().name, new_default].map(sql::literal);
    exclusive(
        "default",
        &table.quoted(),
        // Waits half a second for each lock, as the rest of the script does.
        format!("SELECT mint.convert({name}, {column}, {default}, '500 ms', 20)"),
    )
    .noting("mint.convert_revert() reverts it.")
}
