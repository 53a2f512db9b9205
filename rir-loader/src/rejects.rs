//! Malformed objects: how many, and the first few for the report.

use std::fmt;

use serde::Serialize;

use crate::text_error::TextError;

/// Examples that are kept of a file.
const MAX_EXAMPLES: usize = 5;
/// Characters of an example.
const MAX_EXCERPT: usize = 80;
/// A file is accepted with one malformed object in this many.
const ONE_IN: u64 = 100;

/// A malformed object or record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// Line on which the object begins, or the line that is wrong.
    pub line: u64,
    /// What is wrong with it.
    pub reason: String,
    /// The text, cut to 80 characters.
    pub text: String,
}

/// The malformed objects of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rejects {
    /// Number of malformed objects or records.
    pub count: u64,
    /// The first five of them.
    pub examples: Vec<Example>,
}

impl Rejects {
    /// Counts a malformed object.
    pub fn add(&mut self, line: u64, reason: impl fmt::Display, text: &[u8]) {
        self.count += 1;
        if self.examples.len() < MAX_EXAMPLES {
            let reason = reason.to_string();
            self.examples.push(Example { line, reason, text: excerpt(text) });
        }
    }

    /// Refuses a file with this many objects, the malformed ones included, when more than one in a
    /// hundred is malformed: it is likely damaged or of another format.
    pub fn check(&self, objects: u64) -> Result<(), TextError> {
        match self.examples.first() {
            Some(first) if self.count.saturating_mul(ONE_IN) > objects => {
                Err(TextError::Malformed {
                    count: self.count,
                    of: objects,
                    first: first.to_string(),
                })
            }
            _ => Ok(()),
        }
    }
}

/// Bytes of a file for a message: cut, control characters escaped.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(MAX_EXCERPT * 4)];
    let text = String::from_utf8_lossy(cut.trim_ascii());
    let mut excerpt: String = text.chars().take(MAX_EXCERPT).flat_map(char::escape_debug).collect();
    if text.chars().nth(MAX_EXCERPT).is_some() || bytes.len() > MAX_EXCERPT * 4 {
        excerpt.push('…');
    }
    excerpt
}

/// `line 12: reason: text`
impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: `{}`", self.line, self.reason, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_malformed_object_in_a_hundred_is_accepted() {
        let mut rejects = Rejects::default();
        assert!(rejects.check(0).is_ok());
        rejects.add(1, "no range", b"inetnum: x");
        assert!(rejects.check(100).is_ok() && rejects.check(99).is_err());
    }

    #[test]
    fn the_first_examples_are_kept_and_long_text_is_cut() {
        let mut rejects = Rejects::default();
        (0..20).for_each(|line| rejects.add(line, "reason", &[b'\0'; 1_000]));
        assert_eq!((rejects.count, rejects.examples.len()), (20, MAX_EXAMPLES));
        let example = rejects.examples[0].to_string();
        assert!(example.starts_with("line 0: reason: `\\0\\0") && example.ends_with("…`"));
    }
}
