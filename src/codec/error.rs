//! PostgreSQL's reports of core's errors; see [`crate::pg::error`].

use crate::pg::charset::decode;
use crate::pg::error::{Report, ToReport, report, sentence};
use mint_core::codec::text::ENCODINGS;
use mint_core::{
    AutoRandomError, ConcealError, Encoding, EncodingError, ScatterError, SequenceTableError,
};
use pgrx::PgSqlErrorCode as Code;

const OUT_OF_RANGE: Code = Code::ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE;
const BAD_PARAMETER: Code = Code::ERRCODE_INVALID_PARAMETER_VALUE;
const BAD_TEXT: Code = Code::ERRCODE_INVALID_TEXT_REPRESENTATION;

impl ToReport for ScatterError {
    fn code(&self) -> Code {
        match self {
            Self::Digits => BAD_PARAMETER,
            Self::OutOfRange { .. } => OUT_OF_RANGE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Digits => report,
            Self::OutOfRange { .. } => {
                report.detail("Only ids of 19 digits that begin with 9 can be.")
            }
        }
    }
}

impl ToReport for AutoRandomError {
    fn code(&self) -> Code {
        match self {
            Self::ShardBits | Self::RangeBits => BAD_PARAMETER,
            Self::Value { .. } | Self::NotAnId { .. } => OUT_OF_RANGE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::ShardBits | Self::RangeBits => report,
            Self::Value { max, .. } => report.detail(format!("Values are 0 to {max}.")),
            Self::NotAnId { .. } => report
                .detail("It is negative, or has bits above its range.")
                .hint("Give the widths that made the id."),
        }
    }
}

impl ToReport for SequenceTableError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) | Self::ZeroStep => BAD_PARAMETER,
            Self::Number(_) | Self::Negative(_) | Self::Value(_) => OUT_OF_RANGE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Name(_) => report.hint("It is named like seq_1_to_15 or seq_1_to_15_step_3."),
            Self::ZeroStep | Self::Number(_) => report,
            Self::Negative(_) => report.hint(
                "For negative values use generate_series(). \
                 Which bound is greater says whether values descend.",
            ),
            Self::Value(_) => report.hint("Use generate_series() over numeric."),
        }
    }
}

impl ToReport for ConcealError {
    fn code(&self) -> Code {
        match self {
            Self::Key(_) | Self::Bits | Self::Tweak(_) => BAD_PARAMETER,
            Self::Id { .. } => OUT_OF_RANGE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Key(bytes) => report
                .detail(format!("It has {bytes} bytes."))
                .hint("Make one with: openssl rand -hex 16"),
            Self::Tweak(bytes) => report
                .detail(format!("It has {bytes} bytes."))
                .hint("Use a short name, such as that of the table."),
            Self::Id { max, .. } => report.detail(format!("Ids of this width are 1 to {max}.")),
            Self::Bits => report,
        }
    }
}

/// Decodes a text for a message, and cuts it off: no id is nearly as long.
fn shown(text: &[u8]) -> String {
    const LONGEST: usize = 64;
    let all = decode(text);
    match all.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}...", &all[..end]),
        None => all,
    }
}

/// Begins the error of an unknown encoding.
#[cold]
#[track_caller]
pub fn bad_encoding(name: &[u8]) -> Report {
    let names: Vec<&str> = ENCODINGS.iter().map(|encoding| encoding.name).collect();
    let error = EncodingError::UnknownName(shown(name));
    report(BAD_PARAMETER, error.to_string()).hint(format!("Encodings are {}.", names.join(", ")))
}

/// Begins the error of an id that has no text.
#[cold]
#[track_caller]
pub fn bad_id(error: &EncodingError) -> Report {
    report(OUT_OF_RANGE, error.to_string()).detail("Ids are 0 or positive.")
}

/// Begins the error of a text that is not an id.
#[cold]
#[track_caller]
pub fn bad_id_text(encoding: &Encoding, text: &[u8], error: &EncodingError) -> Report {
    // Names the digit as a character, not as bytes of the database's encoding.
    let decoded = encoding.decode(decode(text).as_bytes()).err();
    let (text, error) = (shown(text), decoded.as_ref().unwrap_or(error));
    let name = encoding.name;
    let (code, hint) = match error {
        EncodingError::OutOfRange => (OUT_OF_RANGE, None),
        EncodingError::WrongCase(_) => (
            BAD_TEXT,
            Some(format!("Upper and lower case differ in {name}.")),
        ),
        EncodingError::LeadingZero(_) => (
            BAD_TEXT,
            Some(format!("An id has one text in {name}, the shortest.")),
        ),
        _ => (BAD_TEXT, None),
    };
    report(code, format!("invalid {name} id: \"{text}\""))
        .detail(sentence(&error.to_string()))
        .hint_if(hint)
}
