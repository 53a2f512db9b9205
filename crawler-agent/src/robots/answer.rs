//! Meaning of the answer to a request for robots.txt (RFC 9309 section 2.3.1).

use super::Robots;

/// Redirects that are followed for robots.txt.
pub const MAX_HOPS: u8 = 5;

/// Meaning of one answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// These rules apply until they are a day old.
    Rules(Robots),
    /// The file is at this location instead.
    Moved(String),
    /// Nothing may be fetched until a later request succeeds.
    Unreachable(String),
}

/// Whether guards against crawlers answer with this status, instead of with the content of the URL.
pub const fn is_of_guard(status: u16) -> bool {
    matches!(status, 202 | 418 | 420 | 430)
}

/// Meaning of an answer with this status, Location and body, after `hops` redirects.
///
/// 429 counts as unreachable although it is a 4xx status: the host asks for fewer requests, which
/// must not be read as permission for all of them.
pub fn meaning(status: u16, location: Option<&str>, body: &[u8], hops: u8) -> Meaning {
    match (status, location) {
        // The answer of a guard is neither a file nor permission.
        _ if is_of_guard(status) || matches!(status, 429 | 500..=599) => {
            Meaning::Unreachable(format!("robots.txt answered with status {status}"))
        }
        (200..=299, _) => Meaning::Rules(Robots::parse(body)),
        (301 | 302 | 303 | 307 | 308, Some(location)) if hops < MAX_HOPS => {
            Meaning::Moved(location.to_owned())
        }
        _ => Meaning::Rules(Robots::allow_all()),
    }
}
