//! Bytes from a file or standard input as numbered lines: plain, gzip or zip, in bounded memory.
//!
//! What a file is, its first bytes say, never its name. [`each_text`] unpacks it ([`unpack`]) under
//! the eyes of a guard that stops at an archive which unpacks to far more than any registry's file
//! does ([`guard`]), gzip on a thread of its own ([`ahead`]), and hands out one [`Lines`] for each
//! text inside: a zip holds several.

mod ahead;
mod guard;
mod lines;
mod unpack;

pub(crate) use lines::{LineError, Lines};
pub(crate) use unpack::{each_text, is_stdin, unpack_stream};
