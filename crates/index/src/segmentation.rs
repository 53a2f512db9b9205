//! Segmentation of text in any language into words.
//!
//! Scripts with spaces between words are split at every character that is neither letter, digit nor
//! mark. Unspaced scripts (Han, kana, Thai, Lao, Khmer, Burmese, Tibetan; Hangul is treated like
//! them) are split into overlapping bigrams, and the last letter of a run is a term of its own,
//! too: any letter begins some term, and any longer string is a phrase of bigrams.

use unicode_normalization::char::is_combining_mark;

use crate::normalizer::{ascii_digit, is_joiner, lowercase, normalize};

/// Limit of a term, in characters of its normalised form. Longer ones are encoded data, not words,
/// and are not indexed.
const TERM_MAX: usize = 80;
/// Most bytes of a term: a character has four at most.
const TERM_MAX_BYTES: usize = 4 * TERM_MAX;

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Word<'a> {
    /// The word as written.
    pub(crate) text: &'a str,
    /// Offset of its start in the text, in bytes.
    pub(crate) start: usize,
    /// Number of words before it in the text.
    pub(crate) position: usize,
    /// How it was split off.
    pub(crate) kind: WordKind,
}

/// How a word was split off its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WordKind {
    /// A word of a script with spaces.
    Spaced,
    /// Two letters of an unspaced script.
    Bigram,
    /// The last letter of a run of several.
    LastLetter,
    /// A run of one letter.
    SingleLetter,
}

impl Word<'_> {
    /// Offset of its end in the text, in bytes.
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }

    /// The term it is indexed under; `None` when it is too long, or consists of ignored marks only.
    pub(crate) fn term(&self) -> Option<String> {
        // Runs of encoded data may be megabytes long: they are not worth normalising.
        if self.text.len() > TERM_MAX_BYTES {
            return None;
        }
        let term = normalize(self.text);
        (term.chars().count() <= TERM_MAX && term.contains(char::is_alphanumeric)).then_some(term)
    }

    /// The term of its first letter; `None` for scripts with spaces.
    pub(crate) fn letter(&self) -> Option<String> {
        let letter = (self.kind != WordKind::Spaced).then(|| &self.text[..letter_len(self.text)]);
        letter.map(normalize)
    }

    /// The spelling for a stemmer; `None` for unspaced scripts and for too long words.
    pub(crate) fn stemmer_input(&self) -> Option<String> {
        let word = self.kind == WordKind::Spaced && self.text.len() <= TERM_MAX_BYTES;
        word.then(|| lowercase(self.text))
    }
}

/// The words of `text`, in order. Bigrams overlap.
pub(crate) fn words(text: &str) -> Words<'_> {
    Words { text, at: 0, position: 0, in_run: false }
}

/// Iterator over the words of a text.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a> {
    text: &'a str,
    at: usize,
    position: usize,
    /// Whether the previous word was a bigram that ended in the letter at `at`.
    in_run: bool,
}

impl<'a> Iterator for Words<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        self.skip_separators();
        let rest = &self.text[self.at..];
        let first = rest.chars().next()?;
        let (length, step, kind) =
            if is_unspaced(first) { self.unspaced(rest) } else { self.spaced(rest) };
        let word = Word { text: &rest[..length], start: self.at, position: self.position, kind };
        self.at += step;
        self.position += 1;
        Some(word)
    }
}

impl Words<'_> {
    fn skip_separators(&mut self) {
        let rest = &self.text[self.at..];
        // A mark without a letter before it is no word.
        let separators =
            rest.find(|c| is_letter_or_digit(c) && !is_combining_mark(c)).unwrap_or(rest.len());
        self.in_run &= separators == 0;
        self.at += separators;
    }

    /// Length of the word, length to advance by, and kind of the word at the start of `rest`.
    fn spaced(&mut self, rest: &str) -> (usize, usize, WordKind) {
        self.in_run = false;
        let end = rest.find(|c: char| !is_inside(c) || is_unspaced(c)).unwrap_or(rest.len());
        let length = rest[..end].trim_end_matches(is_joiner).len();
        (length, end, WordKind::Spaced)
    }

    /// The same for unspaced scripts: advances by one letter, so that bigrams overlap.
    fn unspaced(&mut self, rest: &str) -> (usize, usize, WordKind) {
        let letter = letter_len(rest);
        let next = letter_len(&rest[letter..]);
        let kind = match (next, self.in_run) {
            (1.., _) => WordKind::Bigram,
            (0, true) => WordKind::LastLetter,
            (0, false) => WordKind::SingleLetter,
        };
        self.in_run = next > 0;
        (letter + next, letter, kind)
    }
}

/// Length in bytes of the unspaced letter with its marks at the start of `rest`; 0 when there is
/// none.
fn letter_len(rest: &str) -> usize {
    let mut chars = rest.char_indices();
    match chars.next() {
        Some((_, first)) if is_unspaced(first) && !is_combining_mark(first) => {}
        _ => return 0,
    }
    chars
        .find(|(_, c)| !is_combining_mark(*c) && !is_joiner(*c) && !is_halfwidth_mark(*c))
        .map_or(rest.len(), |(at, _)| at)
}

fn is_inside(c: char) -> bool {
    is_letter_or_digit(c) || is_combining_mark(c) || is_joiner(c)
}

/// Unicode classifies some apostrophes as letters, such as those of Uzbek and Ukrainian. They
/// separate like those that people type instead.
fn is_letter_or_digit(c: char) -> bool {
    c.is_alphanumeric() && !matches!(c, '\u{2BB}'..='\u{2BF}')
}

/// Half-width voicing marks of kana: Unicode classifies them as letters, but they are used as
/// marks.
const fn is_halfwidth_mark(c: char) -> bool {
    matches!(c, '\u{FF9E}' | '\u{FF9F}')
}

/// Whether `c` is a letter of a script without spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    let code = u32::from(c);
    let is_in_block = code >= 0xE00 && in_unspaced_block(code);
    is_in_block && c.is_alphanumeric() && ascii_digit(c).is_none()
}

const fn in_unspaced_block(code: u32) -> bool {
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
        assert_eq!(terms("oʻzbek пʼять"), ["o", "zbek", "п", "ять"]);
        assert_eq!(terms("ปี ๒๐๒๔"), ["ปี", "2024"]);
    }

    #[test]
    fn unspaced_scripts() {
        assert_eq!(terms("東京都"), ["東京", "京都", "都"]);
        assert_eq!(terms("猫"), ["猫"]);
        assert_eq!(terms("ｶﾞｶ"), ["ガカ", "カ"]);
        assert_eq!(terms("東京tower 京"), ["東京", "京", "tower", "京"]);
        let thai: Vec<_> = words("ภาษา").map(|word| word.text).collect();
        assert_eq!(thai, ["ภา", "าษ", "ษา", "า"]);
    }

    #[test]
    fn kinds() {
        let kinds: Vec<_> = words("a 東京 猫").map(|word| word.kind).collect();
        assert_eq!(
            kinds,
            [WordKind::Spaced, WordKind::Bigram, WordKind::LastLetter, WordKind::SingleLetter]
        );
    }

    #[test]
    fn a_long_word_of_many_bytes_is_a_word() {
        let word = "தொழில்நுட்பக்கல்லூரி";
        assert!(word.len() > 50);
        assert_eq!(terms(&word.repeat(2)).len(), 1);
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
        fn the_stemmer_input_never_fails(text in ".{0,40}") {
            for word in words(&text) {
                let _ = word.stemmer_input();
            }
        }
    }
}
