//! Findings of foreign keys: a column that is narrower than the one it refers to.

use crate::adopt::audit::findings::{Finding, Severity};
use crate::adopt::audit::subject::Subject;
use crate::adopt::default::Generators;
use crate::adopt::inventory::columns::{BASE, LONGEST_DEFAULT};
use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;

/// Foreign keys from the column and to it whose referring column is narrower.
const NARROW: &str = "SELECT format('%I.%I', n.nspname, c.relname),
        quote_ident(a.attname::text), format_type(a.atttypid, a.atttypmod),
        format('%I.%I(%I)', m.nspname, d.relname, b.attname),
        format_type(b.atttypid, b.atttypmod),
        CASE WHEN b.attgenerated = ''
            AND octet_length(e.adbin::text) <= $3::int4
            THEN pg_get_expr(e.adbin, 0) END
    FROM pg_constraint AS f
    CROSS JOIN LATERAL ROWS FROM (unnest(f.conkey), unnest(f.confkey)) AS one(near, far)
    JOIN pg_class AS c ON c.oid = f.conrelid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    JOIN pg_attribute AS a ON a.attrelid = c.oid AND a.attnum = one.near
    JOIN pg_class AS d ON d.oid = f.confrelid
    JOIN pg_namespace AS m ON m.oid = d.relnamespace
    JOIN pg_attribute AS b ON b.attrelid = d.oid AND b.attnum = one.far
    JOIN base AS near_type ON near_type.oid = a.atttypid
    JOIN base AS far_type ON far_type.oid = b.atttypid
    LEFT JOIN pg_attrdef AS e ON e.adrelid = d.oid AND e.adnum = one.far
    WHERE f.contype = 'f'
        AND f.conparentid = 0
        AND ((f.conrelid = $1::oid AND one.near = $2::int2)
            OR (f.confrelid = $1::oid AND one.far = $2::int2))
        AND near_type.base IN (21, 23)
        AND far_type.base IN (23, 20)
        AND a.attlen < b.attlen
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
