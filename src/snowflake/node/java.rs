//! The node that Java's `SequenceGenerator` derives from MAC addresses.

use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use mint_core::bytes::excerpt::excerpt;
use mint_core::java_shard_of_addresses;
use pgrx::prelude::*;

/// Returns the node of Java's `SequenceGenerator` on a machine with these MAC addresses, in this order.
#[pg_extern(sql = false)]
fn snowflake_node_from_mac(addresses: DecodedText) -> i32 {
    let DecodedText(addresses) = addresses;
    let node = java_shard_of_addresses(&addresses).unwrap_or_else(|| {
        report(
            PgSqlErrorCode::ERRCODE_INVALID_TEXT_REPRESENTATION,
            format!("invalid MAC address: \"{}\"", excerpt(&addresses)),
        )
        .detail("Expected 12 hexadecimal digits for each address.")
        .raise()
    });
    node.cast_signed()
}
