//! The node that Java's `SequenceGenerator` derives from MAC addresses.

use crate::pg::datum::text::DecodedText;
use mint_core::node_of_addresses;
use pgrx::prelude::*;

/// Returns the node that Java's `SequenceGenerator` has where it finds these MAC addresses, in this order.
#[pg_extern(sql = false)]
fn snowflake_node_from_mac(addresses: DecodedText) -> i32 {
    node_of_addresses(&addresses.0).cast_signed()
}
