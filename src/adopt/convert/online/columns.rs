//! The statements on single columns: shadows, triggers, backfill, indexes, and foreign keys beside the old ones.

use crate::adopt::convert::online::closure::{Closure, ForeignKey, Index, Member};
use crate::pg::catalog::sql;

/// Which way the script goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To bigint.
    There,
    /// To the type of before.
    Back,
}

impl Way {
    /// The column that takes the place of a column in the swap.
    pub fn shadow(self, member: &Member) -> String {
        match self {
            Self::There => member.new_name(),
            Self::Back => member.old_name(),
        }
    }

    /// What the column of before is named after the swap.
    pub fn kept(self, member: &Member) -> String {
        match self {
            Self::There => member.old_name(),
            Self::Back => member.new_name(),
        }
    }
}

/// A statement of PL/pgSQL, in quotes that it does not have in it.
pub fn block(text: &str) -> String {
    let tags = (0..).map(|number| format!("$mint{number}$"));
    let tag = tags
        .into_iter()
        .find(|tag| !text.contains(tag.as_str()))
        .unwrap_or_default();
    format!("DO {tag}\n{text}\n{tag}")
}

/// What a block keeps of a sequence.
pub const STATE: &str = "last_value, is_called INTO STRICT last, called";

/// The mode of nearly all that changes a table.
pub const EXCLUSIVE: &str = "ACCESS EXCLUSIVE";

/// Statements in one transaction that is short and gives up its locks early, again and again.
///
/// An attempt waits for autovacuum first, in a mode that no client waits behind: autovacuum gives way only after
/// `deadlock_timeout`. For all tables together it then waits for less than that: a client that has one of them and waits for
/// another gets no deadlock.
///
/// Whoever runs them, they have the privileges of the owner of the tables, whose triggers and constraints run.
pub fn retried<'a>(
    owner: &str,
    mode: &str,
    tables: impl IntoIterator<Item = &'a str>,
    statements: &str,
) -> String {
    let variables = if statements.contains(STATE) {
        "
  last pg_catalog.int8;
  called pg_catalog.bool;"
    } else {
        ""
    };
    let tables: Vec<&str> = tables.into_iter().collect();
    let locks: Vec<String> = tables.iter().map(|table| format!(
        "      PERFORM pg_catalog.set_config('lock_timeout', pg_catalog.int4larger(1, 500 OPERATOR(pg_catalog.-) (1000 OPERATOR(pg_catalog.*) pg_catalog.date_part('epoch', pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) began))::pg_catalog.int4)::pg_catalog.text, true);
      LOCK TABLE {table} IN {mode} MODE;"
    )).collect();
    block(&format!(
        "DECLARE
  vacuum pg_catalog.text := (SELECT (pg_catalog.int4smaller(s.setting::pg_catalog.int4, 2147483147) OPERATOR(pg_catalog.+) 500)::pg_catalog.text FROM pg_catalog.pg_settings AS s WHERE s.name OPERATOR(pg_catalog.=) 'deadlock_timeout');
  began pg_catalog.timestamptz;{variables}
BEGIN
  SET LOCAL ROLE {owner};
  FOR attempt IN 1..120 LOOP
    BEGIN
      PERFORM pg_catalog.set_config('lock_timeout', vacuum, true);
      LOCK TABLE {} IN SHARE UPDATE EXCLUSIVE MODE;
      began := pg_catalog.clock_timestamp();
{}
{statements}
      RETURN;
    EXCEPTION WHEN lock_not_available THEN
      RAISE NOTICE 'attempt % has not got its locks', attempt;
    END;
    PERFORM pg_catalog.pg_sleep(0.5);
  END LOOP;
  RAISE EXCEPTION 'could not obtain locks' USING ERRCODE = 'lock_not_available';
END",
        tables.join(", "),
        locks.join("\n")
    ))
}

/// A statement that waits for no lock of clients, with the privileges of the owner of its table.
pub fn as_owner(owner: &str, statement: &str) -> String {
    block(&format!(
        "BEGIN
  SET LOCAL ROLE {owner};
  {statement};
END"
    ))
}

/// The function that keeps the shadow equal. After the swap ids may not fit: then the shadow is null.
pub fn function(member: &Member, way: Way) -> String {
    let (column, shadow) = (member.quoted_name(), way.kept(member));
    let (column, shadow) = match way {
        // What is kept after the way there is narrower.
        Way::There => {
            let kept = member.old_type.as_deref().unwrap_or(&member.data_type);
            let (least, most) = if kept == "smallint" {
                (i64::from(i16::MIN), i64::from(i16::MAX))
            } else {
                (i64::from(i32::MIN), i64::from(i32::MAX))
            };
            let fits = format!(
                "CASE WHEN NEW.{column} OPERATOR(pg_catalog.>=) '{least}'::pg_catalog.int8 AND NEW.{column} OPERATOR(pg_catalog.<=) '{most}'::pg_catalog.int8 THEN NEW.{column} END"
            );
            (fits, shadow)
        }
        Way::Back => (format!("NEW.{column}"), shadow),
    };
    let body = format!("BEGIN NEW.{shadow} := {column}; RETURN NEW; END");
    let (name, owner) = (member.function(), member.quoted_owner());
    // Whatever role has made a function of that name, or runs the script.
    format!(
        "CREATE OR REPLACE FUNCTION {name}() RETURNS trigger LANGUAGE plpgsql SET search_path TO pg_catalog, pg_temp AS {};
      ALTER FUNCTION {name}() OWNER TO {owner}",
        sql::literal(&body)
    )
}

/// The trigger, which fires last, and for replicated rows as well.
pub fn trigger(member: &Member) -> String {
    let (name, table) = (member.trigger(), member.quoted_table());
    format!(
        "CREATE TRIGGER {name} BEFORE INSERT OR UPDATE ON {table} FOR EACH ROW EXECUTE FUNCTION {}();
      {}",
        member.function(),
        enable(member)
    )
}

pub fn enable(member: &Member) -> String {
    let (name, table) = (member.trigger(), member.quoted_table());
    format!("ALTER TABLE {table} ENABLE ALWAYS TRIGGER {name}")
}

/// Whether a shadow is as its column, in a table that may have an alias.
fn is_equal(member: &Member, shadow: &str, alias: &str) -> String {
    let column = format!("{alias}{}", member.quoted_name());
    let equal =
        format!("{alias}{shadow} IS NOT NULL AND {alias}{shadow} OPERATOR(pg_catalog.=) {column}");
    if member.not_null {
        // In this form it spares SET NOT NULL the scan.
        equal
    } else {
        format!("CASE WHEN {column} IS NULL THEN {alias}{shadow} IS NULL ELSE {equal} END")
    }
}

/// Of the block of the backfill.
const LABEL: &str = "<<fill>>";

/// Fills the shadow in short transactions, which skip rows that others have locked and come back for them. Variables and
/// columns have their block or table before them: the table may have columns of the same names.
pub fn backfill(member: &Member) -> String {
    let (table, column, shadow) = (
        member.quoted_table(),
        member.quoted_name(),
        member.new_name(),
    );
    let (literal, owner) = (sql::literal(&table), member.quoted_owner());
    let missing = format!("NOT ({})", is_equal(member, &shadow, "t."));
    let tid = |page: &str| {
        format!("pg_catalog.format('(%s,0)'::pg_catalog.text, {page})::pg_catalog.tid")
    };
    let (first, end) = (
        tid("fill.page"),
        tid("fill.page OPERATOR(pg_catalog.+) 10::pg_catalog.int8"),
    );
    let shown = table.replace('\'', "''").replace('%', "%%");
    block(&format!(
        "{LABEL}
DECLARE
  pages pg_catalog.int8 := pg_catalog.pg_relation_size({literal}::pg_catalog.regclass) OPERATOR(pg_catalog./) pg_catalog.current_setting('block_size'::pg_catalog.text)::pg_catalog.int8;
  tenth pg_catalog.int8 := pages OPERATOR(pg_catalog./) 10::pg_catalog.int8;
  page pg_catalog.int8;
  shown pg_catalog.int8;
  locked pg_catalog.tid[];
  written pg_catalog.int8;
BEGIN
  LOOP
    page := 0;
    shown := tenth;
    WHILE page OPERATOR(pg_catalog.<=) pages LOOP
      SET LOCAL ROLE {owner};
      locked := ARRAY(
        SELECT t.ctid FROM {table} AS t
        WHERE t.ctid OPERATOR(pg_catalog.>=) {first}
          AND t.ctid OPERATOR(pg_catalog.<) {end}
          AND {missing}
        FOR NO KEY UPDATE SKIP LOCKED);
      UPDATE {table} AS t SET {shadow} = t.{column} WHERE t.ctid OPERATOR(pg_catalog.=) ANY (fill.locked);
      GET DIAGNOSTICS written = ROW_COUNT;
      IF written OPERATOR(pg_catalog.<) pg_catalog.cardinality(locked) THEN
        RAISE EXCEPTION '{shown}: % of % rows were not updated', pg_catalog.cardinality(locked) OPERATOR(pg_catalog.-) written, pg_catalog.cardinality(locked)
          USING ERRCODE = 'object_not_in_prerequisite_state', DETAIL = 'A trigger has suppressed the update.',
            HINT = 'Disable the trigger until the swap, and run mint.convert_plan() again.';
      END IF;
      COMMIT;
      page := page OPERATOR(pg_catalog.+) 10::pg_catalog.int8;
      IF page OPERATOR(pg_catalog.>) shown THEN
        shown := page OPERATOR(pg_catalog.+) tenth;
        RAISE NOTICE '{shown}: % of % pages', page, pages;
      END IF;
    END LOOP;
    SET LOCAL ROLE {owner};
    EXIT WHEN NOT EXISTS (SELECT FROM {table} AS t WHERE {missing});
    COMMIT;
    PERFORM pg_catalog.pg_sleep(0.5);
  END LOOP;
END"
    ))
}

/// Adds the check that the shadow is as its column.
pub fn check(member: &Member, way: Way) -> String {
    let add = format!(
        "      ALTER TABLE {} ADD CONSTRAINT {} CHECK ({}) NOT VALID;",
        member.quoted_table(),
        member.check_name(),
        is_equal(member, &way.shadow(member), "")
    );
    retried(
        &member.quoted_owner(),
        EXCLUSIVE,
        [member.quoted_table().as_str()],
        &add,
    )
}

/// The name of the index that takes the place of another.
pub fn successor(index: &Index) -> String {
    format!("mint_{}", index.oid)
}

/// Builds the successor of an index, on shadows.
pub fn index(closure: &Closure, index: &Index, way: Way) -> String {
    let name_of = |number: i16, text: &str| match closure.find(index.relation, number) {
        Some(member) => way.shadow(member),
        None => text.to_owned(),
    };
    let texts = index.columns.iter().enumerate().map(|(place, column)| {
        let mut text = name_of(column.number, &column.text);
        if place < index.key_count {
            for (word, value) in [(" COLLATE ", &column.collation), (" ", &column.class)] {
                if let Some(value) = value {
                    text = format!("{text}{word}{value}");
                }
            }
            text.push_str(match column.option.unwrap_or(0) & 3 {
                1 => " DESC NULLS LAST",
                2 => " NULLS FIRST",
                3 => " DESC",
                _ => "",
            });
        }
        text
    });
    let texts: Vec<String> = texts.collect();
    let (keys, included) = texts.split_at(index.key_count.min(texts.len()));
    let mut rest = String::new();
    if !included.is_empty() {
        rest.push_str(&format!(" INCLUDE ({})", included.join(", ")));
    }
    if index.nulls_not_distinct == Some(true) {
        rest.push_str(" NULLS NOT DISTINCT");
    }
    if let Some(options) = &index.options {
        rest.push_str(&format!(" WITH ({options})"));
    }
    if let Some(tablespace) = &index.tablespace {
        rest.push_str(&format!(" TABLESPACE {}", sql::quoted_exactly(tablespace)));
    }
    format!(
        "CREATE {}INDEX CONCURRENTLY {} ON {} USING {} ({}){rest}",
        if index.is_unique { "UNIQUE " } else { "" },
        successor(index),
        closure.table(index.relation),
        index.method,
        keys.join(", ")
    )
}

/// The name of the foreign key that takes the place of another.
pub fn successor_key(key: &ForeignKey) -> String {
    format!("mint_fk_{}", key.oid)
}

/// Adds the successor of a foreign key, on shadows.
pub fn foreign_key(closure: &Closure, key: &ForeignKey, way: Way) -> String {
    let names = |relation: u32, numbers: &[i16]| {
        let name = |&number: &i16| match closure.find(relation, number) {
            Some(member) => way.shadow(member),
            None => sql::quoted_exactly(closure.column(relation, number)),
        };
        numbers.iter().map(name).collect::<Vec<_>>().join(", ")
    };
    let action = |letter: &str| match letter {
        "c" => "CASCADE",
        "n" => "SET NULL",
        "d" => "SET DEFAULT",
        "r" => "RESTRICT",
        _ => "NO ACTION",
    };
    let only = if key.set_numbers.is_empty() {
        String::new()
    } else {
        format!(" ({})", names(key.relation, &key.set_numbers))
    };
    let (table, to) = (closure.table(key.relation), closure.table(key.to));
    let add = format!(
        "      ALTER TABLE {table} ADD CONSTRAINT {} FOREIGN KEY ({}) REFERENCES {to} ({}){} ON UPDATE {} ON DELETE {}{only}{} NOT {};",
        successor_key(key),
        names(key.relation, &key.numbers),
        names(key.to, &key.to_numbers),
        if key.match_type == "f" {
            " MATCH FULL"
        } else {
            ""
        },
        action(&key.update),
        action(&key.delete),
        timing(key.deferrable, key.deferred),
        if key.is_enforced { "VALID" } else { "ENFORCED" }
    );
    retried(
        &closure.quoted_owner(),
        "SHARE ROW EXCLUSIVE",
        key_tables(closure, key),
        &add,
    )
}

/// The tables of a foreign key, as a DELETE that cascades takes its locks: ALTER TABLE takes them in the other order, and
/// would have to win against every such DELETE.
pub fn key_tables<'a>(closure: &'a Closure, key: &ForeignKey) -> Vec<&'a str> {
    let mut tables = vec![closure.table(key.to), closure.table(key.relation)];
    tables.dedup();
    tables
}

/// When a constraint is checked.
pub fn timing(deferrable: bool, deferred: bool) -> &'static str {
    match (deferrable, deferred) {
        (false, _) => "",
        (true, false) => " DEFERRABLE",
        (true, true) => " DEFERRABLE INITIALLY DEFERRED",
    }
}
