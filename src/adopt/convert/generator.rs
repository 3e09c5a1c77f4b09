//! The new default: one call of a generator, and the smallest id that it can return from now on.

use crate::adopt::catalog::default::{Generator, IdKind};
use crate::adopt::convert::table::TargetTable;
use crate::pg::catalog::expression::{Call, Target, parse_default};
use crate::pg::catalog::foreign::Objects;
use crate::pg::error::{OrReport, report};
use crate::pg::machine::clock;
use mint_core::Layout;
use pgrx::{FromDatum, IntoDatum, PgSqlErrorCode as Code, pg_sys};

/// A default that mints ids.
#[derive(Debug)]
pub struct NewDefault {
    /// As the server prints it.
    pub text: String,
    call: Call,
    /// What it has.
    pub objects: Objects,
    /// That of its snowflakes.
    layout: Option<Layout>,
}

/// Where new ids begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Floor {
    /// Ids are not in an order: they meet no others by their length.
    Any,
    /// All of them are above this one.
    Above(i64),
    /// Not known before one is minted.
    Unknown,
}

impl NewDefault {
    /// Parses the new default of a column, with the caller's names.
    pub fn parse(text: &str, table: &TargetTable) -> Self {
        let column = table.column();
        let target = Target {
            name: column.name.clone(),
            // What becomes a bigint is parsed as one.
            base_type: if column.is_narrow() {
                pg_sys::INT8OID
            } else {
                column.base_type()
            },
        };
        let default = parse_default(text, &target, table.access());
        let found = default.call.and_then(|call| {
            let generator = Generator::find(call.function)?;
            generator.replaces_counters().then_some((call, generator))
        });
        let Some((call, generator)) = found else {
            refuse(&default.text)
        };
        let layout = (generator.kind == IdKind::Snowflake).then(|| layout_of(&generator, &call));
        Self {
            text: default.text,
            call,
            objects: default.objects,
            layout,
        }
    }

    /// Returns where ids of any lane begin from now on, if that is known without minting one.
    pub fn floor(&self, table: &TargetTable) -> Floor {
        match &self.layout {
            _ if table.column().base_type() == pg_sys::UUIDOID => Floor::Any,
            None => Floor::Unknown,
            Some(layout) => match layout.min_id(clock::now()).or_report() {
                // Ids at it are new ones.
                Some(least) => Floor::Above(least.saturating_sub(1)),
                None => report(
                    Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE,
                    format!("layout {layout} has no ids left"),
                )
                .hint("Use a layout with a later epoch or more bits of time; see snowflake_layouts().")
                .raise(),
            },
        }
    }

    /// Mints an id with the rights of the table's owner, and returns where later ones begin. An error of the generator, such
    /// as that of a shard out of range, is raised here and not at the first INSERT.
    pub fn try_out(&self, table: &TargetTable) -> Floor {
        let floor = self.floor(table);
        match floor {
            Floor::Any => {
                self.mint::<pgrx::Uuid>(table, "uuid");
                floor
            }
            Floor::Above(_) | Floor::Unknown => {
                match self.mint(table, "int8") {
                    // One lane, or one sequence, returns ever larger ids.
                    Some(id) if self.is_one_lane() => Floor::Above(id),
                    _ => floor,
                }
            }
        }
    }

    /// Mints an id as the owner: by the type of the column, which can be a domain that refuses it, but for one that becomes
    /// bigint and a type of another role.
    fn mint<T: FromDatum + IntoDatum>(&self, table: &TargetTable, base_type: &str) -> Option<T> {
        let (text, access, column) = (&self.text, table.access(), table.column());
        let domain = if column.is_narrow() {
            base_type
        } else {
            &column.type_name
        };
        access
            .evaluate(&format!("({text})::{domain}::{base_type}"))
            .or_else(|_| access.evaluate(&format!("({text})::{base_type}")))
            .ok()
            .flatten()
    }

    /// Returns whether a relation is a constant of the call, as the sequence that it draws from is.
    pub fn names(&self, relation: u32) -> bool {
        self.relations().any(|of| of == relation.into())
    }

    /// Returns the relations that are constants of the call.
    pub fn relations(&self) -> impl Iterator<Item = pg_sys::Oid> {
        let arguments = self.call.arguments.iter();
        arguments.filter_map(|argument| argument.relation)
    }

    /// Returns the function that it calls.
    pub fn function(&self) -> pg_sys::Oid {
        self.call.function
    }

    /// Returns whether each call mints in the same lane.
    pub fn is_one_lane(&self) -> bool {
        self.call
            .arguments
            .iter()
            .all(|argument| argument.is_constant)
    }
}

/// Returns the layout of a call of a function of snowflakes.
fn layout_of(generator: &Generator, call: &Call) -> Layout {
    match generator.layout(&call.arguments) {
        Some(Ok(layout)) => layout,
        Some(Err(text)) => report(
            Code::ERRCODE_INVALID_PARAMETER_VALUE,
            format!("invalid layout \"{text}\""),
        )
        .raise(),
        None => report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            "the layout of a default must be a constant",
        )
        .hint("Write the layout as a text, as in snowflake_next_id(5, 'twitter').")
        .raise(),
    }
}

fn refuse(text: &str) -> ! {
    report(
        Code::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("\"{text}\" is not a call of a generator of pg_mint"),
    )
    .detail("The new default must be one call of a function snowflake_next*(), segment_next(), ticket_next(), or a function uuid_v*().")
    .hint("Use ALTER TABLE ... SET DEFAULT for any other.")
    .raise()
}
