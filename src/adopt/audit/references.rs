//! Findings of foreign keys: a column that is narrower than the one it refers to.

use crate::adopt::audit::findings::{Finding, Severity};
use crate::adopt::audit::subject::Subject;
use crate::adopt::default::Generators;
use crate::adopt::inventory::columns::{BASE, LONGEST_DEFAULT};
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;

/// Foreign keys from the column and to it whose referring column is narrower.
const NARROW: &str = "SELECT pg_catalog.format('%I.%I'::pg_catalog.text, n.nspname, c.relname),
        pg_catalog.quote_ident(a.attname::pg_catalog.text), pg_catalog.format_type(a.atttypid, a.atttypmod),
        pg_catalog.format('%I.%I(%I)'::pg_catalog.text, m.nspname, d.relname, b.attname),
        pg_catalog.format_type(b.atttypid, b.atttypmod),
        CASE WHEN b.attgenerated OPERATOR(pg_catalog.=) ''::pg_catalog.\"char\"
            AND pg_catalog.octet_length(e.adbin::pg_catalog.text) OPERATOR(pg_catalog.<=) $3::pg_catalog.int4
            THEN pg_catalog.pg_get_expr(e.adbin, 0::pg_catalog.oid) END
    FROM pg_catalog.pg_constraint AS f
    CROSS JOIN LATERAL ROWS FROM (pg_catalog.unnest(f.conkey), pg_catalog.unnest(f.confkey)) AS one(near, far)
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) f.conrelid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attnum OPERATOR(pg_catalog.=) one.near
    JOIN pg_catalog.pg_class AS d ON d.oid OPERATOR(pg_catalog.=) f.confrelid
    JOIN pg_catalog.pg_namespace AS m ON m.oid OPERATOR(pg_catalog.=) d.relnamespace
    JOIN pg_catalog.pg_attribute AS b ON b.attrelid OPERATOR(pg_catalog.=) d.oid AND b.attnum OPERATOR(pg_catalog.=) one.far
    JOIN base AS near_type ON near_type.oid OPERATOR(pg_catalog.=) a.atttypid
    JOIN base AS far_type ON far_type.oid OPERATOR(pg_catalog.=) b.atttypid
    LEFT JOIN pg_catalog.pg_attrdef AS e ON e.adrelid OPERATOR(pg_catalog.=) d.oid AND e.adnum OPERATOR(pg_catalog.=) one.far
    WHERE f.contype OPERATOR(pg_catalog.=) 'f'::pg_catalog.\"char\"
        AND f.conparentid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
        AND ((f.conrelid OPERATOR(pg_catalog.=) $1::pg_catalog.oid AND one.near OPERATOR(pg_catalog.=) $2::pg_catalog.int2)
            OR (f.confrelid OPERATOR(pg_catalog.=) $1::pg_catalog.oid AND one.far OPERATOR(pg_catalog.=) $2::pg_catalog.int2))
        AND near_type.base OPERATOR(pg_catalog.=) ANY ('{21,23}'::pg_catalog.oid[])
        AND far_type.base OPERATOR(pg_catalog.=) ANY ('{23,20}'::pg_catalog.oid[])
        AND a.attlen OPERATOR(pg_catalog.<) b.attlen
    ORDER BY n.nspname, c.relname, a.attnum, f.conname";

/// Checks the foreign keys of a column, and those that refer to it.
pub fn check(subject: &Subject, generators: &Generators, found: &mut Vec<Finding>) {
    let arguments = [
        subject.table.into(),
        subject.number.into(),
        LONGEST_DEFAULT.into(),
    ];
    let query = format!("WITH RECURSIVE {BASE} {NARROW}");
    let all = sql::rows(&query, &arguments, |row| {
        let text = |column| row.get::<DecodedText>(column).map(|text| text.0);
        Some(([text(1)?, text(2)?, text(3)?, text(4)?, text(5)?], text(6)))
    });
    for ([table, column, its, far, wide], default) in all {
        use crate::adopt::default::Generator::Snowflake;
        let generator = default.and_then(|default| generators.of(&default));
        // Then the next id does not fit, and not only one in years.
        let is_near = matches!(generator, Some(Snowflake { .. }));
        let severity = if is_near {
            Severity::Error
        } else {
            Severity::Warning
        };
        let evidence = format!("{table}({column}) of type {its} refers to {far} of type {wide}.");
        found.push(
            Finding::new(
                severity,
                "foreign key is narrower than what it refers to",
                evidence,
            )
            .mended_by(format!(
                "ALTER TABLE {table} ALTER COLUMN {column} TYPE {wide};"
            )),
        );
    }
}
