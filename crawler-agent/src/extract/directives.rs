//! Robots directives of a page, from robots meta elements and X-Robots-Tag headers.

/// The directives that the crawler obeys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directives {
    /// The page must not be indexed.
    pub noindex: bool,
    /// The links of the page must not be followed.
    pub nofollow: bool,
}

impl Directives {
    /// Adds a list like `noindex, follow`. Sites separate directives by commas, as search engines
    /// ask, and by semicolons and white space.
    pub fn add(&mut self, list: &str) {
        let is_separator = |c: char| matches!(c, ',' | ';') || c.is_ascii_whitespace();
        for word in list.split(is_separator).map(str::to_ascii_lowercase) {
            self.noindex |= matches!(word.as_str(), "noindex" | "none");
            self.nofollow |= matches!(word.as_str(), "nofollow" | "none");
        }
    }

    /// Adds the value of an X-Robots-Tag header, parts of which may be for one robot only, as in
    /// `otherbot: noindex`.
    pub fn add_header(&mut self, value: &str) {
        let mut for_us = true;
        for part in value.split([',', ';']) {
            let list = match part.split_once(':') {
                Some((name, rest)) if is_token(name) && !takes_a_value(name) => {
                    for_us = name.trim().eq_ignore_ascii_case(crate::robots::TOKEN);
                    rest
                }
                _ => part,
            };
            if for_us {
                self.add(list);
            }
        }
    }

    /// The directives of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { noindex: self.noindex || other.noindex, nofollow: self.nofollow || other.nofollow }
    }
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
    name.starts_with("max-") || name == "unavailable_after"
}
