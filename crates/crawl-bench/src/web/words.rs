//! Words of the texts: the commonest are English, the others are invented, and their frequencies
//! follow Zipf's law, so that texts compress about as well as real ones.

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

/// The commonest words, the commonest first.
const ENGLISH: [&str; 64] = [
    "the", "of", "and", "to", "in", "a", "is", "that", "for", "it", "as", "was", "with", "be",
    "by", "on", "not", "he", "his", "but", "at", "are", "this", "have", "from", "which", "they",
    "you", "were", "all", "one", "would", "there", "their", "we", "him", "been", "has", "when",
    "who", "will", "more", "no", "if", "out", "so", "said", "what", "up", "its", "about", "into",
    "than", "them", "can", "only", "other", "new", "some", "could", "time", "these", "two", "may",
];

/// Number of different words.
const WORDS: usize = 12_000;

const ONSETS: [&str; 20] = [
    "b", "br", "c", "d", "f", "g", "gr", "h", "l", "m", "n", "p", "pr", "r", "s", "st", "t", "tr",
    "v", "w",
];
const VOWELS: [&str; 8] = ["a", "e", "i", "o", "u", "ea", "io", "ou"];
const ENDS: [&str; 12] = ["", "n", "r", "s", "t", "l", "nd", "st", "ng", "ment", "tion", "ly"];

/// All words, the commonest first.
#[derive(Debug)]
pub struct Vocabulary(Vec<String>);

impl Vocabulary {
    /// Makes all words.
    pub fn new() -> Self {
        let invented = (ENGLISH.len()..WORDS).map(invent);
        Self(ENGLISH.into_iter().map(str::to_owned).chain(invented).collect())
    }

    /// A word; the one of rank n with a probability in proportion to 1/n.
    pub(super) fn draw(&self, random: &mut ChaCha8Rng) -> &str {
        let exponent: f64 = random.random();
        // The inverse of the distribution function of 1/n is an exponential.
        let rank = (self.0.len() as f64).powf(exponent) as usize;
        self.0.get(rank - 1).map_or("the", String::as_str)
    }
}

impl Default for Vocabulary {
    fn default() -> Self {
        Self::new()
    }
}

/// An invented word, another for each number.
fn invent(number: usize) -> String {
    let mut word = String::new();
    let mut rest = number;
    for _ in 0..2 {
        word.push_str(ONSETS[rest % ONSETS.len()]);
        rest /= ONSETS.len();
        word.push_str(VOWELS[rest % VOWELS.len()]);
        rest /= VOWELS.len();
    }
    word.push_str(ENDS[(number + rest) % ENDS.len()]);
    word
}
