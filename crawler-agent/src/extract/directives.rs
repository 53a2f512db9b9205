//! What a page asks of robots, in a robots meta element or an X-Robots-Tag header.

/// The wishes that we know how to honour.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Directives {
    /// Do not show the page in results.
    pub noindex: bool,
    /// Do not follow its links.
    pub nofollow: bool,
}

impl Directives {
    /// Adds the wishes of a comma-separated list, like `noindex, follow`.
    pub fn add(&mut self, list: &str) {
        for word in list.split(',').map(|w| w.trim().to_ascii_lowercase()) {
            self.noindex |= matches!(word.as_str(), "noindex" | "none");
            self.nofollow |= matches!(word.as_str(), "nofollow" | "none");
        }
    }

    /// Adds the wishes of one X-Robots-Tag value, which may be for one robot only: `otherbot:
    /// noindex`.
    pub fn add_header(&mut self, value: &str) {
        let mut for_us = true;
        for part in value.split(',') {
            let wish = match part.split_once(':') {
                Some((name, rest)) if !takes_a_value(name) => {
                    for_us = name.trim().eq_ignore_ascii_case(crate::robots::TOKEN);
                    rest
                }
                _ => part,
            };
            if for_us {
                self.add(wish);
            }
        }
    }

    /// What both ask for.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self { noindex: self.noindex || other.noindex, nofollow: self.nofollow || other.nofollow }
    }
}

/// Wishes that are written with a colon, which makes them look like the name of a robot.
fn takes_a_value(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    name.starts_with("max-") || name == "unavailable_after"
}
