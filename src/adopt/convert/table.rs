//! A table and its column, as the catalogs have them.

use crate::adopt::catalog::column::missing_column;
use crate::pg::catalog::access::{self, Owned};
use crate::pg::catalog::foreign::{self, Objects};
use crate::pg::catalog::{expression, privilege, relation, sql};
use crate::pg::citus;
use crate::pg::datum::json::{JsonText, list, read};
use crate::pg::datum::text::DecodedText;
use crate::pg::error::report;
use pgrx::{PgSqlErrorCode as Code, pg_sys};
use serde::Deserialize;

/// What is read of a table.
#[derive(Debug, Clone, Deserialize)]
pub struct TargetTable {
    pub oid: u32,
    pub schema: String,
    pub name: String,
    /// `relpersistence`.
    pub persistence: String,
    pub owner: u32,
    pub owner_name: String,
    /// Whether the owner may create relations in the schema.
    pub can_create: bool,
    /// The table that this one is a partition or a child of.
    pub parent: Option<String>,
    pub column: Option<TargetColumn>,
    /// Partitions and children, at any depth.
    #[serde(deserialize_with = "list")]
    pub below: Vec<TableBelow>,
    /// Of any of the tables.
    pub force_row_security: bool,
    /// The tables without an index that begins with the column.
    #[serde(deserialize_with = "list")]
    pub unindexed: Vec<String>,
    /// Why the type of the column cannot be altered: `key` of partitions, or `type` of the table.
    pub fixed_by: Option<String>,
    /// Rules with a cast of the column to a type that cannot hold the ids.
    #[serde(deserialize_with = "list")]
    pub narrowing: Vec<String>,
    /// Whom default privileges grant privileges on new sequences of the owner; none is PUBLIC.
    #[serde(deserialize_with = "list")]
    pub default_roles: Vec<Option<String>>,
    #[serde(deserialize_with = "list")]
    pub sequences: Vec<UsedSequence>,
    /// Columns that refer to this one, directly or not.
    #[serde(deserialize_with = "list")]
    referring: Vec<ReferringColumn>,
    #[serde(deserialize_with = "list")]
    pub publications: Vec<String>,
}

/// The column that is converted.
#[derive(Debug, Clone, Deserialize)]
pub struct TargetColumn {
    pub number: i16,
    pub name: String,
    pub type_name: String,
    pub type_oid: u32,
    /// `attidentity`.
    pub identity: String,
    /// `attgenerated`.
    pub generated: String,
    pub default: Option<String>,
    /// The default as the catalogs have it; none of one of more than 8 kB.
    tree: Option<String>,
}

/// A column that refers to another.
#[derive(Debug, Clone, Deserialize)]
struct ReferringColumn {
    relation: u32,
    number: i16,
    /// Its name with that of its table, quoted.
    name: String,
    #[serde(rename = "type")]
    type_oid: u32,
}

/// A partition or child.
#[derive(Debug, Clone, Deserialize)]
pub struct TableBelow {
    pub oid: u32,
    pub schema: String,
    pub name: String,
    pub kind: String,
    pub owner: u32,
    /// That of the column.
    number: i16,
    pub identity: Option<String>,
    pub default: Option<String>,
}

/// A sequence that the column is, owns, or takes its default from.
#[derive(Debug, Clone, Deserialize)]
pub struct UsedSequence {
    #[serde(flatten)]
    pub rules: SequenceRules,
    pub is_identity: bool,
    pub is_owned: bool,
    pub in_default: bool,
    /// The column that owns it.
    pub owned_by: Option<String>,
    /// Columns with a default of it, outside of the table.
    #[serde(deserialize_with = "list")]
    pub others: Vec<String>,
    /// What would be dropped with it, but for defaults.
    #[serde(deserialize_with = "list")]
    pub dependents: Vec<String>,
    /// Those of them that can draw from it.
    #[serde(deserialize_with = "list")]
    pub callers: Vec<String>,
}

/// A sequence, without its value.
#[derive(Debug, Clone, Deserialize)]
pub struct SequenceRules {
    pub oid: u32,
    pub schema: String,
    pub name: String,
    pub owner: u32,
    /// `relpersistence`.
    pub persistence: String,
    #[serde(rename = "type")]
    pub data_type: String,
    pub start: i64,
    pub increment: i64,
    pub min: i64,
    pub max: i64,
    pub cache: i64,
    pub cycle: bool,
    pub comment: Option<String>,
    /// Whether privileges on single columns of it were granted.
    pub has_column_grants: bool,
    /// None where nothing was ever granted.
    pub acl: Option<Vec<SequenceGrant>>,
}

/// A privilege on a sequence.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SequenceGrant {
    /// None is PUBLIC.
    pub role: Option<String>,
    pub privilege: String,
    pub is_grantable: bool,
    /// Whether the owner of the sequence granted it.
    pub is_owners: bool,
}

/// Returns whether a type is an integer that cannot hold a bigint, or a domain over one.
pub fn is_narrow(of: u32) -> bool {
    [pg_sys::INT2OID, pg_sys::INT4OID].contains(&relation::base_type(of.into()))
}

/// Quotes a name with its schema.
pub fn quoted(schema: &str, name: &str) -> String {
    let [schema, name] = [schema, name].map(sql::quoted_exactly);
    format!("{schema}.{name}")
}

impl TargetColumn {
    /// Returns the type, or the type that a domain is over.
    pub fn base_type(&self) -> pg_sys::Oid {
        relation::base_type(self.type_oid.into())
    }

    /// Returns whether it cannot hold the ids.
    pub fn is_narrow(&self) -> bool {
        is_narrow(self.type_oid)
    }
}

impl TargetTable {
    /// Reads a table and its column. Raises an error unless it is an ordinary table that the caller owns.
    pub fn find(table: pg_sys::Oid, column: &str) -> Self {
        refuse_other_kinds(table);
        if let Err(owner) = access::own(table) {
            report(
                Code::ERRCODE_INSUFFICIENT_PRIVILEGE,
                format!(
                    "must be owner of table {}",
                    relation::name(table).unwrap_or_default()
                ),
            )
            .detail(format!(
                "The owner is role \"{}\".",
                privilege::name_of(owner)
            ))
            .raise();
        }
        let arguments = [table.into(), DecodedText(column.to_owned()).into()];
        let query = include_str!("../../../sql/adopt/convert_table.sql");
        let Some(table) = sql::read_now::<Self>(query, &arguments) else {
            sql::missing(table)
        };
        if table.column.is_none() {
            missing_column(column, &table.name);
        }
        table
    }

    /// Reads the table and its column again.
    pub fn again(&self) -> Self {
        Self::find(self.oid.into(), &self.column().name)
    }

    /// Returns whether this transaction has locked the table against all.
    pub fn is_locked(&self) -> bool {
        let query = "SELECT EXISTS (
            SELECT FROM pg_locks AS l
            WHERE l.locktype = 'relation' AND l.relation = $1::oid AND l.pid = pg_backend_pid()
                AND l.mode = 'AccessExclusiveLock' AND l.granted
                AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
        )";
        sql::ask_with(query, &[pg_sys::Oid::from(self.oid).into()]) == Some(true)
    }

    /// Returns the way to its rows. Raises an error if it has another owner meanwhile, whose privileges the caller has not.
    pub fn access(&self) -> Owned {
        access::owned(self.oid.into())
    }

    /// Returns whether the default is a call of `nextval` on a sequence.
    pub fn draws_from(&self, sequence: u32) -> bool {
        let tree = self.column().tree.as_deref();
        tree.and_then(expression::drawn) == Some(sequence.into())
    }

    /// Returns whether the default calls these functions and operators.
    pub fn calls(&self, objects: &Objects) -> bool {
        let tree = self.column().tree.as_deref();
        tree.is_some_and(|tree| foreign::in_tree(tree).call_as(objects))
    }

    /// Returns the column, which `find` has found.
    pub fn column(&self) -> &TargetColumn {
        match &self.column {
            Some(column) => column,
            None => sql::missing(self.oid.into()),
        }
    }

    /// Returns the sequence that the column takes its ids from, if any.
    pub fn sequence(&self) -> Option<&UsedSequence> {
        self.sequences
            .iter()
            .find(|sequence| sequence.is_identity || sequence.in_default)
    }

    pub fn is_identity(&self) -> bool {
        !self.column().identity.is_empty()
    }

    pub fn quoted(&self) -> String {
        quoted(&self.schema, &self.name)
    }

    pub fn quoted_column(&self) -> String {
        sql::quoted_exactly(&self.column().name)
    }

    pub fn quoted_schema(&self) -> String {
        sql::quoted_exactly(&self.schema)
    }

    pub fn quoted_owner(&self) -> String {
        sql::quoted_exactly(&self.owner_name)
    }

    /// Returns the beginning of a statement that alters the column.
    pub fn alter_column(&self) -> String {
        format!(
            "ALTER TABLE {} ALTER COLUMN {}",
            self.quoted(),
            self.quoted_column()
        )
    }

    /// Returns the name of the column for a message.
    pub fn what(&self) -> String {
        format!(
            "column \"{}\" of table \"{}\"",
            self.column().name,
            self.name
        )
    }

    /// Returns the oids of the table and of all that refer to the column.
    pub fn relations(&self) -> Vec<pg_sys::Oid> {
        let referring = self.referring.iter().map(|column| column.relation.into());
        [self.oid.into()].into_iter().chain(referring).collect()
    }

    /// Returns the tables and numbers of this column and of all that refer to it.
    pub fn columns(&self) -> Vec<(pg_sys::Oid, i16)> {
        let referring = self.referring.iter();
        let referring = referring.map(|column| (column.relation.into(), column.number));
        let own = (self.oid.into(), self.column().number);
        [own].into_iter().chain(referring).collect()
    }

    /// Returns the tables that get the default, this one first, and the numbers that the column has in them.
    pub fn members(&self) -> Vec<(pg_sys::Oid, i16)> {
        let below = self.below.iter();
        let below = below.map(|below| (below.oid.into(), below.number));
        let own = (self.oid.into(), self.column().number);
        [own].into_iter().chain(below).collect()
    }

    /// Returns the columns that refer to this one and cannot hold a bigint.
    pub fn narrow(&self) -> Vec<&str> {
        let narrow = self
            .referring
            .iter()
            .filter(|column| is_narrow(column.type_oid));
        narrow.map(|column| column.name.as_str()).collect()
    }

    pub fn sequence_oids(&self) -> Vec<pg_sys::Oid> {
        let sequences = self.sequences.iter();
        sequences
            .map(|sequence| sequence.rules.oid.into())
            .collect()
    }
}

impl SequenceRules {
    pub fn quoted(&self) -> String {
        quoted(&self.schema, &self.name)
    }

    /// Returns the default that draws from it, as the server prints it.
    pub fn default(&self) -> String {
        format!("nextval({}::regclass)", sql::literal(&self.quoted()))
    }

    /// Returns the value after which it returns no more.
    pub fn end(&self) -> i64 {
        if self.increment > 0 {
            self.max
        } else {
            self.min
        }
    }

    /// Returns its last value, and whether that was returned.
    pub fn state(&self) -> (i64, bool) {
        let text = access::owned(self.oid.into()).ask::<JsonText>(&[], |name| {
            format!("SELECT jsonb_build_array(last_value, is_called) FROM {name}")
        });
        text.map_or((self.start, false), |text| read(&text.0))
    }
}

fn refuse_other_kinds(table: pg_sys::Oid) {
    let name = relation::name(table).unwrap_or_else(|| sql::missing(table));
    let kinds = [pg_sys::RELKIND_RELATION, pg_sys::RELKIND_PARTITIONED_TABLE];
    if !relation::kind(table).is_some_and(|kind| kinds.contains(&kind)) {
        report(
            Code::ERRCODE_WRONG_OBJECT_TYPE,
            format!("\"{name}\" is not a table"),
        )
        .hint("Convert the table that has the column.")
        .raise();
    }
    if citus::distributed_tables().contains(&table.to_u32()) {
        report(
            Code::ERRCODE_FEATURE_NOT_SUPPORTED,
            format!("cannot convert table \"{name}\", which Citus has distributed"),
        )
        .hint("Use undistribute_table(), convert the table, and distribute it again; or set the default of another column than the distribution column with ALTER TABLE.")
        .raise();
    }
}
