//! Parser of robots.txt (RFC 9309 section 2.1 and 2.2).

use model::CrawlUrl;

use super::{MAX_DELAY_MS, MAX_SITEMAP_BYTES, MAX_SITEMAPS, Robots, Rule, pattern::Pattern};

/// Longest line that is parsed, in bytes; longer ones are attacks rather than rules.
const MAX_LINE_BYTES: usize = 16 << 10;
/// Most rules with text behind a star, which is searched for in the path of each URL: a file has
/// room for tens of thousands, which would take a tenth of a second for each URL.
const MAX_COSTLY_RULES: usize = 2_000;

pub(super) fn robots(token: &str, text: &[u8]) -> Robots {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut reader = Reader { token, ..Reader::default() };
    for line in
        text.split(|b| matches!(b, b'\n' | b'\r')).filter(|line| line.len() <= MAX_LINE_BYTES)
    {
        reader.line(&String::from_utf8_lossy(line));
    }
    let robots = reader.own_group.unwrap_or(reader.wildcard_group);
    Robots { sitemaps: reader.sitemaps, ..robots }
}

/// State of the parser: the merged groups that name the crawler, and those for everyone.
#[derive(Default)]
struct Reader<'a> {
    /// Product token of the crawler.
    token: &'a str,
    own_group: Option<Robots>,
    wildcard_group: Robots,
    /// Sitemaps, which belong to no group.
    sitemaps: Vec<CrawlUrl>,
    sitemap_bytes: usize,
    /// Rules that may decide about us and have text behind a star.
    costly_rules: usize,
    /// Whether the current group names the crawler.
    names_us: bool,
    /// Whether the current group is for everyone.
    names_everyone: bool,
    /// Whether the current group has its first rule, so that the next user-agent line starts
    /// another group.
    has_rule: bool,
}

impl Reader<'_> {
    fn line(&mut self, line: &str) {
        let line = line.split('#').next().unwrap_or_default();
        let Some((key, value)) = line.split_once(':') else { return };
        let value = value.trim();
        match key.trim().to_ascii_lowercase().as_str() {
            "user-agent" => self.user_agent(value),
            "allow" => self.rule(true, value),
            "disallow" => self.rule(false, value),
            "crawl-delay" => self.delay(value),
            "sitemap" => self.sitemap(value),
            _ => {}
        }
    }

    fn user_agent(&mut self, value: &str) {
        if self.has_rule {
            self.names_us = false;
            self.names_everyone = false;
            self.has_rule = false;
        }
        // A version or anything else after the token does not count (section 2.2.1).
        let end = value.find(|c: char| !(c.is_ascii_alphabetic() || matches!(c, '-' | '_')));
        let token = &value[..end.unwrap_or(value.len())];
        self.names_us |= token.eq_ignore_ascii_case(self.token);
        // A group of its own replaces the one for everyone even if it holds no rule.
        if self.names_us {
            self.own_group.get_or_insert_default();
        }
        self.names_everyone |= value.starts_with('*');
    }

    fn rule(&mut self, allow: bool, value: &str) {
        self.has_rule = true;
        // An empty pattern matches nothing, and so does one that no path can start with.
        if !value.starts_with(['/', '*']) {
            return;
        }
        let written = Pattern::new(value);
        let rank = written.len() as u32;
        let pattern = match self.affordable(allow, value) {
            None => return,
            Some(kept) if kept == value => written,
            Some(kept) => Pattern::new(kept),
        };
        let rule = Rule { allow, pattern, rank };
        for robots in self.current() {
            robots.rules.push(rule.clone());
        }
    }

    /// The pattern, or what is kept of it where the file has too many that are costly: a rule that
    /// forbids then forbids more, and one that allows is dropped.
    fn affordable<'v>(&mut self, allow: bool, value: &'v str) -> Option<&'v str> {
        let is_ours = self.names_us || self.names_everyone;
        // A star at the end is compared as if it was not there.
        let Some((before, _)) = value.trim_end_matches('*').split_once('*') else {
            return Some(value);
        };
        self.costly_rules += usize::from(is_ours);
        if self.costly_rules <= MAX_COSTLY_RULES {
            return Some(value);
        }
        let forbidden = if before.is_empty() { "/" } else { before };
        (!allow).then_some(forbidden)
    }

    fn delay(&mut self, value: &str) {
        let Ok(seconds) = value.parse::<f64>() else { return };
        if !(seconds.is_finite() && seconds >= 0.0) {
            return;
        }
        let delay_ms = (seconds * 1_000.0).min(f64::from(MAX_DELAY_MS)).ceil() as u32;
        for robots in self.current() {
            robots.delay_ms = robots.delay_ms.max(Some(delay_ms));
        }
    }

    fn sitemap(&mut self, value: &str) {
        let Ok(url) = CrawlUrl::parse(value) else { return };
        let bytes = self.sitemap_bytes + url.as_str().len();
        let has_room = self.sitemaps.len() < MAX_SITEMAPS && bytes <= MAX_SITEMAP_BYTES;
        if has_room && !self.sitemaps.contains(&url) {
            self.sitemap_bytes = bytes;
            self.sitemaps.push(url);
        }
    }

    /// The rule sets that the current group adds to.
    fn current(&mut self) -> impl Iterator<Item = &mut Robots> {
        let own_group = self.own_group.as_mut().filter(|_| self.names_us);
        let wildcard_group = self.names_everyone.then_some(&mut self.wildcard_group);
        own_group.into_iter().chain(wildcard_group)
    }
}
