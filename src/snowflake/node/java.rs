//! The node that Java's `SequenceGenerator` derives from MAC addresses.

use crate::pg::datum::text::DecodedText;
use crate::pg::machine::mac_address;
use mint_core::node_of_addresses;
use pgrx::prelude::*;

/// Returns the node that Java's `SequenceGenerator` would have on a machine with these MAC addresses.
#[pg_extern(immutable, strict, parallel_safe, cost = 10)]
fn snowflake_node_from_mac(addresses: DecodedText) -> i32 {
    node_of_addresses(&addresses.0).cast_signed()
}

/// Returns the node that Java's `SequenceGenerator` would have on this machine. **Of 38 machines, two have the same
/// node with a probability of one half.**
#[pg_extern(
    name = "snowflake_node_from_mac",
    stable,
    strict,
    parallel_safe,
    cost = 1000
)]
fn snowflake_node_from_this_mac() -> i32 {
    node_of_addresses(&mac_address::addresses().concat()).cast_signed()
}

extension_sql_file!(
    "../../../sql/snowflake/java_node.sql",
    name = "snowflake_java_node",
    requires = [snowflake_node_from_mac, snowflake_node_from_this_mac]
);
