//! Here is a word as somebody wrote it: under which spelling is it found?
//!
//! Case, width, ligatures and the accents of Latin, Greek and Cyrillic do not matter to somebody
//! who searches, nor do the vowel points of Arabic and Hebrew. The marks of other scripts are
//! letters in their own right (Devanagari vowel signs, Thai tones, the voicing marks of kana) and
//! stay.

use unicode_normalization::UnicodeNormalization as _;

/// Zero-width characters that hold a word together without being part of its spelling.
pub(crate) const fn is_joiner(c: char) -> bool {
    matches!(c, '\u{AD}' | '\u{200C}' | '\u{200D}' | '\u{2060}')
}

/// The spelling under which a word is indexed and looked up.
pub(crate) fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_ascii_lowercase();
    }
    let mut out = String::with_capacity(word.len());
    for c in word.nfkd().filter(|c| !is_dropped(*c)).flat_map(char::to_lowercase) {
        push_letter(&mut out, c);
    }
    // Lower case may bring marks of its own (İ), and kana wait for their voicing marks.
    out.nfc().filter(|c| !is_dropped(*c)).collect()
}

/// The spelling that stemmers know: lower case with its accents.
pub(crate) fn lowered(word: &str) -> String {
    word.nfkc().filter(|c| !is_joiner(*c)).flat_map(char::to_lowercase).collect()
}

fn is_dropped(c: char) -> bool {
    let accent = matches!(c, '\u{300}'..='\u{36F}');
    let arabic = matches!(c, '\u{640}' | '\u{64B}'..='\u{65F}' | '\u{670}' | '\u{6D6}'..='\u{6DC}');
    let hebrew = matches!(
        c,
        '\u{591}'
            ..='\u{5BD}' | '\u{5BF}' | '\u{5C1}' | '\u{5C2}' | '\u{5C4}' | '\u{5C5}' | '\u{5C7}'
    );
    accent || arabic || hebrew || is_joiner(c)
}

/// Letters that no decomposition brings together, though their readers type one for the other.
fn push_letter(out: &mut String, c: char) {
    match c {
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
        fn a_folded_word_stays(word in "\\PC{0,12}") {
            let once = folded(&word);
            prop_assert_eq!(folded(&once), once);
        }
    }

    #[test]
    fn different_spellings_of_a_word_meet() {
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
        ] {
            assert_eq!(folded(left), folded(right));
        }
    }

    #[test]
    fn letters_of_other_scripts_stay_apart() {
        for (left, right) in [("が", "か"), ("कि", "का"), ("มา", "ม้า")] {
            assert_ne!(folded(left), folded(right));
        }
    }
}
