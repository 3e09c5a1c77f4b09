//! The kinds of ids, and the reader of each.
//!
//! `id_inspect` goes through [`FAMILIES`]. A new family is a file here with its reader, and an entry in that table. A new built-in layout is read without either.

mod cockroachdb;
pub mod inspect;
pub mod library;
pub mod number;
mod objectid;
pub mod reading;
mod text;
mod usual;
pub mod uuid;

use library::{atproto, cuid, firebase, flake, ksuid, misskey, nanoid, xid};
use reading::{Context, Input, Reading};

/// The type of a column that stores ids of a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// A bigint.
    Number,
    /// A uuid.
    Uuid,
    /// A text, or a type of its own.
    Text,
}

/// Returns the readings of an id.
pub type Reader = fn(&Input<'_>, &Context<'_>) -> Vec<Reading>;

/// A kind of id.
#[derive(Debug)]
pub struct Family {
    /// The name, which is the format of its readings.
    pub name: &'static str,
    /// An id.
    pub example: &'static str,
    /// The usual type of a column.
    pub stored: Stored,
    /// An id that breaks a rule of the family has no reading.
    pub read: Reader,
}

const fn family(name: &'static str, example: &'static str, stored: Stored, read: Reader) -> Family {
    Family {
        name,
        example,
        stored,
        read,
    }
}

/// Every family, the more common one first: the order of readings that are equally likely.
#[rustfmt::skip]
pub static FAMILIES: [Family; 17] = [
    family("uuid", "01890a5d-ac96-774b-bcce-b302099a8057", Stored::Uuid, uuid::uuid),
    family("ulid", "01ARZ3NDEKTSV4RRFFQ69G5FAV", Stored::Text, uuid::ulid),
    family("typeid", "user_01h455vb4pex5vsknk084sn02q", Stored::Text, uuid::typeid),
    family("objectid", "507f1f77bcf86cd799439011", Stored::Text, objectid::objectid),
    family("ksuid", "0ujtsYcgvSTl8PAuAdqWYSMnLOv", Stored::Text, ksuid::ksuid),
    family("xid", "9m4e2mr0ui3e8a215n4g", Stored::Text, xid::xid),
    family("cuid", "cjld2cjxh0000qzrmn831i7rn", Stored::Text, cuid::cuid),
    family("firebase", "-JhLeOlGIEjaIOFHR0xd", Stored::Text, firebase::firebase),
    family("atproto", "3jzfcijpj2z2a", Stored::Text, atproto::atproto),
    family("flake", "9sfjyFYxWIdEMexkYa", Stored::Text, flake::flake),
    family("misskey", "9qarnku54zbc0b9u", Stored::Text, misskey::misskey),
    family("unix", "1700000000", Stored::Number, number::unix),
    family("snowflake", "850007368138018817", Stored::Number, number::snowflake),
    family("cockroachdb", "469048192112197633", Stored::Number, cockroachdb::cockroachdb),
    family("integer", "42", Stored::Number, number::integer),
    family("nanoid", "V1StGXR8_Z5jdHi6B-myT", Stored::Text, nanoid::nanoid),
    family("cuid2", "tz4a98xxat96iws9zmbrgj3a", Stored::Text, cuid::cuid2),
];
