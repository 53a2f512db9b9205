//! Path patterns of robots.txt: `*` matches any text, a final `$` the end of the path.
//!
//! Patterns and paths are compared in one form, in which a character and its escape are the same
//! (RFC 9309 section 2.2.2): everything is escaped but letters, digits and the characters of
//! [`KEPT`]. So `*` and `$` of a path cannot be those of a pattern.

use std::{borrow::Cow, fmt};

use data_encoding::HEXUPPER;
use serde::{Deserialize, Serialize};

/// Unreserved characters, which are the same with and without an escape.
const UNRESERVED: &[u8] = b"-._~";
/// Characters that are not escaped. Those that are not unreserved mean something else than their
/// escapes: they separate the parts of paths and queries, and `+` is a space in many queries.
const KEPT: &[u8] = b"-._~/?&=+;";

/// A pattern in the form in which it is compared.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Pattern(String);

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A path with its query in the form in which it is compared with patterns.
pub(super) fn comparable(path: &str) -> Cow<'_, str> {
    if path.bytes().all(is_kept) {
        return Cow::Borrowed(path);
    }
    let mut form = String::with_capacity(path.len() + 16);
    push_comparable(&mut form, path);
    Cow::Owned(form)
}

fn push_comparable(form: &mut String, text: &str) {
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escaped = if byte == b'%' { escaped_byte(after) } else { None };
        rest = if escaped.is_some() { &after[2..] } else { after };
        let is_as_written = match escaped {
            Some(escaped) => escaped.is_ascii_alphanumeric() || UNRESERVED.contains(&escaped),
            None => is_kept(byte),
        };
        let meant = escaped.unwrap_or(byte);
        if is_as_written {
            form.push(char::from(meant));
        } else {
            form.push('%');
            form.push_str(&HEXUPPER.encode(&[meant]));
        }
    }
}

fn is_kept(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || KEPT.contains(&byte)
}

/// The byte of an escape, after its percent sign.
fn escaped_byte(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let [high, low, ..] = digits else { return None };
    Some(digit(*high)? << 4 | digit(*low)?)
}

impl Pattern {
    /// Brings a pattern into the form in which it is compared.
    pub(super) fn new(written: &str) -> Self {
        let (parts, end) = match written.strip_suffix('$') {
            Some(parts) => (parts, "$"),
            None => (written, ""),
        };
        let mut form = String::with_capacity(written.len());
        for (number, part) in parts.split('*').enumerate() {
            if number > 0 {
                form.push('*');
            }
            push_comparable(&mut form, part);
        }
        form.push_str(end);
        Self(form)
    }

    /// Length in bytes, which decides between rules that match.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether `path`, in the form of [`comparable`], matches from its start. A backtracking
    /// matcher would take exponential time on a file full of stars; this one is linear in
    /// the lengths of pattern and path.
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
        // stars after it accept the rest.
        for part in middle.split('*').filter(|part| !part.is_empty()) {
            let Some(at) = path.find(part) else { return false };
            path = &path[at + part.len()..];
        }
        // With `$` the text after the last star is anchored at the end of what is left.
        if to_the_end { path.ends_with(last) } else { path.contains(last) }
    }
}
