//! Filters of a query: `site:` and `lang:`.

use crate::stemmer::primary_language;

/// What a filter narrows a search to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Filter {
    /// A host, or a domain with all its hosts.
    Site(String),
    /// Primary subtag of a language.
    Lang(String),
}

/// Colons of Latin and of East Asian keyboards.
const COLONS: [char; 2] = [':', '：'];

/// The filter that a word spells; none when it is an ordinary word.
pub(super) fn filter(word: &str) -> Option<Filter> {
    let (name, value) = word.split_once(COLONS)?;
    match name.to_ascii_lowercase().as_str() {
        "site" => site(value).map(Filter::Site),
        "lang" => primary_language(value).map(Filter::Lang),
        _ => None,
    }
}

/// Whether the word is a filter without its value, which may follow after a space or in quotes.
pub(super) fn lacks_value(word: &str) -> bool {
    let name = word.strip_suffix(COLONS);
    name.is_some_and(|name| ["site", "lang"].iter().any(|known| name.eq_ignore_ascii_case(known)))
}

/// Whether a word may be the value of the filter before it. A filter of its own is none, nor is a
/// word without a dot behind `site:` and a space, with which a sentence goes on.
pub(super) fn may_follow(name: &str, word: &str) -> bool {
    let is_filter = filter(word).is_some() || lacks_value(word);
    let is_host = || word.trim_end_matches('.').contains(['.', ':']);
    !is_filter && (!name.to_ascii_lowercase().starts_with("site") || is_host())
}

/// The host in the value of `site:`, which may be a host, a domain with a leading dot or asterisk,
/// or a URL. Names in other scripts become Punycode, as in the index.
fn site(value: &str) -> Option<String> {
    let value = value.split_once("://").map_or(value, |(_, rest)| rest);
    let authority = value.split(['/', '?', '#']).next()?;
    let authority = authority.trim_start_matches("*.").trim_matches('.');
    let url = url::Url::parse(&format!("http://{authority}/")).ok()?;
    url.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_in_any_spelling() {
        for word in [
            "site:example.org",
            "SITE:Example.org.",
            "site:.example.org",
            "site:*.example.org",
            "site：example.org",
            "site:https://example.org:8443/x?y",
        ] {
            assert_eq!(filter(word), Some(Filter::Site("example.org".into())), "{word}");
        }
        let bücher = Filter::Site("xn--bcher-kva.example".into());
        assert_eq!(filter("site:Bücher.example"), Some(bücher));
    }

    #[test]
    fn other_words_are_no_filters() {
        for word in ["site", "site:", "time:12", "lang:esperanto", "lang:", "site:a b"] {
            assert_eq!(filter(word), None, "{word}");
        }
        assert!(lacks_value("Site:") && lacks_value("lang：") && !lacks_value("time:"));
    }
}
