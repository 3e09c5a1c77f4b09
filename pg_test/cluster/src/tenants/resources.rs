//! The limited resources that tenants use up, and the statements that do it.

/// More than there are slots for.
pub(crate) const MANY: usize = 1_100;

/// The resource that tenants use up in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Databases under reused oids, with crashes.
    Oids,
    /// A lane for each of thousands of layouts.
    Lanes,
    /// Segments of more sequences than there are slots for.
    Segments,
    /// Users in more sections than there are slots for.
    Sections,
    /// A ceiling with each recreation of the extension.
    Ceilings,
}

impl Resource {
    pub const ALL: [Self; 5] = [
        Self::Oids,
        Self::Lanes,
        Self::Segments,
        Self::Sections,
        Self::Ceilings,
    ];

    /// Returns the statements of a tenant's turn.
    pub(crate) fn statements(self, me: &str, turn: usize, offset: usize) -> Vec<String> {
        match self {
            Self::Oids => vec![
                format!("CREATE DATABASE {me}_own TEMPLATE pattern"),
                format!("DROP DATABASE {me}_own WITH (FORCE)"),
            ],
            Self::Lanes => vec![
                "CREATE EXTENSION IF NOT EXISTS pg_mint".to_owned(),
                format!(
                    "SELECT count(snowflake_next_id(0, ('time:41 shard:10 seq:12 epoch:' || to_char(timestamp '2001-01-01'
                     + i * interval '1 second', 'YYYY-MM-DD\"T\"HH24:MI:SS') || 'Z')::snowflake_layout))
                     FROM generate_series({offset}, {offset} + 500) i"
                ),
            ],
            Self::Segments => vec![
                "CREATE EXTENSION IF NOT EXISTS pg_mint".to_owned(),
                format!("DO $$ BEGIN FOR n IN 1..{MANY} LOOP EXECUTE format('CREATE SEQUENCE IF NOT EXISTS s%s', n); END LOOP; END $$"),
                draw_from_many(0),
            ],
            Self::Sections => vec![
                "CREATE EXTENSION IF NOT EXISTS pg_mint".to_owned(),
                format!("SELECT user_sequence_create('f{}', 200, 2)", turn % 20),
                format!("SELECT count(user_sequence_next('f{}', n)) FROM generate_series({offset}, {offset} + 400) n", turn % 20),
            ],
            Self::Ceilings => vec![
                "CREATE EXTENSION IF NOT EXISTS pg_mint; SELECT snowflake_next_id(5)".to_owned(),
                "DROP EXTENSION pg_mint CASCADE".to_owned(),
            ],
        }
    }
}

/// Returns the query that draws one value of each of [`MANY`] sequences.
pub(crate) fn draw_from_many(first: usize) -> String {
    format!(
        "SELECT count(segment_next(format('s%s', {first} + n)::regclass)) FROM generate_series(1, {MANY}) n"
    )
}
