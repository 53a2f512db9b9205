//! Languages of the web: word lists and the structure of sentences.

use std::sync::LazyLock;

use super::charset::Charset;

/// The parts of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Who,
    Does,
    Where,
}

#[derive(Debug)]
pub(super) struct Language {
    pub(super) code: &'static str,
    /// In which order a sentence names its parts.
    pub(super) order: Vec<Part>,
    /// Between the parts: a space, or nothing.
    pub(super) gap: &'static str,
    /// After a sentence.
    pub(super) stop: &'static str,
    /// What sites in this language are called.
    pub(super) name: &'static str,
    /// Titles of documents.
    pub(super) titles: Vec<&'static str>,
    who: Vec<&'static str>,
    does: Vec<&'static str>,
    place: Vec<&'static str>,
    /// Encodings that pages in this language come in.
    pub(super) charsets: &'static [Charset],
    /// Countries whose hosts speak it.
    countries: &'static [&'static str],
}

impl Language {
    /// The words for a part of a sentence.
    pub(super) fn words(&self, part: Part) -> &[&'static str] {
        match part {
            Part::Who => &self.who,
            Part::Does => &self.does,
            Part::Where => &self.place,
        }
    }

    /// True for scripts that are written from right to left.
    pub(super) fn right_to_left(&self) -> bool {
        self.code == "ar"
    }

    fn read(source: &Source) -> Self {
        let lines = source.text.lines().filter_map(|line| line.split_once(": "));
        let all = |key: &str| -> Vec<&'static str> {
            lines.clone().filter(|(found, _)| *found == key).map(|(_, value)| value).collect()
        };
        let one = |key: &str| all(key).first().copied().unwrap_or_default();
        let part = |word: &str| match word {
            "who" => Part::Who,
            "does" => Part::Does,
            _ => Part::Where,
        };
        Self {
            code: source.code,
            order: one("order").split(' ').map(part).collect(),
            gap: if one("gap") == "space" { " " } else { "" },
            stop: one("stop"),
            name: one("name"),
            titles: all("title"),
            who: all("who"),
            does: all("does"),
            place: all("where"),
            charsets: source.charsets,
            countries: source.countries,
        }
    }
}

/// The language spoken on the hosts of a country; English where none of ours is at home.
pub(super) fn of_country(country: &str) -> &'static Language {
    let speaks = |language: &&Language| language.countries.contains(&country);
    ALL.iter().find(speaks).unwrap_or(&ALL[0])
}

/// Every language; English first.
pub(super) static ALL: LazyLock<Vec<Language>> =
    LazyLock::new(|| SOURCES.iter().map(Language::read).collect());

struct Source {
    code: &'static str,
    text: &'static str,
    charsets: &'static [Charset],
    countries: &'static [&'static str],
}

macro_rules! source {
    ($code:literal, [$($charset:ident),*], [$($country:literal),*]) => {
        Source {
            code: $code,
            text: include_str!(concat!("languages/", $code, ".txt")),
            charsets: &[$(Charset::$charset),*],
            countries: &[$($country),*],
        }
    };
}

const SOURCES: [Source; 14] = [
    source!("en", [Utf8, Latin1], []),
    source!("el", [Utf8, Greek, Utf8], ["GR", "CY"]),
    source!("ru", [Utf8, Windows1251, Koi8R], ["RU", "BY", "KZ", "KG"]),
    source!(
        "ar",
        [Utf8, Windows1256],
        ["EG", "SA", "AE", "MA", "JO", "TN", "DZ", "IQ", "QA", "KW", "LB", "OM"]
    ),
    source!("ja", [Utf8, ShiftJis, EucJp], ["JP"]),
    source!("zh", [Utf8, Gb18030], ["CN", "SG"]),
    source!("ko", [Utf8, EucKr], ["KR"]),
    source!("fr", [Utf8, Latin1], ["FR", "SN", "CI", "LU", "CM", "MG"]),
    source!(
        "es",
        [Utf8, Latin1],
        ["ES", "MX", "AR", "CL", "CO", "PE", "EC", "CR", "UY", "PA", "VE", "GT", "BO"]
    ),
    source!("de", [Utf8, Latin1], ["DE", "AT", "CH", "LI"]),
    source!("pt", [Utf8, Latin1], ["PT", "BR", "AO", "MZ"]),
    source!("it", [Utf8, Latin1], ["IT", "SM"]),
    source!("tr", [Utf8, Latin5], ["TR"]),
    source!("pl", [Utf8, Latin2], ["PL"]),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_all_its_words() {
        for language in ALL.iter() {
            let code = language.code;
            assert_eq!(language.order.len(), 3, "{code}");
            assert!(!language.stop.is_empty() && !language.name.is_empty(), "{code}");
            assert_eq!(language.titles.len(), 12, "{code}");
            for part in [Part::Who, Part::Does, Part::Where] {
                assert_eq!(language.words(part).len(), 12, "{code} {part:?}");
                assert!(language.order.contains(&part), "{code} {part:?}");
            }
            assert!(!language.charsets.is_empty(), "{code}");
        }
    }

    #[test]
    fn countries_speak_one_language_each_and_strangers_english() {
        assert_eq!(of_country("CY").code, "el");
        assert_eq!(of_country("NZ").code, "en");
        let mut countries: Vec<_> = ALL.iter().flat_map(|language| language.countries).collect();
        countries.sort_unstable();
        assert!(countries.windows(2).all(|pair| pair[0] != pair[1]), "a country is listed twice");
    }
}
