//! Invented words: pronounceable, unique by number, and unchanged by every stemmer, so that a
//! search for one finds exactly the page that contains it.

/// Syllables end in `a` or `o` and the word in `k`: no stemmer cuts that off.
const CONSONANTS: [&str; 16] =
    ["b", "d", "f", "g", "h", "j", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z"];

/// Two to the number of bits in a word: 4 syllables of 5 bits.
const WORDS: u64 = 1 << 20;

/// The word of a number below 1,048,576; the seed only decides the order in which the words are
/// used.
pub(crate) fn word(number: usize, seed: u64) -> String {
    // An odd factor permutes the numbers below a power of two, so different numbers give different
    // words.
    let mixed =
        (number as u64).wrapping_mul(0x9_E375).wrapping_add(seed.wrapping_mul(0x5_DEEC)) % WORDS;
    let mut word = String::with_capacity(9);
    for place in 0..4 {
        let syllable = (mixed >> (place * 5)) & 31;
        word.push_str(CONSONANTS[(syllable >> 1) as usize]);
        word.push(if syllable & 1 == 0 { 'a' } else { 'o' });
    }
    word.push('k');
    word
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn words_are_unique_and_depend_on_the_seed() {
        let words: HashSet<_> = (0..50_000).map(|number| word(number, 7)).collect();
        assert_eq!(words.len(), 50_000);
        assert_ne!(word(1, 7), word(1, 8));
    }
}
