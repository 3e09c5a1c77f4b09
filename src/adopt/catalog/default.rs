//! What the default of a column generates.

use crate::pg::catalog::expression::{Argument, stored_call};
use crate::pg::catalog::function;
use mint_core::Layout;
use mint_core::family::{Family, Stored, of_generator};
use pgrx::pg_sys;
use serde::Deserialize;

/// The longest default that is read, in bytes of its tree: that of a generator has some hundred. The owner of a table can
/// write one of 1 GB.
pub const LONGEST: i32 = 32_768;

/// A default as the catalogs have it.
#[derive(Debug, Clone, Deserialize)]
pub struct StoredDefault {
    pub text: String,
    tree: String,
}

/// The ids that a function generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdKind {
    /// Values of a sequence.
    Sequence,
    /// 64-bit ids of a layout.
    Snowflake,
    /// UUIDs of a version.
    Uuid(u8),
    /// Ids of another family, by its name.
    Other(&'static str),
}

/// A function that generates ids.
#[derive(Debug, Clone, Copy)]
pub struct Generator {
    pub kind: IdKind,
    /// The family, of a function of this extension.
    own: Option<&'static Family>,
    /// The place of the layout among the arguments.
    layout: usize,
    /// The place of the shard, if it takes one.
    shard: Option<usize>,
}

/// What a default generates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Generated {
    pub kind: IdKind,
    /// Of snowflakes, if the default does not compute it.
    pub layout: Option<Layout>,
    /// Of snowflakes, if the default says it.
    pub shard: Option<i64>,
    /// Whether it passes no shard, so that the server's own node is used.
    pub is_of_node: bool,
}

impl StoredDefault {
    /// Returns what the default generates.
    pub fn generated(&self) -> Option<Generated> {
        Generated::of_tree(&self.tree)
    }

    /// Returns whether it is one call of a volatile function of a user, which can be a generator in a wrapper.
    pub fn is_wrapped(&self) -> bool {
        stored_call(&self.tree, |called| {
            function::is_of_user(called).then_some(())
        })
        .is_some()
    }
}

impl Generated {
    /// Returns what a default generates, by its tree in the catalogs; none if it is something else than one call of a generator.
    pub fn of_tree(tree: &str) -> Option<Self> {
        let (generator, arguments) = stored_call(tree, Generator::find)?;
        let passed = generator.shard.and_then(|place| arguments.get(place));
        let shard = passed.and_then(|shard| shard.constant.as_deref());
        Some(Self {
            kind: generator.kind,
            layout: generator.layout(&arguments).and_then(Result::ok),
            shard: shard.and_then(|text| text.parse().ok()),
            is_of_node: generator.kind == IdKind::Snowflake && passed.is_none(),
        })
    }
}

/// Returns the call that generates ids of the same layout as a default without its shard: of the server's own node.
pub fn without_shard(default: &str, layout: &Layout) -> String {
    match default.contains("snowflake_next_in(") {
        true => format!("snowflake_next_own_in(modulus, remainder, '{layout}')"),
        false => format!("snowflake_next('{layout}')"),
    }
}

impl Generator {
    /// Returns the generator that a function is: one of this extension, of the server or of another known extension.
    pub fn find(function: pg_sys::Oid) -> Option<Self> {
        let name = function::name(function)?;
        let extension = function::extension_name(function);
        let own = of_generator(&name).filter(|_| function::is_own(function));
        let kind = match (own, extension.as_deref()) {
            (Some(family), _) => match family.name {
                "snowflake" => IdKind::Snowflake,
                "integer" => IdKind::Sequence,
                "uuid" => IdKind::Uuid(version_of(&name)?),
                other => IdKind::Other(other),
            },
            (None, None) => {
                let is_of_server =
                    function::schema(function).to_u32() == pg_sys::PG_CATALOG_NAMESPACE;
                of_server(&name).filter(|_| is_of_server)?
            }
            (None, Some("uuid-ossp" | "pgcrypto" | "pg_uuidv7")) if function::is_in_c(function) => {
                of_extension(&name)?
            }
            (None, Some(_)) => return None,
        };
        let (shard, layout) = match name.as_str() {
            "snowflake_next_id" => (Some(0), 1),
            "snowflake_next_in" => (Some(0), 3),
            "snowflake_next_own_in" => (None, 2),
            _ => (None, 0),
        };
        Some(Self {
            kind,
            own,
            layout,
            shard,
        })
    }

    /// Returns whether a column of type bigint or uuid can have it in place of a counter: it is of this extension.
    pub fn replaces_counters(&self) -> bool {
        self.own.is_some_and(|family| family.stored != Stored::Text)
    }

    /// Returns the layout of a call, by default the built-in one; none if it is computed, or there is none. An inner error is a
    /// text that is not a layout.
    pub fn layout(&self, arguments: &[Argument]) -> Option<Result<Layout, String>> {
        if self.kind != IdKind::Snowflake {
            return None;
        }
        let given = arguments.get(self.layout);
        let text = given.map_or(Some("instagram"), |given| given.constant.as_deref())?;
        Some(text.parse().map_err(|_| text.to_owned()))
    }
}

/// Returns the version in the name of a function of this extension, such as uuid_v7_in.
fn version_of(function: &str) -> Option<u8> {
    let version = function.strip_prefix("uuid_v")?;
    version.split('_').next()?.parse().ok()
}

fn of_server(function: &str) -> Option<IdKind> {
    match function {
        "nextval" => Some(IdKind::Sequence),
        "gen_random_uuid" | "uuidv4" => Some(IdKind::Uuid(4)),
        "uuidv7" => Some(IdKind::Uuid(7)),
        _ => None,
    }
}

fn of_extension(function: &str) -> Option<IdKind> {
    match function {
        "uuid_generate_v1" | "uuid_generate_v1mc" => Some(IdKind::Uuid(1)),
        "uuid_generate_v4" | "gen_random_uuid" => Some(IdKind::Uuid(4)),
        "uuid_generate_v7" => Some(IdKind::Uuid(7)),
        _ => None,
    }
}
