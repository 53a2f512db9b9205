//! Registry files to a hierarchy in Postgres.
//!
//! The road through this crate, in reading order:
//!
//! 1. A file is unpacked and cut into lines as a stream ([`mod@input`]); its first bytes tell its
//!    [`dialect`].
//! 2. [`delegated`] reads a registry's statistics, [`whois`] the registries' databases (RPSL,
//!    LACNIC, ARIN as text and XML), [`routing`] an optional layer of routes. What is malformed is
//!    counted and passed over ([`rejects`]); what is cut short, or malformed beyond a hundredth, is
//!    refused with file, line and what was expected.
//! 3. [`settle`] decides what of it counts: placeholders, transfers, duplicates; who holds what;
//!    which blocks lie around it.
//! 4. [`read`] runs all of that over a set of files ([`files`] finds them in a directory) and nests
//!    everything into a [`hierarchy::Hierarchy`].
//! 5. [`load`] writes that to Postgres as a new generation and swaps it in.
//!
//! Beside the road: [`fetch`] downloads today's files from the registries, [`terms`] says what each
//! registry allows, [`stats`], [`inspect`] and [`diff`] answer questions about files without a
//! database, and [`preview`] says what a load would change for delegations, searches and pins. The
//! library prints nothing: what a person may want to see while waiting is handed to a [`Watch`],
//! what came of it is in a report.

pub mod cut;
pub mod delegated;
pub mod dialect;
pub mod diff;
pub mod fetch;
pub mod files;
mod input;
pub mod inspect;
pub mod load;
pub mod preview;
pub mod read;
pub mod rejects;
pub mod report;
pub mod routing;
pub mod settle;
mod split;
pub mod stats;
pub mod terms;
mod text_error;
mod watch;
pub mod whois;

pub use text_error::TextError;
pub use watch::{Step, Watch};
