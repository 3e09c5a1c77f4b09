//! Puts bounds of an id in the place of conditions on its time, or beside them.

mod bounding;
pub mod conditions;
