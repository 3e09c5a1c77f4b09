//! The audit as an SQL function.

use crate::adopt::audit::Finding;
use crate::adopt::audit::subject::Subject;
use crate::adopt::audit::{counters, duplicates, generated, readers, references, times};
use crate::adopt::catalog::default::{Generated, IdKind};
use crate::pg::datum::regclass::Regclass;
use crate::pg::datum::text::DecodedText;
use crate::pg::error::required;
use crate::pg::machine::clock;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::Layout;
use mint_core::adopt::evidence::{Numbers, of_numbers};
use pgrx::prelude::*;

/// Returns what is wrong, or about to go wrong, with the ids of a column: the worst first, each with the numbers that show it,
/// and with the statement that corrects it where there is a safe one. Nothing is changed.
///
/// - **Sampling**: of a large table about 10,000 rows of 1,000 blocks are read, and a finding says so. The largest id is that
///   of an index.
/// - **Layout**: the given one, or else that of the default, or else the one that the ids look like.
#[pg_extern(sql = false)]
fn audit(
    relation: Option<Regclass>,
    column_name: Option<DecodedText>,
    layout: Option<SnowflakeLayout>,
) -> TableIterator<
    'static,
    (
        name!(severity, &'static str),
        name!(finding, &'static str),
        name!(evidence, DecodedText),
        name!(command, Option<DecodedText>),
    ),
> {
    let table = required(relation, "relation").0;
    let column = required(column_name, "column_name").0;
    let given = layout.map(|layout| *layout.layout());
    let subject = Subject::read(table, &column);
    let mut found = findings(&subject, given);
    found.sort_by_key(|finding| finding.severity);
    TableIterator::new(found.into_iter().map(|finding| {
        (
            finding.severity.name(),
            finding.finding,
            DecodedText(finding.evidence),
            finding.command.map(DecodedText),
        )
    }))
}

fn findings(subject: &Subject, given: Option<Layout>) -> Vec<Finding> {
    let mut found = Vec::new();
    generated::check(subject, given.as_ref(), &mut found);
    references::check(subject, &mut found);
    if let Some(source) = &subject.column.source {
        counters::check(subject, source, &mut found);
    }
    counters::check_mentions(subject, &mut found);
    match subject.column.base_type {
        pg_sys::INT8OID => {
            if let Some(layout) = layout_of(subject, given) {
                generated::check_end(&layout, &mut found);
                if given.is_some() || subject.generated.is_some() {
                    readers::check(subject, &layout, &mut found);
                }
                times::check_snowflakes(subject, &layout, &mut found);
            }
        }
        pg_sys::UUIDOID => times::check_uuids(subject, &mut found),
        other if other == subject.home.objectid => times::check_objectids(subject, &mut found),
        _ => {}
    }
    duplicates::check(subject, &mut found);
    if let Some(why) = subject.ids.unread {
        let evidence = format!("No ids were read, or not all: {why}.");
        found.push(Finding::info("ids were not read", evidence));
    } else if !subject.ids.is_whole {
        let of = subject.ids.rows.filter(|&rows| rows > 0.0);
        let of = of.map_or_else(String::new, |rows| format!(" of about {rows:.0} rows"));
        let evidence = format!("{} ids{of} were read.", subject.ids.values.len());
        found.push(Finding::info("ids were sampled", evidence));
    }
    found
}

/// Returns the layout of a bigint: the given one, that of the default, or that of which the ids look; none of a counter.
fn layout_of(subject: &Subject, given: Option<Layout>) -> Option<Layout> {
    let made = match &subject.generated {
        Some(Generated {
            kind: IdKind::Snowflake,
            layout,
            ..
        }) => *layout,
        Some(_) => return given,
        None => None,
    };
    given
        .or(made)
        .or_else(|| match of_numbers(&subject.numbers(), clock::now()) {
            Some(Numbers::Snowflake(layout)) => Some(*layout),
            _ => None,
        })
}
