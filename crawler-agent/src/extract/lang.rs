//! Language: as the page declares it, else as detected from its text.

use whatlang::Lang;

/// Bytes of text from which the language is detected.
const SAMPLE_BYTES: usize = 4_096;

/// The primary language of a tag like `en-US` (RFC 5646), in lower case; none when it is not a
/// language.
pub(super) fn declared(tag: &str) -> Option<String> {
    let primary = tag.trim().split(['-', '_', ',', ' ']).next()?.to_ascii_lowercase();
    let plausible =
        matches!(primary.len(), 2 | 3) && primary.bytes().all(|b| b.is_ascii_lowercase());
    if !plausible || matches!(primary.as_str(), "und" | "mul" | "zxx") {
        return None;
    }
    Some(Lang::from_code(&primary).map_or(primary, |lang| short(lang).to_owned()))
}

/// The language of a text; none when the detection is not reliable.
pub(super) fn detected(text: &str) -> Option<String> {
    whatlang::detect(&text[..text.floor_char_boundary(SAMPLE_BYTES)])
        .filter(whatlang::Info::is_reliable)
        .map(|info| short(info.lang()).to_owned())
}

/// ISO 639-1 code where there is one, else the ISO 639-3 code.
fn short(lang: Lang) -> &'static str {
    let code = lang.code();
    TWO_LETTERS.iter().find(|(three, _)| *three == code).map_or(code, |(_, two)| two)
}

const TWO_LETTERS: &[(&str, &str)] = &[
    ("afr", "af"),
    ("aka", "ak"),
    ("amh", "am"),
    ("ara", "ar"),
    ("aze", "az"),
    ("bel", "be"),
    ("ben", "bn"),
    ("bul", "bg"),
    ("cat", "ca"),
    ("ces", "cs"),
    ("cmn", "zh"),
    ("cym", "cy"),
    ("dan", "da"),
    ("deu", "de"),
    ("ell", "el"),
    ("eng", "en"),
    ("epo", "eo"),
    ("est", "et"),
    ("fin", "fi"),
    ("fra", "fr"),
    ("guj", "gu"),
    ("heb", "he"),
    ("hin", "hi"),
    ("hrv", "hr"),
    ("hun", "hu"),
    ("hye", "hy"),
    ("ind", "id"),
    ("ita", "it"),
    ("jav", "jv"),
    ("jpn", "ja"),
    ("kan", "kn"),
    ("kat", "ka"),
    ("khm", "km"),
    ("kor", "ko"),
    ("lat", "la"),
    ("lav", "lv"),
    ("lit", "lt"),
    ("mal", "ml"),
    ("mar", "mr"),
    ("mkd", "mk"),
    ("mya", "my"),
    ("nep", "ne"),
    ("nld", "nl"),
    ("nob", "nb"),
    ("ori", "or"),
    ("pan", "pa"),
    ("pes", "fa"),
    ("pol", "pl"),
    ("por", "pt"),
    ("ron", "ro"),
    ("rus", "ru"),
    ("sin", "si"),
    ("slk", "sk"),
    ("slv", "sl"),
    ("sna", "sn"),
    ("spa", "es"),
    ("srp", "sr"),
    ("swe", "sv"),
    ("tam", "ta"),
    ("tel", "te"),
    ("tgl", "tl"),
    ("tha", "th"),
    ("tuk", "tk"),
    ("tur", "tr"),
    ("ukr", "uk"),
    ("urd", "ur"),
    ("uzb", "uz"),
    ("vie", "vi"),
    ("yid", "yi"),
    ("zul", "zu"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_that_can_be_detected_has_two_letters() {
        for lang in Lang::all() {
            assert_eq!(short(*lang).len(), 2, "{lang:?}");
        }
    }

    #[test]
    fn tags_are_cut_to_their_language() {
        for (tag, lang) in [
            ("en", Some("en")),
            ("EN-us", Some("en")),
            ("pt_BR", Some("pt")),
            ("deu", Some("de")),
            ("gsw", Some("gsw")),
            (" fr , en", Some("fr")),
            ("", None),
            ("x-default", None),
            ("english", None),
            ("und", None),
            ("ēn", None),
        ] {
            assert_eq!(declared(tag).as_deref(), lang, "{tag}");
        }
    }
}
