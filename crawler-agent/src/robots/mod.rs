//! Robots exclusion (RFC 9309): whether a path may be fetched, and how fast.
//!
//! The text is parsed once; only the rules of the agent's group are kept. What a missing, broken or
//! moved robots.txt means is decided in [`answer`].

pub mod answer;
mod parse;
mod pattern;

use std::fmt;

use model::CrawlUrl;
use serde::{Deserialize, Serialize};

use pattern::Pattern;

/// Product token of the crawler in User-agent lines.
pub const TOKEN: &str = "nearcrawl";

/// Bytes of robots.txt that are parsed; the rest is ignored (RFC 9309 section 2.5 demands at least
/// 500 KiB).
pub const MAX_BYTES: usize = 512 << 10;

/// Longest Crawl-delay that is obeyed, in milliseconds.
pub const MAX_DELAY_MS: u32 = 60_000;

/// Most sitemaps that are taken from a robots.txt: publishers name up to some hundred.
const MAX_SITEMAPS: usize = 500;

/// Most bytes of the URLs of these sitemaps.
const MAX_SITEMAP_BYTES: usize = 64 << 10;

/// The rules of one host that apply to this crawler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Robots {
    rules: Vec<Rule>,
    delay_ms: Option<u32>,
    sitemaps: Vec<CrawlUrl>,
}

/// A line that allows or disallows paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rule {
    allow: bool,
    pattern: Pattern,
    /// Length of the pattern as it was written, which decides between rules that match.
    rank: u32,
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let field = if self.allow { "Allow" } else { "Disallow" };
        write!(f, "{field}: {}", self.pattern)
    }
}

impl Robots {
    /// Rules that allow everything.
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Parses any text; lines that are no rules are skipped, as RFC 9309 section 2.2 demands.
    pub fn parse(text: &[u8]) -> Self {
        Self::parse_for(TOKEN, text)
    }

    /// The same for the crawler with another product token.
    pub fn parse_for(token: &str, text: &[u8]) -> Self {
        // A rule that is cut off forbids, or allows, more than the whole one.
        let text = text.get(..MAX_BYTES).map_or(text, whole_lines);
        parse::robots(token, text)
    }

    /// Whether this path with its query may be fetched; no rule means yes.
    pub fn allows(&self, path_and_query: &str) -> bool {
        self.deciding_rule(path_and_query).is_none_or(|rule| rule.allow)
    }

    /// The rule that decides about this path with its query: the longest that matches; allow wins
    /// between equals (RFC 9309 section 2.2.2).
    pub fn deciding_rule(&self, path_and_query: &str) -> Option<&Rule> {
        // RFC 9309 section 2.2.2 allows it implicitly.
        if path_and_query == "/robots.txt" {
            return None;
        }
        let path = pattern::comparable(path_and_query);
        let matching = self.rules.iter().filter(|rule| rule.pattern.matches(&path));
        matching.max_by_key(|rule| (rule.rank, rule.allow))
    }

    /// Takes the sitemaps that the file names for any crawler, at most 500, out of the rules.
    pub fn take_sitemaps(&mut self) -> Vec<CrawlUrl> {
        std::mem::take(&mut self.sitemaps)
    }

    /// Bytes in memory, about.
    pub fn bytes(&self) -> usize {
        let rules = self.rules.iter().map(|rule| rule.pattern.len() + size_of::<Rule>() + 16);
        let sitemaps = self.sitemaps.iter().map(|url| url.as_str().len() + size_of::<CrawlUrl>());
        rules.chain(sitemaps).sum()
    }

    /// Crawl-delay, in milliseconds, at most [`MAX_DELAY_MS`].
    pub fn delay_ms(&self) -> Option<u32> {
        self.delay_ms
    }
}

/// The text up to the end of its last line that has one.
fn whole_lines(text: &[u8]) -> &[u8] {
    let end = text.iter().rposition(|byte| matches!(byte, b'\n' | b'\r'));
    &text[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests;
