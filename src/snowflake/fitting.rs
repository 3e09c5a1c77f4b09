//! The generators of 64-bit ids whose rows are of one partition by hash.

use crate::pg::error::{OrReport, report, required};
use crate::snowflake::lane::mint;
use crate::snowflake::layout::sql_type::SnowflakeLayout;
use mint_core::{HashPartition, Layout};
use pgrx::prelude::*;

/// Mints an id of a shard whose row belongs to a partition by hash: that of `modulus` and `remainder`.
///
/// The rest is as in `snowflake_next_id(shard, layout)`, from the same lane. Ids that do not fit are lost to the lane,
/// so its rate is that of the layout divided by the modulus.
#[pg_extern(sql = false)]
fn snowflake_next_in(
    shard: Option<i32>,
    modulus: Option<i32>,
    remainder: Option<i32>,
    layout: Option<SnowflakeLayout>,
) -> i64 {
    let layout = required(layout, "layout").layout();
    let shard = required(shard, "shard");
    let shard = layout.check_shard(shard.into()).or_report();
    let partition = partition(&layout, modulus, remainder);
    mint::next_fitting(&layout, shard, |id| partition.has_number(id))
}

/// Returns the partition, unless the layout has too few ids in a tick to have one of it.
fn partition(layout: &Layout, modulus: Option<i32>, remainder: Option<i32>) -> HashPartition {
    let modulus = required(modulus, "modulus");
    let remainder = required(remainder, "remainder");
    let partition = HashPartition::new(modulus, remainder).or_report();
    // A quarter of the sequences of a tick: so fewer than 2 % of all ticks have no id of the partition.
    let most = (layout.seq.max() >> 2) + 1;
    if u64::from(partition.modulus()) > most {
        refuse(layout, partition.modulus(), most);
    }
    partition
}

#[cold]
fn refuse(layout: &Layout, modulus: u32, most: u64) -> ! {
    report(
        PgSqlErrorCode::ERRCODE_INVALID_PARAMETER_VALUE,
        format!("modulus {modulus} is too large for layout \"{layout}\""),
    )
    .detail(format!(
        "The modulus must be at most {most}, a quarter of the sequences of a tick."
    ))
    .hint(format!(
        "Use a layout with at least {} bits of sequence.",
        (modulus - 1).ilog2() + 3
    ))
    .raise()
}
