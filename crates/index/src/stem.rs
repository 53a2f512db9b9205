//! Here is a word and its language: what is its stem?
//!
//! Stems are indexed beside the words, each with its language before it (`en:crawl`), so that one
//! field serves all languages and a stem of one never counts as that of another.

use frostem::{Algorithm, Stemmer};

use crate::fold::folded;

/// Languages with a stemmer: ISO 639-1 code and Snowball algorithm.
const LANGUAGES: [(&str, Algorithm); 31] = [
    ("ar", Algorithm::Arabic),
    ("ca", Algorithm::Catalan),
    ("cs", Algorithm::Czech),
    ("da", Algorithm::Danish),
    ("de", Algorithm::German),
    ("el", Algorithm::Greek),
    ("en", Algorithm::English),
    ("eo", Algorithm::Esperanto),
    ("es", Algorithm::Spanish),
    ("et", Algorithm::Estonian),
    ("eu", Algorithm::Basque),
    ("fi", Algorithm::Finnish),
    ("fr", Algorithm::French),
    ("ga", Algorithm::Irish),
    ("hi", Algorithm::Hindi),
    ("hu", Algorithm::Hungarian),
    ("hy", Algorithm::Armenian),
    ("id", Algorithm::Indonesian),
    ("it", Algorithm::Italian),
    ("lt", Algorithm::Lithuanian),
    ("ne", Algorithm::Nepali),
    ("nl", Algorithm::Dutch),
    ("no", Algorithm::Norwegian),
    ("pl", Algorithm::Polish),
    ("pt", Algorithm::Portuguese),
    ("ro", Algorithm::Romanian),
    ("ru", Algorithm::Russian),
    ("sr", Algorithm::Serbian),
    ("sv", Algorithm::Swedish),
    ("ta", Algorithm::Tamil),
    ("tr", Algorithm::Turkish),
];

/// The two or three letters of a language tag by which pages are told apart: `en` for `en-GB`, `no`
/// for `nb`. None when it is no tag.
pub(crate) fn language(tag: &str) -> Option<String> {
    let primary = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let sound = (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_lowercase());
    match primary.as_str() {
        "nb" | "nn" => Some("no".to_owned()),
        _ => sound.then_some(primary),
    }
}

/// The stems of one language.
#[derive(Clone, Copy)]
pub(crate) struct Stems {
    code: &'static str,
    stemmer: Stemmer,
}

impl Stems {
    /// Of the language with this code, if there is a stemmer for it.
    pub(crate) fn of(code: &str) -> Option<Self> {
        let found = LANGUAGES.iter().find(|(known, _)| *known == code)?;
        Some(Self { code: found.0, stemmer: Stemmer::new(found.1) })
    }

    /// Of every language that has a stemmer.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.iter().map(|(code, algorithm)| Self { code, stemmer: Stemmer::new(*algorithm) })
    }

    /// The term for the stem of `lowered`, a word in lower case with its accents.
    pub(crate) fn term(&self, lowered: &str) -> String {
        format!("{}:{}", self.code, folded(&self.stemmer.stem(lowered)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_a_word_meet_in_their_language() {
        let stem = |code: &str, word: &str| Stems::of(code).unwrap().term(word);
        assert_eq!(stem("en", "crawling"), stem("en", "crawled"));
        assert_eq!(stem("de", "häuser"), stem("de", "hauses"));
        assert_eq!(stem("ru", "паук"), stem("ru", "пауки"));
        assert_ne!(stem("en", "crawl"), stem("nl", "crawl"));
    }

    #[test]
    fn tags_become_languages() {
        assert_eq!(language("en-GB").as_deref(), Some("en"));
        assert_eq!(language("nb_NO").as_deref(), Some("no"));
        assert_eq!(language("PT").as_deref(), Some("pt"));
        for tag in ["", "e", "x1", "english", "日本"] {
            assert_eq!(language(tag), None, "{tag}");
        }
    }

    proptest! {
        #[test]
        fn no_stemmer_fails(word in "\\PC{0,24}") {
            let lowered = crate::fold::lowered(&word);
            for stems in Stems::all() {
                let _ = stems.term(&lowered);
            }
        }
    }
}
