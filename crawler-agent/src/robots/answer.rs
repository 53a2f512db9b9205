//! What does the answer to the request for robots.txt mean? (RFC 9309 section 2.3.1)

use super::Robots;

/// Redirects that are followed for robots.txt.
pub const MAX_HOPS: u8 = 5;

/// What to do after one request for robots.txt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Meaning {
    /// These rules hold until they are a day old.
    Rules(Robots),
    /// Ask there instead.
    Moved(String),
    /// Nothing may be fetched for now; ask again later.
    Unreachable(String),
}

/// The meaning of an answer with this status, Location and body, after `hops` redirects.
///
/// 429 counts as unreachable although it is a 4xx: a host that asks for calm shall have it.
pub fn meaning(status: u16, location: Option<&str>, body: &[u8], hops: u8) -> Meaning {
    match (status, location) {
        (200..=299, _) => Meaning::Rules(Robots::parse(body)),
        (301 | 302 | 303 | 307 | 308, Some(location)) if hops < MAX_HOPS => {
            Meaning::Moved(location.to_owned())
        }
        (429 | 500..=599, _) => {
            Meaning::Unreachable(format!("robots.txt answered with status {status}"))
        }
        _ => Meaning::Rules(Robots::allow_all()),
    }
}
