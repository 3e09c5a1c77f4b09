//! Midnights of a time zone.

use crate::pg::catalog::sql;
use crate::pg::datum::text::DecodedText;
use crate::pg::datum::timestamp::{from_local, timestamp, to_local, to_micros};
use mint_core::Micros;
use pgrx::datum::{DatumWithOid, Interval, Timestamp, TimestampWithTimeZone};

/// A time zone, by a name that the server knows.
pub struct Zone(pub String);

impl Zone {
    /// Returns the local timestamp at a timestamp.
    pub fn local(&self, at: Micros) -> Option<Micros> {
        let query = "SELECT timezone($1::text, $2::timestamptz)";
        sql::ask_with::<Timestamp>(query, &[self.name(), timestamp(at)?.into()]).map(from_local)
    }

    /// Returns the timestamps of local ones.
    pub fn times(&self, local: &[Micros]) -> Option<Vec<Micros>> {
        let query = "SELECT array_agg(timezone($1::text, one.at) ORDER BY one.place)
             FROM unnest($2::timestamp[]) WITH ORDINALITY AS one(at, place)";
        let local: Option<Vec<Timestamp>> = local.iter().copied().map(to_local).collect();
        let times: Vec<TimestampWithTimeZone> =
            sql::ask_with(query, &[self.name(), local?.into()])?;
        Some(times.into_iter().map(to_micros).collect())
    }

    /// Returns the timestamp that is an interval before the start of the transaction, by the local calendar.
    pub fn before_now(&self, span: Interval) -> Option<Micros> {
        let query = "SELECT timezone($1::text,
             timezone($1::text, now()) - $2::interval)";
        sql::ask_with::<TimestampWithTimeZone>(query, &[self.name(), span.into()]).map(to_micros)
    }

    /// Returns the name for the server. From PostgreSQL 18 on, a session's own abbreviation UTC is looked up before names.
    fn name(&self) -> DatumWithOid<'_> {
        let is_utc = self.0.eq_ignore_ascii_case("UTC");
        let name = if is_utc { "Etc/UTC" } else { &self.0 };
        DecodedText(name.to_owned()).into()
    }
}
