//! A registry's statistics file, in the extended format of the five registries.
//!
//! The format is one record a line, fields between bars; see "RIR statistics exchange format"
//! (APNIC, README-EXTENDED):
//!
//! ```text
//! 2|ripencc|1539467999|189189|19830705|20181013|+0200                 header: version, registry, serial, records, days, UTC offset
//! ripencc|*|ipv4|*|72789|summary                                      how many records of a type follow
//! ripencc|FR|ipv4|2.0.0.0|1048576|20100712|allocated|d91963c1-e981    registry, country, type, start, value, date, status, holder
//! ```
//!
//! The value is a number of addresses for IPv4 (not always a power of two), a prefix length for
//! IPv6, a number of AS numbers for `asn`. Header and summaries promise how many records there are,
//! so that a file that was cut short is noticed.
//!
//! [`parse_line`] reads one line, [`read`] a whole file.

mod census;
mod day;
mod error;
mod field;
mod file;
mod header;
mod line;
mod row;

pub use census::{FileReport, Tally};
pub use day::Day;
pub use error::ReadError;
pub use field::{Field, Malformed};
pub(crate) use file::{LONGEST_LINE, read_lines};
pub use file::{read, read_stream};
pub use header::{Header, Summary};
pub use line::{Line, parse_line};
pub use row::{Resource, Row, Status};
