//! From the errors of what only computes to PostgreSQL's; see [`crate::pg::error`].

use crate::pg::charset::decode;
use crate::pg::error::{Report, ToReport, report, sentence};
use mint_core::codec::text::ENCODINGS;
use mint_core::{
    AutoRandomError, ConcealError, Encoding, EncodingError, ScatterError, SequenceTableError,
};
use pgrx::PgSqlErrorCode as Code;

const OUT_OF_RANGE: Code = Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
const BAD_PARAMETER: Code = Code::ERRCODE_INVALID_PARAMETER_VALUE;

impl ToReport for ScatterError {
    fn to_report(&self) -> Report {
        let refused = |code| report(code, self.to_string());
        match self {
            Self::Digits => refused(BAD_PARAMETER),
            Self::OutOfRange { .. } => {
                refused(OUT_OF_RANGE).detail("Only ids of 19 digits that begin with 9 can be.")
            }
        }
    }
}

impl ToReport for AutoRandomError {
    fn to_report(&self) -> Report {
        let refused = |code| report(code, self.to_string());
        match self {
            Self::ShardBits | Self::RangeBits => refused(BAD_PARAMETER),
            Self::Value { max, .. } => {
                refused(OUT_OF_RANGE).detail(format!("Values are 0 to {max}."))
            }
            Self::NotAnId { .. } => refused(OUT_OF_RANGE)
                .detail("It is negative, or has bits above its range.")
                .hint("Give the widths that made the id."),
        }
    }
}

impl ToReport for SequenceTableError {
    fn to_report(&self) -> Report {
        let refused = |code| report(code, self.to_string());
        match self {
            Self::Name(_) => {
                refused(BAD_PARAMETER).hint("It is named like seq_1_to_15 or seq_1_to_15_step_3.")
            }
            Self::ZeroStep => refused(BAD_PARAMETER),
            Self::Number(_) => refused(OUT_OF_RANGE),
            Self::Negative(_) => refused(OUT_OF_RANGE).hint(
                "For negative values use generate_series(). \
                 Which bound is greater says whether values descend.",
            ),
            Self::Value(_) => refused(OUT_OF_RANGE).hint("Use generate_series() over numeric."),
        }
    }
}

impl ToReport for ConcealError {
    fn to_report(&self) -> Report {
        let refused = |code| report(code, self.to_string());
        match self {
            Self::Key(_) => refused(BAD_PARAMETER).hint("Make one with: openssl rand -hex 16"),
            Self::Bits => refused(BAD_PARAMETER),
            Self::Id { .. } => refused(OUT_OF_RANGE),
        }
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
    report(BAD_PARAMETER, error.to_string())
        .hint(format!("Encodings are {}.", names.join(", ")))
        .raise()
}

/// Refuses an id that has no text.
#[cold]
pub fn bad_id(error: &EncodingError) -> ! {
    report(OUT_OF_RANGE, error.to_string())
        .detail("Ids are 0 or positive.")
        .raise()
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
    report(code, format!("invalid {} id: \"{text}\"", encoding.name))
        .detail_if(sentence(&error.to_string()))
        .hint_if(hint)
        .raise()
}
