//! Bounds on the values in entries: what no honest agent reports, and no column could hold.

use crate::limits;
use crate::page::{Entry, Fetch, Outcome, Trend};

/// A value outside its bounds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// A URL contains a control character, such as NUL.
    #[error("its URL contains a control character")]
    ControlCharacter,
    /// The size on the wire exceeds [`limits::FETCH_WIRE_BYTES`].
    #[error("{0} bytes on the wire; the limit is {max}", max = limits::FETCH_WIRE_BYTES)]
    WireBytes(u64),
    /// The slowdown is no positive number, or exceeds [`limits::SLOWDOWN`].
    #[error("its slowdown is not between 0 and {max}", max = limits::SLOWDOWN)]
    Slowdown,
}

/// Checks the values of an entry.
///
/// The time of a fetch is not checked: the clock of an honest agent may be wrong. The coordinator
/// believes no time after the package was received.
pub(super) fn check(entry: &Entry) -> Result<(), ValueError> {
    match entry {
        Entry::Fetch(fetch) => check_fetch(fetch),
        Entry::Discovered(discovered) => check_url(&discovered.url),
    }
}

fn check_fetch(fetch: &Fetch) -> Result<(), ValueError> {
    check_url(&fetch.url)?;
    if let Outcome::Redirect { location, .. } = &fetch.outcome {
        check_url(location)?;
    }
    if fetch.wire_bytes > limits::FETCH_WIRE_BYTES {
        return Err(ValueError::WireBytes(fetch.wire_bytes));
    }
    match fetch.trend {
        Some(Trend::Slower { ratio }) if !(ratio > 0.0 && ratio <= limits::SLOWDOWN) => {
            Err(ValueError::Slowdown)
        }
        _ => Ok(()),
    }
}

fn check_url(url: &str) -> Result<(), ValueError> {
    if url.chars().any(char::is_control) { Err(ValueError::ControlCharacter) } else { Ok(()) }
}
