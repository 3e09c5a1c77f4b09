//! What a column's default generates.

use crate::pg::catalog::spi::Row;
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use mint_core::Layout;
use mint_core::adopt::call::{Call, literal};
use mint_core::family::{Family, of_generator};
use pgrx::pg_sys;
use std::collections::BTreeMap;

/// The ids that a default generates.
#[derive(Debug, Clone)]
pub enum Generator {
    /// The next value of a sequence.
    Sequence,
    /// 64-bit ids; the layout and the shard, where the default says them.
    Snowflake {
        layout: Option<Layout>,
        shard: Option<i64>,
    },
    /// UUIDs of a version.
    Uuid(u8),
    /// Ids of another family.
    Other(&'static Family),
}

/// The functions that generate ids, by the names that the server writes.
pub struct Generators {
    /// The schema of this extension's functions, quoted.
    pub schema: String,
    /// The oid of the type `objectid`.
    pub objectid: pg_sys::Oid,
    /// The functions of other extensions, and the versions of their UUIDs.
    uuids: BTreeMap<String, u8>,
}

impl Generators {
    /// Finds where the extensions are. Names are read with the server's own search path.
    pub fn find() -> Self {
        let home = "SELECT quote_ident(n.nspname::text), t.oid
             FROM pg_extension AS e
             JOIN pg_namespace AS n ON n.oid = e.extnamespace
             JOIN pg_type AS t ON t.typnamespace = n.oid
                 AND t.typname = 'objectid'
             WHERE e.extname = 'pg_mint'";
        let others = "SELECT quote_ident(n.nspname::text) || '.'
                 || quote_ident(p.proname::text), p.proname::text
             FROM pg_extension AS e
             JOIN pg_depend AS d ON d.refobjid = e.oid
                 AND d.refclassid = e.tableoid
                 AND d.deptype = 'e'
             JOIN pg_proc AS p ON p.oid = d.objid
                 AND p.tableoid = d.classid
             JOIN pg_namespace AS n ON n.oid = p.pronamespace
             WHERE e.extname IN ('uuid-ossp', 'pgcrypto', 'pg_uuidv7')";
        let text = |row: &Row<'_>, column| row.get::<DecodedText>(column).map(|text| text.0);
        let home = sql::rows(home, &[], |row| Some((text(row, 1)?, row.get(2)?))).pop();
        let (schema, objectid) = home.unwrap_or((String::new(), pg_sys::InvalidOid));
        let uuids = sql::rows(others, &[], |row| {
            Some((text(row, 1)?, version(&text(row, 2)?)?))
        });
        Self {
            schema,
            objectid,
            uuids: uuids.into_iter().collect(),
        }
    }

    /// Returns the types that ids have.
    pub fn id_types(&self) -> Vec<pg_sys::Oid> {
        vec![
            pg_sys::INT2OID,
            pg_sys::INT4OID,
            pg_sys::INT8OID,
            pg_sys::UUIDOID,
            pg_sys::TEXTOID,
            pg_sys::VARCHAROID,
            pg_sys::BPCHAROID,
            self.objectid,
        ]
    }

    /// Returns what an expression generates, as `pg_get_expr` writes it; none if it is something else than one call.
    pub fn of(&self, expression: &str) -> Option<Generator> {
        let call = Call::read(expression)?;
        let own = call.function.strip_prefix(self.schema.as_str());
        match own.and_then(|name| name.strip_prefix('.')) {
            Some(name) => own_generator(name, &call),
            None => match call.function {
                "nextval" => Some(Generator::Sequence),
                "gen_random_uuid" | "uuidv4" => Some(Generator::Uuid(4)),
                "uuidv7" => Some(Generator::Uuid(7)),
                other => self.uuids.get(other).copied().map(Generator::Uuid),
            },
        }
    }
}

/// Returns the version of the UUIDs that a function of another extension generates.
fn version(function: &str) -> Option<u8> {
    match function {
        "uuid_generate_v1" | "uuid_generate_v1mc" => Some(1),
        "uuid_generate_v4" | "gen_random_uuid" => Some(4),
        "uuid_generate_v7" => Some(7),
        _ => None,
    }
}

/// Returns what a function of this extension generates.
fn own_generator(name: &str, call: &Call<'_>) -> Option<Generator> {
    let arguments = call.arguments();
    let at = |place: usize| arguments.get(place).copied();
    // A layout that is not given is the default one.
    let layout = |given: Option<&str>| match given {
        None => mint_core::snowflake::builtin::by_name("instagram").copied(),
        Some(text) => literal(text)?.parse::<Layout>().ok(),
    };
    let family = of_generator(name)?;
    Some(match (family.name, name) {
        ("snowflake", "snowflake_next") => Generator::Snowflake {
            layout: layout(at(0)),
            shard: None,
        },
        ("snowflake", _) => Generator::Snowflake {
            layout: layout(at(1)),
            shard: at(0).and_then(literal).and_then(|text| text.parse().ok()),
        },
        ("integer", _) => Generator::Sequence,
        ("uuid", _) => Generator::Uuid(name.strip_prefix("uuid_v")?.parse().ok()?),
        _ => Generator::Other(family),
    })
}
