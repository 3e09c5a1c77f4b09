//! The texts that later steps create again, parsed with the columns as bigint: what could only fail in the last step is refused
//! in the first one, and what would not mean the same.

use crate::adopt::convert::checks::blocker::Blocker;
use crate::adopt::convert::online::closure::Closure;
use crate::adopt::convert::online::meanings;
use crate::adopt::convert::recreated::Relation;
use crate::adopt::convert::rows::Rows;
use crate::adopt::convert::table::TargetTable;
use crate::adopt::convert::views::{self, Query};
use crate::pg::backend::transaction;
use crate::pg::catalog::access::Owned;
use crate::pg::catalog::{relation, sql};
use pgrx::PgSqlErrorCode as Code;

/// What the names of texts that were parsed begin with.
const PARSED: &str = "parsed ";

/// What was parsed.
#[derive(Default)]
struct Rehearsal {
    found: Vec<Blocker>,
    /// Names of texts with their trees.
    trees: Vec<(String, String)>,
    /// Names of texts that lose casts to bigint.
    casting: Vec<String>,
    /// Views that cannot be parsed with what stands in for the tables.
    unclear: Vec<(String, Unclear)>,
}

/// Why a text can only be compared in the swap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unclear {
    /// It groups by a primary key; the types fit, which the parser looks at before.
    Grouped,
    /// It reads a view that does.
    OnGrouped,
    /// It has what stands in for the tables lacks, as system columns.
    Other,
    Rule,
}

/// Returns the texts that cannot be parsed or mean something else, with the rights of the owner of the table. None of them is
/// run.
pub fn blockers(closure: &Closure, table: &TargetTable) -> Vec<Blocker> {
    let rows = Rows::of(&closure.places());
    let access = table.access();
    let mut rehearsal = Rehearsal::default();
    for query in of_tables(closure, &rows) {
        rehearsal.parse(&query, access);
    }
    let tables = tables(closure);
    views::queries(tables.into_iter(), &closure.recreated, &rows, |query| {
        rehearsal.parse(query, access)
    });
    let all = meanings::read(closure, &rehearsal.trees);
    let mut found = rehearsal.found;
    let changed = all.iter().filter_map(|(name, parsed)| {
        let name = name.strip_prefix(PARSED)?;
        (all.get(name) != Some(parsed)).then(|| {
            let blocker = Blocker::state(
                format!("{name} would not mean the same when it is created again"),
                "Texts have no operators of other schemas where the server prints none, as in JOIN USING and in CASE, calls find functions by types that others can fit better, and a type can print a constant that it reads as another.",
                "Drop it, and create it again after the swap.",
            );
            blocker.unsupported()
        })
    });
    found.extend(changed);
    let casting = rehearsal.casting.iter();
    let casting = casting.filter(|name| meanings::has_casts(&all, name));
    found.extend(casting.map(|name| of_cast(name)));
    let rules = all.keys().filter(|name| name.starts_with("rule "));
    let rules = rules.map(|name| (name.clone(), Unclear::Rule));
    let unclear = rehearsal.unclear.into_iter().chain(rules);
    let refused = unclear.filter(|(name, why)| {
        let calls = all.get(name).into_iter().flatten();
        let mut calls = calls.filter(|call| !meanings::is_constant(call));
        let has_casts = meanings::has_casts(&all, name);
        has_casts
            || calls.any(|call| match why {
                // Functions have their names in the text, and fit.
                Unclear::Grouped => {
                    meanings::is_other(call) && call.starts_with("operator ")
                        || call == "function sum (bigint)"
                        || meanings::has_own_type(call)
                }
                Unclear::OnGrouped | Unclear::Other | Unclear::Rule => !meanings::is_plain(call),
            })
    });
    found.extend(refused.map(|(name, why)| why.blocker(&name)));
    found
}

/// Returns the blocker of a cast that is lost: the way back reads what the server prints of the way there.
fn of_cast(name: &str) -> Blocker {
    let blocker = Blocker::state(
        format!("{name} has a cast to bigint that the way back would lose"),
        "It is not there any more where the column is a bigint.",
        "Drop it, and create it again after the swap.",
    );
    blocker.unsupported()
}

impl Unclear {
    /// Returns the blocker of a text that the swap would refuse if it called others then.
    fn blocker(self, name: &str) -> Blocker {
        let (why, instead) = match self {
            Self::Grouped => (
                "It groups by a primary key, which only its tables have.",
                "List all of its columns in GROUP BY",
            ),
            Self::OnGrouped => (
                "It reads a view that groups by a primary key.",
                "List all columns in the GROUP BY of that view",
            ),
            Self::Other => (
                "It has more of its tables than their columns, as ctid, or a name that is not only theirs.",
                "Write it without that",
            ),
            Self::Rule => (
                "The actions of a rule cannot be parsed for a bigint before.",
                "Use a trigger INSTEAD OF in its place",
            ),
        };
        let blocker = Blocker::state(
            format!("what {name} calls could only be compared in the swap"),
            why,
            format!("{instead}, or drop it and create it again after the swap."),
        );
        blocker.unsupported()
    }
}

/// Returns the columns of views that become of another type, but for integers.
pub fn changed_types(closure: &Closure, table: &TargetTable) -> Vec<String> {
    let rows = Rows::of(&closure.places());
    let tables = tables(closure);
    let mut found = Vec::new();
    views::queries(tables.into_iter(), &closure.recreated, &rows, |query| {
        let Ok(Ok(tree)) = transaction::caught(|| table.access().parse(&query.text)) else {
            return false;
        };
        let view = closure.recreated.iter().find(|one| one.name == query.name);
        let columns = view.into_iter().flat_map(|view| &view.columns);
        for ((name, was), becomes) in columns.zip(types_of(&tree)) {
            let [was, becomes] = [*was, becomes].map(|of| relation::name_of_type(of.into()));
            let is_wider = [("bigint", "integer"), ("bigint", "smallint")]
                .iter()
                .any(|(wide, narrow)| becomes == was.replace(narrow, wide));
            if was != becomes && !is_wider {
                found.push(format!("warning: column \"{name}\" of {} becomes {becomes}, and was {was}: programs and functions that read it get another type.", query.name));
            }
        }
        true
    });
    found
}

/// Returns the types of the columns that a query returns, all of which are of a subquery, by its tree.
fn types_of(tree: &str) -> impl Iterator<Item = u32> {
    // Lists of subqueries come before its own.
    let list = tree.rsplit(":targetList ").next().unwrap_or_default();
    let types = list.split(":vartype ").skip(1);
    types.filter_map(|rest| rest.split(' ').next()?.parse().ok())
}

/// Returns the tables of the script.
fn tables(closure: &Closure) -> Vec<Relation> {
    let tables = closure.changed().map(|member| {
        let [schema, name] = [&member.schema, &member.table].map(|name| sql::quoted_exactly(name));
        (member.relation, schema, name)
    });
    tables.collect()
}

impl Rehearsal {
    /// Parses a query. Returns whether its text means something.
    fn parse(&mut self, query: &Query, access: Owned) -> bool {
        let Query {
            name, rest, text, ..
        } = query;
        if query.is_ambiguous {
            self.unclear.push((name.clone(), Unclear::Other));
            return false;
        }
        let mut unclear = self.unclear.iter();
        if unclear.any(|(view, _)| views::often(text, view.trim_start_matches("view ")) > 0) {
            self.unclear.push((name.clone(), Unclear::OnGrouped));
            return false;
        }
        let parsed = transaction::caught(|| Ok((access.parse(rest)?, access.parse(text)?)));
        let error = match parsed {
            Ok(Err(foreign)) => {
                self.found.push(Blocker::foreign(name, foreign));
                return false;
            }
            Ok(Ok((rest_tree, tree))) => {
                if meanings::lost_casts(text, &tree) > meanings::lost_casts(rest, &rest_tree) {
                    self.casting.push(name.clone());
                }
                self.trees.push((name.clone(), rest_tree));
                self.trees.push((format!("{PARSED}{name}"), tree));
                return true;
            }
            Err(error) => error,
        };
        // The types do not fit. What stands in for the tables lacks their keys, which allow more in GROUP BY.
        let types = [
            Code::ERRCODE_UNDEFINED_FUNCTION,
            Code::ERRCODE_AMBIGUOUS_FUNCTION,
            Code::ERRCODE_DATATYPE_MISMATCH,
            Code::ERRCODE_CANNOT_COERCE,
        ];
        let code = transaction::code(&error);
        if code == Some(Code::ERRCODE_GROUPING_ERROR) {
            self.unclear.push((name.clone(), Unclear::Grouped));
        } else if code.is_none_or(|code| !types.contains(&code)) {
            // The types of both parts of a recursive query have to be the same.
            if text.contains("WITH RECURSIVE ") {
                self.found.push(Unclear::Other.blocker(name));
            }
            self.unclear.push((name.clone(), Unclear::Other));
        } else {
            let blocker = Blocker::state(
                format!("{name} cannot be created with a bigint"),
                format!("The error is: {}.", transaction::message(&error)),
                "Drop it, and create it again after the swap.",
            );
            self.found.push(blocker.unsupported());
        }
        false
    }
}

/// Returns checks, and the expressions of indexes, triggers and statistics.
fn of_tables(closure: &Closure, rows: &Rows) -> Vec<Query> {
    let query = |relation: u32, name: String, text: &str, names: &[String]| {
        let row = rows.query(relation)?;
        let from = names.iter().map(|name| format!("({row}) AS {name}"));
        let rest = format!(" FROM {}", from.collect::<Vec<_>>().join(", "));
        Some(Query {
            name,
            text: format!("SELECT {text}{rest}"),
            rest: format!("SELECT{rest}"),
            parts: 1,
            is_ambiguous: false,
        })
    };
    let own = |relation: u32| {
        let mut all = closure.columns.iter();
        let member = all.find(|member| member.relation == relation);
        member.map(|member| sql::quoted_exactly(&member.table))
    };
    let checks = closure.checks.iter().filter_map(|check| {
        let name = meanings::constraint(closure.table(check.relation), &check.name);
        query(check.relation, name, &check.text, &[own(check.relation)?])
    });
    let indexes = closure.indexes.iter().filter_map(|index| {
        let texts = [&index.expressions, &index.predicate].into_iter().flatten();
        let texts: Vec<&str> = texts.map(String::as_str).collect();
        if texts.is_empty() {
            return None;
        }
        let name = meanings::index(closure.table(index.relation), &index.name);
        query(
            index.relation,
            name,
            &texts.join(", "),
            &[own(index.relation)?],
        )
    });
    let others = closure.recreated.iter().filter_map(|one| {
        let relation = one.relation?;
        let names = if one.name.starts_with("trigger ") {
            vec!["old".to_owned(), "new".to_owned()]
        } else {
            vec![own(relation)?]
        };
        query(relation, one.name.clone(), one.text.as_deref()?, &names)
    });
    checks.chain(indexes).chain(others).collect()
}
