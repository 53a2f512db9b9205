//! Robots directives of a page, from robots meta elements and X-Robots-Tag headers.

use model::UnixMillis;

use super::dates::first_date;

/// The directives that the crawler obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directives {
    /// The page must not be indexed.
    pub noindex: bool,
    /// The links of the page must not be followed.
    pub nofollow: bool,
    /// Most characters of the page that a search result may show; none without a limit.
    pub max_snippet: Option<u32>,
    /// From when on the page must not be indexed.
    pub unavailable_after: Option<UnixMillis>,
}

impl Directives {
    /// Adds a list like `noindex, follow`. Sites separate directives by commas, as search engines
    /// ask, and by semicolons and white space.
    pub fn add(&mut self, list: &str) {
        let mut rest = list;
        while let Some((word, after)) = first_word(rest) {
            rest = after;
            let (name, value) = word.split_once(':').unwrap_or((word, ""));
            match name.to_ascii_lowercase().as_str() {
                "noindex" => self.noindex = true,
                "nofollow" => self.nofollow = true,
                "none" => {
                    self.noindex = true;
                    self.nofollow = true;
                }
                "nosnippet" => self.limit_snippet(Some(0)),
                MAX_SNIPPET => self.limit_snippet(characters(value, after)),
                UNAVAILABLE_AFTER => self.expire(first_date(value, after)),
                // The value of another directive, as in `max-image-preview: none`.
                _ if value.is_empty() && word.ends_with(':') && takes_a_value(name) => {
                    rest = first_word(after).map_or(after, |(_, behind)| behind);
                }
                _ => {}
            }
        }
    }

    /// Adds the value of an X-Robots-Tag header, parts of which may be for one robot only, as in
    /// `otherbot: noindex`.
    pub fn add_header(&mut self, value: &str) {
        let mut for_us = true;
        let mut ours = String::new();
        for part in value.split([',', ';']) {
            let list = match part.split_once(':') {
                Some((name, rest)) if is_token(name) && !takes_a_value(name) => {
                    for_us = name.trim().eq_ignore_ascii_case(crate::robots::TOKEN);
                    rest
                }
                _ => part,
            };
            if for_us {
                ours.push_str(list);
                ours.push(',');
            }
        }
        // At once, because dates have commas, too.
        self.add(&ours);
    }

    /// Whether the page must not be indexed now.
    pub fn forbid_indexing(&self, now: UnixMillis) -> bool {
        self.noindex || self.unavailable_after.is_some_and(|end| end <= now)
    }

    /// The directives of both, which restrict each other.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.noindex |= other.noindex;
        self.nofollow |= other.nofollow;
        self.limit_snippet(other.max_snippet);
        self.expire(other.unavailable_after);
        self
    }

    fn limit_snippet(&mut self, most: Option<u32>) {
        self.max_snippet = self.max_snippet.into_iter().chain(most).min();
    }

    fn expire(&mut self, end: Option<UnixMillis>) {
        self.unavailable_after = self.unavailable_after.into_iter().chain(end).min();
    }
}

/// Name of the directive that limits the length of snippets.
const MAX_SNIPPET: &str = "max-snippet";

/// Name of the directive that says from when on a page must not be shown.
const UNAVAILABLE_AFTER: &str = "unavailable_after";

/// Whether `c` stands between two directives.
pub(super) fn is_separator(c: char) -> bool {
    matches!(c, ',' | ';') || c.is_ascii_whitespace()
}

/// The first word of a list, and what follows it.
fn first_word(list: &str) -> Option<(&str, &str)> {
    let list = list.trim_start_matches(is_separator);
    let end = list.find(is_separator).unwrap_or(list.len());
    (end > 0).then(|| list.split_at(end))
}

/// The number of characters behind `max-snippet:`, which may be the next word; none where it sets
/// no limit.
fn characters(value: &str, after: &str) -> Option<u32> {
    let value = if value.is_empty() { first_word(after)?.0 } else { value };
    let most = value.parse::<i64>().ok().filter(|most| *most >= 0)?;
    Some(u32::try_from(most).unwrap_or(u32::MAX))
}

/// Whether it may be the name of a robot (RFC 9309 section 2.2.1). The time of a date, which has
/// colons, too, is none.
fn is_token(name: &str) -> bool {
    let name = name.trim();
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphabetic() || matches!(b, b'-' | b'_'))
}

/// Whether a directive takes a value. Its colon would otherwise make it look like the name of a
/// robot.
fn takes_a_value(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    name.starts_with("max-") || name == UNAVAILABLE_AFTER
}

#[cfg(test)]
mod tests;
