//! Stemmers by language.
//!
//! Stems are indexed in a field of their own, each with its language as prefix
//! (`en:crawl`): one field serves all languages, and a stem of one language never matches that of
//! another.

use frostem::{Algorithm, Stemmer};

use crate::normalizer::normalize;

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

/// The primary subtag of a language tag: `en` for `en-GB`. Both written forms of Norwegian become
/// `no`, which is the code of their stemmer. `None` when `tag` is not a language tag.
pub(crate) fn primary_language(tag: &str) -> Option<String> {
    let primary = tag.split(['-', '_']).next().unwrap_or_default().to_ascii_lowercase();
    let is_code =
        (2..=3).contains(&primary.len()) && primary.bytes().all(|b| b.is_ascii_lowercase());
    match primary.as_str() {
        "nb" | "nn" => Some("no".to_owned()),
        _ => is_code.then_some(primary),
    }
}

/// The Snowball stemmer of one language.
#[derive(Clone, Copy)]
pub(crate) struct LanguageStemmer {
    code: &'static str,
    stemmer: Stemmer,
}

impl LanguageStemmer {
    /// The stemmer for an ISO 639-1 code; `None` when there is none.
    pub(crate) fn of(code: &str) -> Option<Self> {
        let found = LANGUAGES.iter().find(|(known, _)| *known == code)?;
        Some(Self { code: found.0, stemmer: Stemmer::new(found.1) })
    }

    /// The stemmers of all languages, for queries whose language is unknown.
    pub(crate) fn all() -> impl Iterator<Item = Self> {
        LANGUAGES.iter().map(|(code, algorithm)| Self { code, stemmer: Stemmer::new(*algorithm) })
    }

    /// The term of the stem of a word in lower case with its accents.
    pub(crate) fn term(&self, word: &str) -> String {
        format!("{}:{}", self.code, normalize(&self.stemmer.stem(word)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem_in_their_language() {
        let stem = |code: &str, word: &str| LanguageStemmer::of(code).unwrap().term(word);
        assert_eq!(stem("en", "crawling"), stem("en", "crawled"));
        assert_eq!(stem("de", "häuser"), stem("de", "hauses"));
        assert_eq!(stem("ru", "паук"), stem("ru", "пауки"));
        assert_ne!(stem("en", "crawl"), stem("nl", "crawl"));
    }

    #[test]
    fn tags_become_languages() {
        assert_eq!(primary_language("en-GB").as_deref(), Some("en"));
        assert_eq!(primary_language("nb_NO").as_deref(), Some("no"));
        assert_eq!(primary_language("PT").as_deref(), Some("pt"));
        for tag in ["", "e", "x1", "english", "日本"] {
            assert_eq!(primary_language(tag), None, "{tag}");
        }
    }

    proptest! {
        #[test]
        fn no_stemmer_fails(word in "\\PC{0,24}") {
            let word = crate::normalizer::lowercase(&word);
            for stemmer in LanguageStemmer::all() {
                let _ = stemmer.term(&word);
            }
        }
    }
}
