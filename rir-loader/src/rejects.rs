//! Malformed objects: how many, and the first few as they stand in the file.

use std::fmt;

use serde::Serialize;

/// Examples that are kept of a file.
const KEPT: usize = 5;
/// Characters of an example.
const SHOWN: usize = 80;
/// One malformed record in so many is put up with.
const ONE_IN: u64 = 100;

/// A malformed object or record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Example {
    /// The line it begins on, or the line that is wrong.
    pub line: u64,
    /// What is wrong.
    pub why: String,
    /// The text, cut to 80 characters.
    pub text: String,
}

/// What of a file could not be read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Rejects {
    /// How many objects or records.
    pub count: u64,
    /// The first of them.
    pub examples: Vec<Example>,
}

impl Rejects {
    /// Takes one in.
    pub fn add(&mut self, line: u64, why: impl fmt::Display, text: &[u8]) {
        self.count += 1;
        if self.examples.len() < KEPT {
            self.examples.push(Example { line, why: why.to_string(), text: shown(text) });
        }
    }

    /// Whether a file with so many objects, the malformed ones included, may be used: at most one
    /// in a hundred is malformed.
    pub fn bearable(&self, objects: u64) -> bool {
        self.count.saturating_mul(ONE_IN) <= objects
    }
}

/// Bytes of a file for a message: cut, control characters escaped.
pub(crate) fn shown(bytes: &[u8]) -> String {
    let cut = &bytes[..bytes.len().min(SHOWN * 4)];
    let text = String::from_utf8_lossy(cut.trim_ascii());
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() || bytes.len() > SHOWN * 4 {
        shown.push('…');
    }
    shown
}

/// `line 12: why: text`
impl fmt::Display for Example {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: `{}`", self.line, self.why, self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_is_put_up_with() {
        let mut rejects = Rejects::default();
        assert!(rejects.bearable(0));
        rejects.add(1, "no range", b"inetnum: x");
        assert!(rejects.bearable(100) && !rejects.bearable(99));
    }

    #[test]
    fn the_first_are_kept_and_long_text_is_cut() {
        let mut rejects = Rejects::default();
        (0..20).for_each(|line| rejects.add(line, "why", &[b'\0'; 1_000]));
        assert_eq!((rejects.count, rejects.examples.len()), (20, KEPT));
        let example = rejects.examples[0].to_string();
        assert!(
            example.starts_with("line 0: why: `\\0\\0") && example.ends_with("…`"),
            "{example}"
        );
    }
}
