//! Registry files to a hierarchy in Postgres.
//!
//! The road through this crate, in reading order:
//!
//! 1. [`delegated`] reads one registry's statistics file as a stream, plain or gzip, and refuses what is malformed or cut
//!    short, saying file, line, field and what was expected.
//! 2. [`settle`] keeps the address ranges that somebody holds, numbers the companies and groups neighbours into blocks.
//! 3. [`read`] runs both over a set of files ([`files`] finds them in a directory) and nests everything into a
//!    [`hierarchy::Hierarchy`].
//! 4. [`load`] writes that to Postgres as a new generation and swaps it in.
//!
//! Beside the road: [`fetch`] downloads today's files from the registries, [`stats`] and [`inspect`] answer questions about
//! files without a database. The library prints nothing: what a person may want to see while waiting is handed to a
//! [`Watch`], what came of it is in a report.

pub mod delegated;
pub mod fetch;
pub mod files;
mod input;
pub mod inspect;
pub mod load;
pub mod read;
pub mod report;
pub mod settle;
pub mod stats;
mod watch;

pub use watch::{Step, Watch};
