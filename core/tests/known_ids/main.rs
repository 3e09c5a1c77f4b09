//! Published ids, one by one, as others printed them.
#![cfg(not(loom))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/known.rs"]
mod known;

/// Makes a test of each line: a name, and the call that checks one vector.
macro_rules! vectors {
    ($($name:ident: $how:ident($($given:expr),*);)*) => {$(
        #[test]
        fn $name() {
            $how($($given),*);
        }
    )*};
}

mod check;
mod conceal;
mod hash_partition;
mod public;
mod sequence_table;
mod snowflake;
mod tidb;
mod typeid;
mod ulid;
mod uuid;
mod wide;
