//! PostgreSQL's reports of core's errors; see [`crate::pg::error`].

use crate::pg::error::excerpt;
use crate::pg::error::{Report, ToReport, report, sentence};
use mint_core::bytes::excerpt::MAX_EXCERPT_BYTES;
use mint_core::codec::text::ENCODINGS;
use mint_core::codec::typeid::TypeIdError;
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
                report.detail("Only ids of 19 digits that begin with 9 can exceed the range.")
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
            Self::Value { max, .. } => {
                report.detail(format!("Values must be between 0 and {max}."))
            }
            Self::NotAnId { .. } => report
                .detail("The id is negative, or has bits above its range.")
                .hint("Use the shard_bits and range_bits that the id was made with."),
        }
    }
}

impl ToReport for SequenceTableError {
    fn code(&self) -> Code {
        match self {
            Self::Name(_) | Self::ZeroStep | Self::Negative(_) => BAD_PARAMETER,
            Self::Number(_) | Self::Value(_) => OUT_OF_RANGE,
        }
    }

    fn explain(&self, report: Report) -> Report {
        match self {
            Self::Name(_) => report.hint("Use a name such as seq_1_to_15 or seq_1_to_15_step_3."),
            Self::ZeroStep | Self::Number(_) => report,
            Self::Negative(_) => report.hint(
                "Use generate_series() for negative values. \
                 For descending values, give the greater bound first.",
            ),
            Self::Value(_) => report.hint("Use generate_series() with values of type numeric."),
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
                .detail(format!("The key is {} long.", bytes_text(*bytes)))
                .hint("Generate a key with \"openssl rand -hex 16\"."),
            Self::Tweak(bytes) => report
                .detail(format!("The tweak is {} long.", bytes_text(*bytes)))
                .hint("Use a short text, such as the name of the table."),
            Self::Id { max, .. } => {
                report.detail(format!("Ids of this width must be between 1 and {max}."))
            }
            Self::Bits => report,
        }
    }
}

fn bytes_text(bytes: usize) -> String {
    match bytes {
        1 => "1 byte".to_owned(),
        _ => format!("{bytes} bytes"),
    }
}

/// Begins the error of an encoding that is not allowed.
#[cold]
#[track_caller]
pub fn bad_encoding(name: &[u8], is_allowed: fn(&Encoding) -> bool) -> Report {
    let allowed = ENCODINGS.iter().filter(|encoding| is_allowed(encoding));
    let names: Vec<&str> = allowed.map(|encoding| encoding.name).collect();
    let error = EncodingError::UnknownName(excerpt(name));
    report(BAD_PARAMETER, error.to_string())
        .hint(format!("Use one of the encodings {}.", names.join(", ")))
}

/// Begins the error of an id that has no text.
#[cold]
#[track_caller]
pub fn bad_id(error: &EncodingError) -> Report {
    report(OUT_OF_RANGE, error.to_string()).hint("Exclude negative ids by WHERE id >= 0.")
}

/// Begins the error of a text that is not valid, such as a "base58 id". `again` returns the error of the text when it
/// is decoded to UTF-8, so that it names a digit as a character, and not as bytes of the database's encoding. If the
/// text is longer than messages show, only the shown part is decoded.
#[cold]
#[track_caller]
pub fn bad_text<E>(name: &str, text: &[u8], error: E, again: impl Fn(&[u8]) -> Option<E>) -> Report
where
    E: Explained,
{
    let is_short = text.len() <= MAX_EXCERPT_BYTES;
    let is_foreign = || error.to_string().contains(char::REPLACEMENT_CHARACTER);
    let decoded = (is_short || is_foreign()).then(|| excerpt(text));
    let error = decoded
        .and_then(|text| again(text.as_bytes()))
        .unwrap_or(error);
    let (code, hint) = error.code_and_hint();
    report(code, format!("invalid {name}: \"{}\"", excerpt(text)))
        .detail(sentence(&error.to_string()))
        .hint_if(hint.map(str::to_owned))
}

/// The fault of a text, as PostgreSQL reports it.
pub trait Explained: std::fmt::Display {
    /// Returns the SQLSTATE, and the HINT.
    fn code_and_hint(&self) -> (Code, Option<&'static str>);
}

impl Explained for EncodingError {
    fn code_and_hint(&self) -> (Code, Option<&'static str>) {
        match self {
            Self::OutOfRange | Self::TooWide => (OUT_OF_RANGE, None),
            Self::WrongCase { .. } => (
                BAD_TEXT,
                Some("Keep the case of each digit as it was written."),
            ),
            Self::LeadingZero(_) => (
                BAD_TEXT,
                Some("Remove the leading digits whose value is zero."),
            ),
            Self::Check(_) => (
                BAD_TEXT,
                Some("A character is wrong or missing, or two have changed places."),
            ),
            _ => (BAD_TEXT, None),
        }
    }
}

impl Explained for TypeIdError {
    fn code_and_hint(&self) -> (Code, Option<&'static str>) {
        match self {
            Self::Encoding(error) => error.code_and_hint(),
            _ => (BAD_TEXT, None),
        }
    }
}

/// Begins the error of a prefix that no TypeID has.
#[cold]
#[track_caller]
pub fn bad_prefix(prefix: &[u8], error: &TypeIdError) -> Report {
    report(
        BAD_PARAMETER,
        format!("invalid TypeID prefix: \"{}\"", excerpt(prefix)),
    )
    .detail(sentence(&error.to_string()))
    .hint("Use up to 63 lower case letters and underscores, with a letter at both ends, or an empty prefix.")
}
