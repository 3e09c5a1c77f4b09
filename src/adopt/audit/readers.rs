//! Findings of expressions that read the ids of a column by another layout than that of its default: their times are wrong
//! by years, and nothing fails.

use crate::adopt::audit::Finding;
use crate::adopt::audit::subject::Subject;
use crate::pg::catalog::{function, sql};
use mint_core::{BUILTINS, Layout};
use serde::Deserialize;

/// The longest tree that is read, in bytes. Any role can create a view whose tree is longer.
const LONGEST: i32 = 200_000;

/// An index, a constraint, a generated column or a view.
#[derive(Debug, Deserialize)]
struct Reader {
    name: String,
    tree: String,
}

/// Checks the layouts of what reads a column.
pub fn check(subject: &Subject, layout: &Layout, found: &mut Vec<Finding>) {
    let (table, number) = subject.column.place();
    let query = include_str!("../../../sql/adopt/readers.sql");
    let readers: Vec<Reader> = sql::read(query, &[table.into(), number.into(), LONGEST.into()]);
    let mut others: Vec<String> = Vec::new();
    for reader in readers {
        let other = layouts(&reader.tree, number)
            .into_iter()
            .find(|read| read.key() != layout.key());
        let text = other.map(|other| format!("{} (layout {other})", reader.name));
        others.extend(text.filter(|text| !others.contains(text)));
    }
    if !others.is_empty() {
        let evidence = format!(
            "The ids are of layout {layout}, and are read by another one: {}.",
            others.join(", ")
        );
        found.push(Finding::warning("ids are read by another layout", evidence));
    }
}

/// Returns the layouts by which the functions of this extension in a tree of the catalogs read a column.
///
/// By the text of the tree, of which nothing is parsed or run: a tree of a view is that of a statement.
fn layouts(tree: &str, column: i16) -> Vec<Layout> {
    const CALL: &str = "{FUNCEXPR :funcid ";
    let calls = tree.split(CALL).skip(1);
    calls.filter_map(|call| layout(call, column)).collect()
}

/// Returns the layout of a call of which the text begins with the oid; none if it does not read the column by one.
fn layout(call: &str, column: i16) -> Option<Layout> {
    let (oid, rest) = call.split_once(' ')?;
    let function = oid.parse::<u32>().ok()?.into();
    let place = match function::name(function)?.as_str() {
        "snowflake_time" | "snowflake_shard" | "snowflake_sequence" | "snowflake_decode"
        | "snowflake_to_jsonb" | "snowflake_is_valid" | "snowflake_convert" => 1,
        "snowflake_between" => 3,
        _ => return None,
    };
    if !function::is_own(function) {
        return None;
    }
    let arguments = nodes(rest.split_once(":args (")?.1);
    let id = arguments.first()?;
    let id = id.strip_prefix("{RELABELTYPE :arg ").unwrap_or(id);
    let is_column = id.starts_with("{VAR ") && id.contains(&format!(" :varattno {column} "));
    match arguments.get(place) {
        _ if !is_column => None,
        None => Some(BUILTINS[0].layout),
        Some(given) => constant(given),
    }
}

/// Returns the nodes of a list, whose text begins after its parenthesis. Braces within names are escaped.
fn nodes(list: &str) -> Vec<&str> {
    let (mut nodes, mut depth, mut start, mut escaped) = (Vec::new(), 0_u32, 0, false);
    for (at, sign) in list.bytes().enumerate() {
        match sign {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'{' => {
                if depth == 0 {
                    start = at;
                }
                depth += 1;
            }
            b'}' if depth == 1 => {
                depth = 0;
                nodes.extend(list.get(start..=at));
            }
            b'}' => depth = depth.saturating_sub(1),
            b')' if depth == 0 => break,
            _ => {}
        }
    }
    nodes
}

/// Returns the layout that a constant is: its bytes, as signed numbers.
fn constant(node: &str) -> Option<Layout> {
    let (_, value) = node
        .starts_with("{CONST ")
        .then(|| node.split_once(":constvalue "))??;
    let (_, bytes) = value.split_once('[')?;
    let bytes = bytes.split_once(']')?.0.split_ascii_whitespace();
    let bytes: Vec<u8> = bytes
        .map(|byte| byte.parse::<i16>().ok().map(|byte| byte as u8))
        .collect::<Option<_>>()?;
    Layout::from_bytes(&bytes.try_into().ok()?).ok()
}
