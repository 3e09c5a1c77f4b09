//! From the errors of what only computes to PostgreSQL's; see [`crate::pg::error`].

use crate::pg::charset::decode;
use crate::pg::error::{OrReport, report, sentence};
use mint_core::codec::text::ENCODINGS;
use mint_core::{
    AutoRandomError, ConcealError, Encoding, EncodingError, ScatterError, SequenceTableError,
};
use pgrx::PgSqlErrorCode as Code;

const OUT_OF_RANGE: Code = Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
const BAD_PARAMETER: Code = Code::ERRCODE_INVALID_PARAMETER_VALUE;

impl<T> OrReport<T> for Result<T, ScatterError> {
    #[inline]
    fn or_report(self) -> T {
        self.unwrap_or_else(|error| {
            let (code, detail) = match error {
                ScatterError::Digits => (BAD_PARAMETER, None),
                ScatterError::OutOfRange { .. } => (
                    OUT_OF_RANGE,
                    Some("Only ids of 19 digits that begin with 9 can be.".to_owned()),
                ),
            };
            report(code, error.to_string(), detail, None)
        })
    }
}

impl<T> OrReport<T> for Result<T, AutoRandomError> {
    #[inline]
    fn or_report(self) -> T {
        self.unwrap_or_else(|error| {
            let (code, detail, hint) = match &error {
                AutoRandomError::ShardBits | AutoRandomError::RangeBits => {
                    (BAD_PARAMETER, None, None)
                }
                AutoRandomError::Value { max, .. } => {
                    (OUT_OF_RANGE, Some(format!("Values are 0 to {max}.")), None)
                }
                AutoRandomError::NotAnId { .. } => (
                    OUT_OF_RANGE,
                    Some("It is negative, or has bits above its range.".to_owned()),
                    Some("Give the widths that made the id.".to_owned()),
                ),
            };
            report(code, error.to_string(), detail, hint)
        })
    }
}

impl<T> OrReport<T> for Result<T, SequenceTableError> {
    #[inline]
    fn or_report(self) -> T {
        self.unwrap_or_else(|error| {
            let (code, hint) = match &error {
                SequenceTableError::Name(_) => (
                    BAD_PARAMETER,
                    Some("It is named like seq_1_to_15 or seq_1_to_15_step_3."),
                ),
                SequenceTableError::ZeroStep => (BAD_PARAMETER, None),
                SequenceTableError::Number(_) => (OUT_OF_RANGE, None),
                SequenceTableError::Negative(_) => (
                    OUT_OF_RANGE,
                    Some("For negative values use generate_series(). Which bound is greater says whether values descend."),
                ),
                SequenceTableError::Value(_) => {
                    (OUT_OF_RANGE, Some("Use generate_series() over numeric."))
                }
            };
            report(code, error.to_string(), None, hint.map(str::to_owned))
        })
    }
}

impl<T> OrReport<T> for Result<T, ConcealError> {
    #[inline]
    fn or_report(self) -> T {
        self.unwrap_or_else(|error| {
            let (code, hint) = match &error {
                ConcealError::Key(_) => (
                    BAD_PARAMETER,
                    Some("Make one with: openssl rand -hex 16".to_owned()),
                ),
                ConcealError::Bits => (BAD_PARAMETER, None),
                ConcealError::Id { .. } => (OUT_OF_RANGE, None),
            };
            report(code, error.to_string(), None, hint)
        })
    }
}

/// A text as far as a message shows it: no id is nearly as long.
fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 64;
    let all = decode(text);
    match all.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &all[..end]),
        None => all,
    }
}

/// Refuses the name of an encoding.
#[cold]
pub fn bad_encoding(name: &[u8]) -> ! {
    let names: Vec<&str> = ENCODINGS.iter().map(|encoding| encoding.name).collect();
    let error = EncodingError::UnknownName(shown(name));
    report(
        BAD_PARAMETER,
        error.to_string(),
        None,
        Some(format!("Encodings are {}.", names.join(", "))),
    )
}

/// Refuses an id that has no text.
#[cold]
pub fn bad_id(error: &EncodingError) -> ! {
    report(
        OUT_OF_RANGE,
        error.to_string(),
        Some("Ids are 0 or positive.".to_owned()),
        None,
    )
}

/// Refuses a text that is no id.
#[cold]
pub fn bad_id_text(encoding: &Encoding, text: &[u8], error: &EncodingError) -> ! {
    // With the digit as the database's encoding has it.
    let told = encoding.decode(decode(text).as_bytes()).err();
    let (text, error) = (shown(text), told.as_ref().unwrap_or(error));
    let (code, hint) = match error {
        EncodingError::OutOfRange => (OUT_OF_RANGE, None),
        EncodingError::WrongCase(_) => (
            Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
            Some(format!("Upper and lower case differ in {}.", encoding.name)),
        ),
        EncodingError::LeadingZero(_) => (
            Code::ERRCODE_INVALID_TEXT_REPRESENTATION,
            Some(format!(
                "An id has one text in {}, the shortest.",
                encoding.name
            )),
        ),
        _ => (Code::ERRCODE_INVALID_TEXT_REPRESENTATION, None),
    };
    report(
        code,
        format!("invalid {} id: \"{text}\"", encoding.name),
        sentence(&error.to_string()),
        hint,
    )
}
