//! Here is a robots.txt: may this path be fetched, and how fast? (RFC 9309)
//!
//! The text is read once; only the rules of our group are kept, in the order of the file. What a
//! missing, broken or moved robots.txt means is decided in [`answer`].

pub mod answer;
mod parse;
mod pattern;

use serde::{Deserialize, Serialize};

use pattern::Pattern;

/// Our product token.
pub const TOKEN: &str = "nearcrawl";

/// Bytes of robots.txt that are read; the rest is as if it were not there (RFC 9309 section 2.5
/// asks for 500 KiB).
pub const MAX_BYTES: usize = 512 << 10;

/// Longest Crawl-delay that is honoured, in milliseconds.
pub const MAX_DELAY_MS: u32 = 60_000;

/// What one host's robots.txt tells us.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    rules: Vec<Rule>,
    delay_ms: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Rule {
    allow: bool,
    pattern: Pattern,
}

impl Robots {
    /// Everything may be fetched.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// The rules for us in this text. Any text is a robots.txt; what is no rule in it is passed
    /// over.
    pub fn parse(text: &[u8]) -> Self {
        parse::robots(&text[..text.len().min(MAX_BYTES)])
    }

    /// Whether this path with its query may be fetched: the longest matching rule decides, allow
    /// wins between equals, no rule means yes (RFC 9309 section 2.2.2).
    pub fn allows(&self, path_and_query: &str) -> bool {
        if path_and_query == "/robots.txt" {
            return true;
        }
        let path = model::url::canonical_escapes(path_and_query);
        let matching = self.rules.iter().filter(|rule| rule.pattern.matches(&path));
        matching.max_by_key(|rule| (rule.pattern.len(), rule.allow)).is_none_or(|rule| rule.allow)
    }

    /// Crawl-delay, in milliseconds, at most [`MAX_DELAY_MS`].
    pub fn delay_ms(&self) -> Option<u32> {
        self.delay_ms
    }
}

#[cfg(test)]
mod tests;
