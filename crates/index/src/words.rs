//! Here is a text in any language: which words are in it, and where?
//!
//! Scripts that put spaces between words are cut at whatever is neither letter, digit nor mark.
//! Scripts that do not (Han, kana, Hangul, Thai, Lao, Khmer, Burmese, Tibetan) are cut into
//! overlapping pairs of letters, and the last letter of a run stands alone besides: so any single
//! letter is the beginning of some term, and any longer string is a phrase of pairs.

use unicode_normalization::char::is_combining_mark;

use crate::fold::{folded, is_joiner, lowered};

/// Longest term, in bytes of its folded form; what is longer is noise (encoded data) and is
/// skipped.
const TERM_MAX_BYTES: usize = 80;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// As written.
    pub(crate) text: &'a str,
    /// Where it starts in the text, in bytes.
    pub(crate) start: usize,
    /// Place among the words of the text, from 0.
    pub(crate) position: usize,
    /// What it is in a script without spaces.
    pub(crate) shape: Shape,
}

/// How a word was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Between spaces.
    Spaced,
    /// Two letters of a run.
    Pair,
    /// The last letter of a longer run.
    Tail,
    /// A letter that is a run of its own.
    Single,
}

impl Word<'_> {
    /// Where it ends in the text, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The term it is indexed under; none when it is too long to be a word, or nothing but dropped
    /// marks.
    pub(crate) fn term(&self) -> Option<String> {
        // Folding at most triples the bytes of the shortest letters, so this bound loses no word.
        let term = Some(self.text).filter(|text| text.len() <= 4 * TERM_MAX_BYTES).map(folded)?;
        (term.len() <= TERM_MAX_BYTES && term.contains(char::is_alphanumeric)).then_some(term)
    }

    /// What a stemmer may work on; none for scripts without spaces and for too long words.
    pub(crate) fn stemmable(&self) -> Option<String> {
        let word = self.shape == Shape::Spaced && self.text.len() <= TERM_MAX_BYTES;
        word.then(|| lowered(self.text))
    }
}

/// The words of `text`, in order.
pub(crate) fn words(text: &str) -> Words<'_> {
    Words { text, at: 0, position: 0, in_run: false }
}

/// Iterator over the words of a text.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
    position: usize,
    in_run: bool,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        self.skip_gap();
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (length, step, shape) =
            if is_dense(first) { self.dense(rest) } else { self.spaced(rest) };
        let word = Word { text: &rest[..length], start: self.at, position: self.position, shape };
        self.at += step;
        self.position += 1;
        Some(word)
    }
}

impl Words<'_> {
    fn skip_gap(&mut self) {
        let rest = &self.text[self.at..];
        // A mark without a letter before it is no word.
        let gap =
            rest.find(|c: char| c.is_alphanumeric() && !is_combining_mark(c)).unwrap_or(rest.len());
        self.in_run &= gap == 0;
        self.at += gap;
    }

    fn spaced(&mut self, rest: &str) -> (usize, usize, Shape) {
        self.in_run = false;
        let end = rest.find(|c: char| !is_inside(c) || is_dense(c)).unwrap_or(rest.len());
        let length = rest[..end].trim_end_matches(is_joiner).len();
        (length, end, Shape::Spaced)
    }

    fn dense(&mut self, rest: &str) -> (usize, usize, Shape) {
        let letter = letter_len(rest);
        let next = letter_len(&rest[letter..]);
        let shape = match (next, self.in_run) {
            (1.., _) => Shape::Pair,
            (0, true) => Shape::Tail,
            (0, false) => Shape::Single,
        };
        self.in_run = next > 0;
        (letter + next, letter, shape)
    }
}

/// Length in bytes of the dense letter with its marks at the start of `rest`; 0 when there is none.
fn letter_len(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, first)) if is_dense(first) && !is_combining_mark(first) => {}
        _ => return 0,
    }
    chars
        .find(|(_, c)| !is_combining_mark(*c) && !is_joiner(*c) && !is_half_mark(*c))
        .map_or(rest.len(), |(at, _)| at)
}

fn is_inside(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || is_joiner(c)
}

/// Half-width voicing marks of kana, letters by their class but marks by their use.
const fn is_half_mark(c: char) -> bool {
    matches!(c, '\u{FF9E}' | '\u{FF9F}')
}

/// Letters of scripts that put no spaces between words.
fn is_dense(c: char) -> bool {
    let code = u32::from(c);
    code >= 0xE00 && in_dense_block(code) && c.is_alphanumeric()
}

const fn in_dense_block(code: u32) -> bool {
    matches!(code,
        0xE00..=0xFFF          // Thai, Lao, Tibetan
        | 0x1000..=0x109F      // Burmese
        | 0x1100..=0x11FF      // Hangul, in parts
        | 0x1780..=0x17FF      // Khmer
        | 0x3005..=0x3007      // Han repetition and zero
        | 0x3040..=0x318F      // kana, Bopomofo, Hangul
        | 0x31A0..=0x31FF
        | 0x3400..=0x9FFF      // Han
        | 0xA960..=0xA97F | 0xAC00..=0xD7FF // Hangul
        | 0xF900..=0xFAFF | 0xFF66..=0xFF9F // compatibility Han, half-width kana
        | 0x20000..=0x3FFFF    // Han, rare
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn terms(text: &str) -> Vec<String> {
        words(text).filter_map(|word| word.term()).collect()
    }

    #[test]
    fn spaced_scripts() {
        assert_eq!(terms("Hello, wörld-42!"), ["hello", "world", "42"]);
        assert_eq!(terms("नमस्ते दुनिया"), ["नमस्ते", "दुनिया"]);
        assert_eq!(terms("l’homme d'Αθήνα"), ["l", "homme", "d", "αθηνα"]);
        assert_eq!(terms("می\u{200C}خواهم"), ["ميخواهم"]);
    }

    #[test]
    fn dense_scripts() {
        assert_eq!(terms("東京都"), ["東京", "京都", "都"]);
        assert_eq!(terms("猫"), ["猫"]);
        assert_eq!(terms("ｶﾞｶ"), ["ガカ", "カ"]);
        assert_eq!(terms("東京tower 京"), ["東京", "京", "tower", "京"]);
        let thai: Vec<_> = words("ภาษา").map(|word| word.text).collect();
        assert_eq!(thai, ["ภา", "าษ", "ษา", "า"]);
    }

    #[test]
    fn shapes() {
        let shapes: Vec<_> = words("a 東京 猫").map(|word| word.shape).collect();
        assert_eq!(shapes, [Shape::Spaced, Shape::Pair, Shape::Tail, Shape::Single]);
    }

    #[test]
    fn encoded_data_is_no_word() {
        assert!(terms(&"a".repeat(100)).is_empty());
        assert_eq!(words(&"a".repeat(100)).count(), 1);
    }

    proptest! {
        #[test]
        fn words_lie_in_the_text_in_order(text in "\\PC{0,60}") {
            let mut last = (0, 0);
            for (count, word) in words(&text).enumerate() {
                prop_assert_eq!(&text[word.start..word.end()], word.text);
                prop_assert_eq!(word.position, count);
                prop_assert!((word.start, word.end()) > last, "{:?} after {:?}", word, last);
                last = (word.start, word.end());
            }
        }

        #[test]
        fn the_stemmable_form_never_fails(text in ".{0,40}") {
            for word in words(&text) {
                let _ = word.stemmable();
            }
        }
    }
}
