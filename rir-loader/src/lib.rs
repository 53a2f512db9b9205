//! Registry files to a hierarchy in Postgres.
//!
//! The data flow, in reading order:
//!
//! 1. A file is unpacked as a stream ([`mod@input`]); its format is recognised by its first bytes
//!    ([`read::detect_format`]).
//! 2. [`delegated`] reads delegated files, [`whois`] the registries' database dumps (RPSL, LACNIC,
//!    ARIN as text and XML), [`routing`] an optional layer of routes. Malformed objects are counted
//!    ([`rejects`]); a file that is cut short, or of which more than one object in a hundred is
//!    malformed, is refused ([`TextError`]).
//! 3. [`settle`] applies rules for placeholders, transfers and duplicates, determines the holder of
//!    each range, and builds a [`hierarchy::Hierarchy`].
//! 4. [`read`] runs these steps over a set of files ([`files`] finds them in a directory).
//! 5. [`load`] writes the hierarchy to Postgres as a new generation and makes it the current one.
//!
//! Beside the data flow: [`fetch`] downloads the files from the registries, [`terms`] has each
//! registry's terms of use, [`stats`], [`inspect`] and [`diff`] answer questions about files
//! without a database, [`preview`] shows what a load would change for delegations, searches and
//! constraints, and [`split`] adds virtual subnets to the current generation. The library prints
//! nothing: progress goes to a [`Progress`] callback, results are in reports.

pub mod delegated;
pub mod diff;
pub mod fetch;
pub mod files;
pub mod format;
mod input;
pub mod inspect;
pub mod load;
pub mod preview;
mod progress;
pub mod read;
pub mod rejects;
pub mod report;
pub mod routing;
pub mod settle;
pub mod split;
pub mod stats;
pub mod terms;
mod text_error;
mod thousands;
pub mod virtual_subnets;
pub mod whois;

pub use progress::{Progress, Step};
pub use text_error::TextError;
pub use thousands::Thousands;
