//! Columns: the values of one field of many entries, one after another.

use serde::{Deserialize, Serialize};

use super::BlockError;

/// Texts, as their lengths and all bytes together.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Texts {
    lengths: Vec<u32>,
    all: String,
}

impl Texts {
    pub(super) fn push(&mut self, text: &str) {
        self.lengths.push(u32::try_from(text.len()).unwrap_or(u32::MAX));
        self.all.push_str(text);
    }

    pub(super) fn reader(&self) -> TextReader<'_> {
        TextReader { lengths: self.lengths.iter(), rest: &self.all }
    }
}

/// Reads texts in their order.
pub(super) struct TextReader<'a> {
    lengths: std::slice::Iter<'a, u32>,
    rest: &'a str,
}

impl<'a> TextReader<'a> {
    /// The next text; an error if there is none.
    pub(super) fn take(&mut self) -> Result<&'a str, BlockError> {
        let length = self.lengths.next().ok_or(BlockError::Column)?;
        let (text, rest) =
            self.rest.split_at_checked(*length as usize).ok_or(BlockError::Column)?;
        self.rest = rest;
        Ok(text)
    }
}

/// Sorted texts: of each only what differs from the one before it.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct SortedTexts {
    /// Bytes that a text shares with the one before it.
    shared: Vec<u32>,
    rest: Texts,
}

impl SortedTexts {
    /// Adds `text`, which follows `before`.
    pub(super) fn push(&mut self, before: &str, text: &str) {
        let equal = before.bytes().zip(text.bytes()).take_while(|(a, b)| a == b).count();
        let shared = text.floor_char_boundary(equal);
        self.shared.push(u32::try_from(shared).unwrap_or(u32::MAX));
        self.rest.push(&text[shared..]);
    }

    pub(super) fn reader(&self) -> SortedReader<'_> {
        SortedReader { shared: self.shared.iter(), rest: self.rest.reader(), before: String::new() }
    }
}

/// Reads sorted texts in their order.
pub(super) struct SortedReader<'a> {
    shared: std::slice::Iter<'a, u32>,
    rest: TextReader<'a>,
    before: String,
}

impl SortedReader<'_> {
    /// The next text; an error if there is none.
    pub(super) fn take(&mut self) -> Result<&str, BlockError> {
        let shared = *self.shared.next().ok_or(BlockError::Column)? as usize;
        if !self.before.is_char_boundary(shared) {
            return Err(BlockError::Column);
        }
        self.before.truncate(shared);
        self.before.push_str(self.rest.take()?);
        Ok(&self.before)
    }
}

/// Numbers that rise and fall slowly, as the differences between them.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Differences {
    differences: Vec<i64>,
    #[serde(skip)]
    last: i64,
}

impl Differences {
    pub(super) fn push(&mut self, value: i64) {
        self.differences.push(value.wrapping_sub(self.last));
        self.last = value;
    }

    pub(super) fn reader(&self) -> DifferenceReader<'_> {
        DifferenceReader { differences: self.differences.iter(), last: 0 }
    }
}

/// Reads numbers in their order.
pub(super) struct DifferenceReader<'a> {
    differences: std::slice::Iter<'a, i64>,
    last: i64,
}

impl DifferenceReader<'_> {
    /// The next number; an error if there is none.
    pub(super) fn take(&mut self) -> Result<i64, BlockError> {
        let difference = self.differences.next().ok_or(BlockError::Column)?;
        self.last = self.last.wrapping_add(*difference);
        Ok(self.last)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn columns_give_back_what_they_took(
            texts in proptest::collection::vec("\\PC{0,12}", 0..20),
            numbers in proptest::collection::vec(any::<i64>(), 0..20),
        ) {
            let mut plain = Texts::default();
            let mut sorted = SortedTexts::default();
            let mut before = "";
            for text in &texts {
                plain.push(text);
                sorted.push(before, text);
                before = text;
            }
            let mut plain = plain.reader();
            let mut sorted = sorted.reader();
            for text in &texts {
                prop_assert_eq!(plain.take().unwrap(), text);
                prop_assert_eq!(sorted.take().unwrap(), text);
            }
            prop_assert!(plain.take().is_err() && sorted.take().is_err());
            let mut differences = Differences::default();
            for number in &numbers {
                differences.push(*number);
            }
            let mut differences = differences.reader();
            for number in &numbers {
                prop_assert_eq!(differences.take().unwrap(), *number);
            }
            prop_assert!(differences.take().is_err());
        }
    }

    #[test]
    fn damaged_columns_are_refused() {
        let text = |lengths: &[u32], all: &str| Texts { lengths: lengths.into(), all: all.into() };
        assert!(text(&[3], "ab").reader().take().is_err(), "too short");
        assert!(text(&[1], "é").reader().take().is_err(), "within a character");
        let sorted = SortedTexts { shared: vec![4], rest: text(&[0], "") };
        assert!(sorted.reader().take().is_err(), "shares more than there is");
    }
}
