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

use library::{atproto, cuid, firebase, ksuid, nanoid, xid};
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

/// Every family, the more common one first: the order of readings that are equally likely.
pub static FAMILIES: [Family; 15] = [
    Family {
        name: "uuid",
        example: "01890a5d-ac96-774b-bcce-b302099a8057",
        stored: Stored::Uuid,
        read: uuid::uuid,
    },
    Family {
        name: "ulid",
        example: "01ARZ3NDEKTSV4RRFFQ69G5FAV",
        stored: Stored::Text,
        read: uuid::ulid,
    },
    Family {
        name: "typeid",
        example: "user_01h455vb4pex5vsknk084sn02q",
        stored: Stored::Text,
        read: uuid::typeid,
    },
    Family {
        name: "objectid",
        example: "507f1f77bcf86cd799439011",
        stored: Stored::Text,
        read: objectid::objectid,
    },
    Family {
        name: "ksuid",
        example: "0ujtsYcgvSTl8PAuAdqWYSMnLOv",
        stored: Stored::Text,
        read: ksuid::ksuid,
    },
    Family {
        name: "xid",
        example: "9m4e2mr0ui3e8a215n4g",
        stored: Stored::Text,
        read: xid::xid,
    },
    Family {
        name: "cuid",
        example: "cjld2cjxh0000qzrmn831i7rn",
        stored: Stored::Text,
        read: cuid::cuid,
    },
    Family {
        name: "firebase",
        example: "-JhLeOlGIEjaIOFHR0xd",
        stored: Stored::Text,
        read: firebase::firebase,
    },
    Family {
        name: "atproto",
        example: "3jzfcijpj2z2a",
        stored: Stored::Text,
        read: atproto::atproto,
    },
    Family {
        name: "unix",
        example: "1700000000",
        stored: Stored::Number,
        read: number::unix,
    },
    Family {
        name: "snowflake",
        example: "850007368138018817",
        stored: Stored::Number,
        read: number::snowflake,
    },
    Family {
        name: "cockroachdb",
        example: "469048192112197633",
        stored: Stored::Number,
        read: cockroachdb::cockroachdb,
    },
    Family {
        name: "integer",
        example: "42",
        stored: Stored::Number,
        read: number::integer,
    },
    Family {
        name: "nanoid",
        example: "V1StGXR8_Z5jdHi6B-myT",
        stored: Stored::Text,
        read: nanoid::nanoid,
    },
    Family {
        name: "cuid2",
        example: "tz4a98xxat96iws9zmbrgj3a",
        stored: Stored::Text,
        read: cuid::cuid2,
    },
];
