//! Normaliser of words: the spelling under which a word is indexed and searched.
//!
//! Case, width, ligatures, the accents of Latin, Greek and Cyrillic and the vowel points of Arabic
//! and Hebrew are ignored, because searchers often omit them. Digits of today's scripts are
//! those of ASCII. The marks of other scripts are letters (Devanagari vowel signs, Thai tones, the
//! voicing marks of kana) and stay.

use unicode_normalization::UnicodeNormalization as _;

/// Whether `c` has no width and connects the letters of a word without being part of its spelling.
pub(crate) const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}')
}

/// The spelling under which a word is indexed and searched. Normalising it again changes nothing.
pub(crate) fn normalize(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_ignored(*c)).flat_map(char::to_lowercase) {
        push_letter(&mut out, c);
    }
    // Lower case may add marks (İ), and kana must be composed with their voicing marks again.
    out.nfc().filter(|c| !is_ignored(*c)).collect()
}

/// The spelling that stemmers expect: lower case with accents.
pub(crate) fn lowercase(word: &str) -> String {
    word.nfkc().filter(|c| !is_joiner(*c)).flat_map(char::to_lowercase).collect()
}

fn is_ignored(c: char) -> bool {
    let accent = matches!(c, '\u{300}'..='\u{36F}');
    let arabic = matches!(c, '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{6D6}'..='\u{6DC}');
    let hebrew = matches!(
        c,
        '\u{591}'
            ..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
    );
    accent || arabic || hebrew || is_joiner(c)
}

/// The zeros of scripts with digits of their own; the other nine follow each.
const ZEROS: [u32; 20] = [
    0x660, 0x6F0, // Arabic, Persian
    0x7C0, // N'Ko
    0x966, 0x9E6, 0xA66, 0xAE6, 0xB66, 0xBE6, 0xC66, 0xCE6, 0xD66, // India
    0xDE6, 0xE50, 0xED0, 0xF20, // Sinhala, Thai, Lao, Tibetan
    0x1040, 0x1090, 0x17E0, // Burmese, Shan, Khmer
    0x1810, // Mongolian
];

/// The ASCII digit with the value of a digit of another script.
pub(crate) fn ascii_digit(c: char) -> Option<char> {
    let code = u32::from(c);
    let zero = ZEROS.iter().find(|zero| (**zero..**zero + 10).contains(&code))?;
    char::from_digit(code - zero, 10)
}

/// Replaces letters that Unicode does not decompose, though readers type one for the other.
fn push_letter(out: &mut String, c: char) {
    match ascii_digit(c).unwrap_or(c) {
        'ß' => out.push_str("ss"),
        'æ' => out.push_str("ae"),
        'œ' => out.push_str("oe"),
        'þ' => out.push_str("th"),
        'ø' => out.push('o'),
        'đ' | 'ð' => out.push('d'),
        'ł' => out.push('l'),
        'ħ' => out.push('h'),
        'ı' => out.push('i'),
        'ς' => out.push('σ'),
        'ى' | 'ی' => out.push('ي'),
        'ک' => out.push('ك'),
        'ة' => out.push('ه'),
        other => out.push(other),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_normalised_word_is_unchanged(word in "\\PC{0,12}") {
            let once = normalize(&word);
            prop_assert_eq!(normalize(&once), once);
        }
    }

    #[test]
    fn different_spellings_of_a_word_become_one() {
        for (left, right) in [
            ("Café", "cafe"),
            ("ΑΘΉΝΑΣ", "αθηνας"),
            ("Straße", "STRASSE"),
            ("İstanbul", "istanbul"),
            ("ＡＢＣ", "abc"),
            ("مُحَمَّد", "محمد"),
            ("ﬁn", "fin"),
            ("ｶﾞ", "ガ"),
            ("Йод", "иод"),
            ("۱۴۰۳", "1403"),
            ("٢٠٢٤", "2024"),
        ] {
            assert_eq!(normalize(left), normalize(right));
        }
    }

    #[test]
    fn letters_of_other_scripts_stay_different() {
        for (left, right) in [("が", "か"), ("कि", "का"), ("มา", "ม้า")] {
            assert_ne!(normalize(left), normalize(right));
        }
    }
}
