//! Errors of tables and arguments for which there is no plan of partitions.

use crate::pg::catalog::{privilege, relation, sql};
use crate::pg::error::{ToReport, report};
use mint_core::Layout;
use mint_core::adopt::keys::Keys;
use mint_core::adopt::partition::{MOST, StepError};
use mint_core::clock::timestamp_text;
use pgrx::{PgSqlErrorCode as Code, pg_sys};

/// What a table must be.
const BY_RANGE: &str = "Use a table that is partitioned by range of one column of type bigint, uuid or objectid, \
    as in CREATE TABLE ... PARTITION BY RANGE (id).";

#[cold]
#[track_caller]
pub fn not_partitioned(table: &str) -> ! {
    let message = format!("\"{table}\" is not a partitioned table");
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, message)
        .hint(BY_RANGE)
        .raise()
}

#[cold]
#[track_caller]
pub fn temporary(table: &str) -> ! {
    let message = format!("cannot plan partitions of temporary table \"{table}\"");
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message).raise()
}

/// Refuses a partition key that is not a range of one column.
#[cold]
#[track_caller]
pub fn other_key(message: String, detail: String) -> ! {
    report(Code::ERRCODE_WRONG_OBJECT_TYPE, message)
        .detail(detail)
        .hint(BY_RANGE)
        .raise()
}

#[cold]
#[track_caller]
pub fn not_ids(table: &str, column: &str, key_type: pg_sys::Oid) -> ! {
    let message = format!("table \"{table}\" is not partitioned by ids");
    report(Code::ERRCODE_DATATYPE_MISMATCH, message)
        .detail(format!(
            "Column \"{column}\" is of type {}.",
            relation::name_of_type(key_type)
        ))
        .hint(BY_RANGE)
        .raise()
}

/// Refuses a partition of another role, which can have written what a query of it calls.
#[cold]
#[track_caller]
pub fn other_owner(partition: &str, table: &str) -> ! {
    let message = format!("partition \"{partition}\" has another owner than table \"{table}\"");
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("Use ALTER TABLE ... OWNER TO to give both the same owner.")
        .raise()
}

#[cold]
#[track_caller]
pub fn not_in_time(table: &str, column: &str, version: u8) -> ! {
    let message = format!("table \"{table}\" is not partitioned by time");
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!(
            "The default of column \"{column}\" generates UUIDs of version {version}, which do not sort by time as version 7 does."
        ))
        .hint(format!("Use ALTER TABLE ... ALTER {column} SET DEFAULT uuid_v7()."))
        .raise()
}

#[cold]
#[track_caller]
pub fn no_layout(column: &str, key_type: pg_sys::Oid) -> ! {
    let message = format!("column \"{column}\" has no layout");
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!(
            "The column is of type {}. Only a bigint has a layout.",
            relation::name_of_type(key_type)
        ))
        .hint("Call the function without a layout.")
        .raise()
}

#[cold]
#[track_caller]
pub fn unknown_layout(table: &str, column: &str, default: Option<&str>) -> ! {
    let message = format!("layout of column \"{column}\" of table \"{table}\" is not known");
    let detail = match default {
        Some(default) => format!("The default of the column is {default}."),
        None => "The column has no default.".to_owned(),
    };
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(detail)
        .hint("Pass the layout of the ids, as in layout => 'twitter'.")
        .raise()
}

#[cold]
#[track_caller]
pub fn other_layout(table: &str, column: &str, given: &Layout, its: &Layout) -> ! {
    let message =
        format!("layout \"{given}\" is not that of column \"{column}\" of table \"{table}\"");
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!(
            "The default of the column generates ids of layout \"{its}\". The same number has another time in each of them."
        ))
        .hint("Call the function without a layout, or change the default first.")
        .raise()
}

#[cold]
#[track_caller]
pub fn ended(keys: &Keys) -> ! {
    let end = match keys {
        Keys::Snowflake(layout) => layout.end(),
        Keys::UuidV7 => None,
        Keys::ObjectId => Some((i64::from(u32::MAX) + 1) * 1_000_000),
    };
    let detail = end.map(|end| format!("There are no ids from {} on.", timestamp_text(end)));
    report(
        Code::ERRCODE_SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
        format!("{keys} has reached the end of its time field"),
    )
    .detail_if(detail)
    .hint("Use a layout with a later epoch or more bits of time, or an earlier timestamp.")
    .raise()
}

#[cold]
#[track_caller]
pub fn out_of_calendar() -> ! {
    report(
        Code::ERRCODE_DATETIME_FIELD_OVERFLOW,
        "timestamp out of range",
    )
    .detail("Partitions can begin and end in the years 1 to 9999.")
    .raise()
}

#[cold]
#[track_caller]
pub fn too_many(count: usize) -> ! {
    report(Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED, "too many partitions")
        .detail(format!(
            "The plan has {count} partitions or more, but at most {MOST} are allowed."
        ))
        .hint("Use a longer interval, or a later timestamp in since.")
        .raise()
}

#[cold]
#[track_caller]
pub fn distributed(table: &str) -> ! {
    let message =
        format!("cannot maintain partitions of table {table}, which Citus has distributed");
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .detail("Citus takes one statement at a time.")
        .hint("Run the statements of mint.partition_plan() in psql with \\gexec.")
        .raise()
}

#[cold]
#[track_caller]
pub fn changed_hands(table: pg_sys::Oid) -> ! {
    let message = format!("owner of table {} has changed", sql::name_of(table));
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("Repeat the call.")
        .raise()
}

#[cold]
#[track_caller]
pub fn cannot_create(table: pg_sys::Oid) -> ! {
    let schema = relation::schema_name(relation::schema(table));
    let role = relation::owner(table).map_or_else(String::new, privilege::name_of);
    let message = format!(
        "owner of table \"{}\" lacks a privilege on schema \"{schema}\"",
        relation::name(table).unwrap_or_default()
    );
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
        .detail(format!(
            "Partitions are created with the privileges of the owner, role \"{role}\", which needs CREATE."
        ))
        .hint(format!(
            "Use GRANT CREATE ON SCHEMA {} TO {}.",
            sql::quoted_exactly(&schema),
            sql::quoted_exactly(&role)
        ))
        .raise()
}

#[cold]
#[track_caller]
pub fn rows_in_default(name: &str, table: &str) -> ! {
    let message = format!("default partition of table {table} has rows of partition {name}");
    report(Code::ERRCODE_CHECK_VIOLATION, message)
        .detail(
            "A partition cannot be attached while rows that belong to it are in the default one.",
        )
        .hint("Call the procedure with move_rows => true, which moves these rows in batches.")
        .raise()
}

#[cold]
#[track_caller]
pub fn cannot_move(default: &str, reason: String) -> ! {
    let message = format!("cannot move rows of default partition {default}");
    report(Code::ERRCODE_FEATURE_NOT_SUPPORTED, message)
        .detail(reason)
        .hint("Move the rows and attach their partition in one transaction.")
        .raise()
}

#[cold]
#[track_caller]
pub fn no_locks(table: &str, attempts: i32, millis: i32) -> ! {
    let message = format!("could not obtain the locks on table {table}");
    report(Code::ERRCODE_LOCK_NOT_AVAILABLE, message)
        .detail(format!("{attempts} attempts waited for up to {millis} ms each."))
        .hint("Wait for long transactions on the table, or that create one of the next partition's name, to end: pg_stat_activity shows them by xact_start. The next call continues.")
        .raise()
}

#[cold]
#[track_caller]
pub fn slow_detach(partition: &str, millis: i64) -> ! {
    let message = format!("could not detach partition {partition} within {millis} ms");
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail("Each table whose foreign key refers to the parent is read, and a partition that can have values of a counter, while other statements wait. The partition is attached still.")
        .hint("Create an index on the columns of the foreign key and on the partition key, or use the statements of mint.partition_drop_plan() with concurrently => true.")
        .raise()
}

#[cold]
#[track_caller]
pub fn slow_step(table: &str, seconds: i64) -> ! {
    let message = format!("a step for table {table} takes longer than {seconds} s");
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .hint("Use mint.partition_maintain() for this table, which has no such limit.")
        .raise()
}

#[cold]
#[track_caller]
pub fn not_maintained(failed: usize, all: usize) -> ! {
    let message = format!("could not maintain partitions of {failed} of {all} tables");
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail("The warnings before this error have the reasons. The other tables are maintained.")
        .raise()
}

#[cold]
#[track_caller]
pub fn not_its_owner(table: &str, role: &str) -> ! {
    let message = format!("permission denied to unregister table {table}");
    report(Code::ERRCODE_INSUFFICIENT_PRIVILEGE, message)
        .detail(format!(
            "The table does not exist, and role \"{role}\" has registered it."
        ))
        .raise()
}

#[cold]
#[track_caller]
pub fn too_many_registered(role: &str, most: i64) -> ! {
    report(
        Code::ERRCODE_PROGRAM_LIMIT_EXCEEDED,
        format!("too many registered tables of role \"{role}\""),
    )
    .detail(format!("At most {most} are allowed."))
    .hint("Use mint.partition_unregister() for tables that are no longer maintained.")
    .raise()
}

impl ToReport for StepError {
    fn code(&self) -> Code {
        Code::ERRCODE_INVALID_PARAMETER_VALUE
    }

    fn explain(&self, report: crate::pg::error::Report) -> crate::pg::error::Report {
        match self {
            Self::Mixed => report
                .detail("A month has no fixed number of days, and a day no fixed number of hours.")
                .hint("Use an interval such as '1 month', '7 days' or '6 hours'."),
            _ => report.hint("Use an interval such as '1 month', '7 days' or '6 hours'."),
        }
    }
}

/// Raises the error of old partitions that are not dropped, as their times are not certain.
#[cold]
#[track_caller]
pub fn gap(name: &str) -> ! {
    let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    report(code, format!("could not drop old partitions of table {name}"))
        .detail("Of the partitions to keep, one is missing: the clock was set, the column had another layout, or partitions were not maintained.")
        .hint("Create the missing ones, with the argument since of mint.partition_maintain(), or drop the old ones by the statements of mint.partition_drop_plan().")
        .raise()
}

/// Raises the error of old partitions that might have new rows.
#[cold]
#[track_caller]
pub fn counted(what: &str, column: &str) -> ! {
    let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    let message = format!("cannot drop old {what}, whose ids are values of a counter");
    report(code, message)
        .detail(format!("Column \"{column}\" takes its values from a counter, so new rows are in the oldest partition."))
        .hint("Use a default that generates ids with their time, or maintain the partitions without dropping old ones.")
        .raise()
}

/// Raises the error of an old partition with ids that contain no time.
#[cold]
#[track_caller]
pub fn counted_rows(partition: &str) -> ! {
    let code = Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE;
    let message = format!("cannot drop old partition {partition}, which has values of a counter");
    report(code, message)
        .detail("It has ids that are too small to contain a time, so its rows can be of any time.")
        .hint("If you keep its rows, use ALTER TABLE ... DETACH PARTITION. If they are all old, use DROP TABLE.")
        .raise()
}

/// Raises the error of an old partition with one of its own that is being detached.
#[cold]
#[track_caller]
pub fn detaching(table: &str, partition: &str) -> ! {
    let message = format!(
        "cannot drop old partition {partition}, from which table \"{table}\" is being detached"
    );
    report(Code::ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE, message)
        .detail("DROP TABLE would drop both.")
        .hint("Use ALTER TABLE ... DETACH PARTITION ... FINALIZE.")
        .raise()
}

#[cold]
#[track_caller]
pub fn too_far_ahead(ahead: i32, most: i32) -> ! {
    let message = format!("ahead of a registered table must be between 1 and {most}");
    report(Code::ERRCODE_INVALID_PARAMETER_VALUE, message)
        .detail(format!("The value is {ahead}."))
        .hint("Use a longer interval for each partition.")
        .raise()
}
