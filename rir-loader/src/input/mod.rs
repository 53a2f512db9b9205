//! Files and standard input as unpacked text, in bounded memory.
//!
//! [`for_each_text`] recognises gzip and zip by their first bytes and hands out each text inside; a
//! zip may hold several. [`Lines`] splits a text into numbered lines.

mod lines;
mod unpack;

pub(crate) use lines::{Line, Lines, split_head};
pub(crate) use unpack::{for_each_text, is_stdin};
