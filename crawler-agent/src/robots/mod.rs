//! Robots exclusion (RFC 9309): whether a path may be fetched, and how fast.
//!
//! The text is parsed once; only the rules of the agent's group are kept. What a missing, broken or
//! moved robots.txt means is decided in [`answer`].

pub mod answer;
mod parse;
mod pattern;

use serde::{Deserialize, Serialize};

use pattern::Pattern;

/// Product token of the crawler in User-agent lines.
pub const TOKEN: &str = "nearcrawl";

/// Bytes of robots.txt that are parsed; the rest is ignored (RFC 9309 section 2.5 demands at least
/// 500 KiB).
pub const MAX_BYTES: usize = 512 << 10;

/// Longest Crawl-delay that is obeyed, in milliseconds.
pub const MAX_DELAY_MS: u32 = 60_000;

/// The rules of one host that apply to this crawler.
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
    /// Rules that allow everything.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Parses any text; lines that are no rules are skipped, as RFC 9309 section 2.2 demands.
    pub fn parse(text: &[u8]) -> Self {
        parse::robots(&text[..text.len().min(MAX_BYTES)])
    }

    /// Whether this path with its query may be fetched: the longest matching rule decides, allow
    /// wins between equals, no rule means yes (RFC 9309 section 2.2.2).
    pub fn allows(&self, path_and_query: &str) -> bool {
        // RFC 9309 section 2.2.2 allows it implicitly.
        if path_and_query == "/robots.txt" {
            return true;
        }
        // Rules were brought into the same form, so that `%7E` and `~` match each other.
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
