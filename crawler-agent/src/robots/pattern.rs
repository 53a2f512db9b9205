//! A path pattern of robots.txt: `*` stands for any text, a final `$` for the end of the path.

use std::borrow::Cow;

use data_encoding::HEXUPPER;
use serde::{Deserialize, Serialize};

use model::url::canonical_escapes;

/// A pattern in canonical escapes, as it was written otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pattern(String);

impl Pattern {
    /// The pattern as written, with characters outside ASCII escaped as they are in URLs.
    pub(super) fn new(written: &str) -> Self {
        let mut escaped = String::with_capacity(written.len());
        for c in written.chars() {
            if c.is_ascii_graphic() {
                escaped.push(c);
            } else {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    escaped.push('%');
                    escaped.push_str(&HEXUPPER.encode(&[byte]));
                }
            }
        }
        Self(match canonical_escapes(&escaped) {
            Cow::Borrowed(_) => escaped,
            Cow::Owned(canonical) => canonical,
        })
    }

    /// Length that decides between rules, in bytes.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether `path`, in canonical escapes, starts like this pattern. Takes time linear in both
    /// lengths: the texts between stars are looked for one after the other, each as far left as
    /// possible.
    pub(super) fn matches(&self, path: &str) -> bool {
        let (pattern, to_the_end) = match self.0.strip_suffix('$') {
            Some(pattern) => (pattern, true),
            None => (self.0.as_str(), false),
        };
        let Some((first, rest)) = pattern.split_once('*') else {
            return if to_the_end { path == pattern } else { path.starts_with(pattern) };
        };
        let Some(mut path) = path.strip_prefix(first) else { return false };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        for part in middle.split('*').filter(|part| !part.is_empty()) {
            let Some(at) = path.find(part) else { return false };
            path = &path[at + part.len()..];
        }
        if to_the_end { path.ends_with(last) } else { path.contains(last) }
    }
}
