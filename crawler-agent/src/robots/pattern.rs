//! Path patterns of robots.txt: `*` stands for any text, a final `$` for the end of the path.

use std::{borrow::Cow, fmt};

use data_encoding::HEXUPPER;
use serde::{Deserialize, Serialize};

use model::url::canonical_escapes;

/// A pattern with its percent-escapes in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pattern(String);

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Pattern {
    /// Brings a pattern into the form of URL paths: characters outside ASCII escaped.
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

    /// Length in bytes, which decides between rules that match.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether `path`, with canonical escapes, matches from its start. A backtracking matcher would
    /// take exponential time on a file full of stars; this one is linear in both lengths.
    pub(super) fn matches(&self, path: &str) -> bool {
        let (pattern, to_the_end) = match self.0.strip_suffix('$') {
            Some(pattern) => (pattern, true),
            None => (self.0.as_str(), false),
        };
        let Some((first, rest)) = pattern.split_once('*') else {
            return if to_the_end { path == pattern } else { path.starts_with(pattern) };
        };
        // The text before the first star is anchored at the start of the path.
        let Some(mut path) = path.strip_prefix(first) else { return false };
        let (middle, last) = rest.rsplit_once('*').unwrap_or(("", rest));
        // Taking each text between stars as far left as possible never loses a match, because the
        // stars after it accept whatever is left over.
        for part in middle.split('*').filter(|part| !part.is_empty()) {
            let Some(at) = path.find(part) else { return false };
            path = &path[at + part.len()..];
        }
        // With `$` the text after the last star is anchored at the end of what is left.
        if to_the_end { path.ends_with(last) } else { path.contains(last) }
    }
}
