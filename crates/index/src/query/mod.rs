//! Parser of queries: words, "phrases", -exclusions, `site:` and `lang:`.
//!
//! No input is an error: a filter that cannot be understood is taken as words. Terms beyond a limit
//! are ignored, so that the cost of a query is bounded.

use crate::segmentation::{Word, WordKind, words};
use crate::stemmer::{LanguageStemmer, primary_language};

/// Limit of a query, in bytes; the rest is ignored.
pub const QUERY_MAX_BYTES: usize = 1_000;
/// Limit of the terms of a query; each word of a phrase counts.
const TERMS_MAX: usize = 24;
/// Limit of the values of each filter.
const FILTERS_MAX: usize = 8;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// Words and phrases that pages should contain.
    pub(crate) terms: Vec<QueryTerm>,
    /// Words and phrases that pages must not contain.
    pub(crate) excluded: Vec<QueryTerm>,
    /// Hosts and domains to search in; empty means all.
    pub(crate) sites: Vec<String>,
    /// Hosts and domains whose pages are excluded.
    pub(crate) excluded_sites: Vec<String>,
    /// Languages to search in; empty means all.
    pub(crate) langs: Vec<String>,
    /// Languages whose pages are excluded.
    pub(crate) excluded_langs: Vec<String>,
}

/// A word or phrase of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum QueryTerm {
    /// One word, found in its exact form or by a stem.
    Word {
        term: String,
        /// Terms of its stems, one for each language of the query.
        stems: Vec<String>,
    },
    /// At least two terms that follow each other.
    Phrase(Vec<PhraseTerm>),
    /// A single letter of an unspaced script, which is the prefix of bigrams.
    Prefix(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseTerm {
    /// Place of the term: the distances between the places of a phrase are those on the page.
    pub(crate) position: usize,
    pub(crate) term: String,
}

impl PhraseTerm {
    fn of(word: &Word<'_>) -> Option<Self> {
        Some(Self { position: word.position, term: word.term()? })
    }
}

impl QueryTerm {
    fn len(&self) -> usize {
        match self {
            Self::Word { .. } | Self::Prefix(_) => 1,
            Self::Phrase(terms) => terms.len(),
        }
    }

    /// Shortens a phrase to at most `limit` terms, but never below two.
    fn shorten(&mut self, limit: usize) {
        if let Self::Phrase(terms) = self {
            terms.truncate(limit.max(2));
        }
    }
}

impl Query {
    /// Parses what a user typed.
    pub(crate) fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut texts = Vec::new();
        // Filters are read first, because the languages of the query decide which stemmers its
        // words get.
        for token in tokens(&text[..text.floor_char_boundary(QUERY_MAX_BYTES)]) {
            if !query.add_filter(&token) {
                texts.push(token);
            }
        }
        let stemmers = query.stemmers();
        let mut terms_left = TERMS_MAX;
        for token in &texts {
            query.add_terms(token, &stemmers, &mut terms_left);
        }
        query
    }

    /// Whether it cannot match any page; exclusions alone match none.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.sites.is_empty() && self.langs.is_empty()
    }

    /// Adds a filter; false when the token is none.
    fn add_filter(&mut self, token: &Token<'_>) -> bool {
        let Some((name, value)) = token.text.split_once(':').filter(|_| !token.quoted) else {
            return false;
        };
        let (list, value) = match name.to_ascii_lowercase().as_str() {
            "site" if token.excluded => (&mut self.excluded_sites, site(value)),
            "site" => (&mut self.sites, site(value)),
            "lang" if token.excluded => (&mut self.excluded_langs, primary_language(value)),
            "lang" => (&mut self.langs, primary_language(value)),
            _ => return false,
        };
        let Some(value) = value else { return false };
        if list.len() < FILTERS_MAX {
            list.push(value);
        }
        true
    }

    /// Stemmers of the languages of the query; without `lang:`, those of all languages.
    fn stemmers(&self) -> Vec<LanguageStemmer> {
        if self.langs.is_empty() {
            return LanguageStemmer::all().collect();
        }
        self.langs.iter().filter_map(|code| LanguageStemmer::of(code)).collect()
    }

    fn add_terms(
        &mut self,
        token: &Token<'_>,
        stemmers: &[LanguageStemmer],
        terms_left: &mut usize,
    ) {
        let list = if token.excluded { &mut self.excluded } else { &mut self.terms };
        for mut term in terms(token, stemmers) {
            term.shorten(*terms_left);
            if term.len() > *terms_left {
                return;
            }
            if !list.contains(&term) {
                *terms_left -= term.len();
                list.push(term);
            }
        }
    }
}

/// A part of a query between spaces or between quotes.
struct Token<'a> {
    text: &'a str,
    quoted: bool,
    excluded: bool,
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

fn tokens(query: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        // A hyphen before a space is punctuation.
        let bare =
            rest.strip_prefix(['-', '−']).filter(|bare| !bare.starts_with(char::is_whitespace));
        let excluded = bare.is_some();
        rest = bare.unwrap_or(rest);
        let inner = rest.strip_prefix(is_quote);
        let quoted = inner.is_some();
        rest = inner.unwrap_or(rest);
        // A quote that is never closed reaches to the end of the query.
        let end = if quoted {
            rest.find(is_quote)
        } else {
            rest.find(|c: char| c.is_whitespace() || is_quote(c))
        };
        let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(Token { text, quoted, excluded });
        let after = if quoted { after.strip_prefix(is_quote).unwrap_or(after) } else { after };
        rest = after.trim_start();
    }
    tokens
}

/// The host in the value of `site:`, which may be a host, a domain with a leading dot, or a URL.
/// Names in other scripts become Punycode, as in the index.
fn site(value: &str) -> Option<String> {
    let value = value.split_once("://").map_or(value, |(_, rest)| rest);
    let authority = value.split(['/', '?', '#']).next()?.trim_matches('.');
    let url = url::Url::parse(&format!("http://{authority}/")).ok()?;
    url.host_str().map(str::to_owned)
}

/// Limit of a run of an unspaced script that is taken as one name or word, in bigrams. A longer run
/// is a sentence, whose words may be anywhere on a page.
const PHRASE_MAX_BIGRAMS: usize = 3;

/// A quoted token is one phrase, and so is an excluded one: a page with a part of it stays. Another
/// token is taken word by word, but a short run of an unspaced script is a phrase of its bigrams.
fn terms(token: &Token<'_>, stemmers: &[LanguageStemmer]) -> Vec<QueryTerm> {
    // The last letter of a run is part of the last bigram already.
    let words: Vec<Word<'_>> =
        words(token.text).filter(|word| word.kind != WordKind::LastLetter).collect();
    let is_phrase = token.quoted || token.excluded;
    if let ([word], true) = (words.as_slice(), is_phrase) {
        return term(word, &[]).into_iter().collect();
    }
    if is_phrase {
        return phrase(words.iter().filter_map(PhraseTerm::of).collect()).into_iter().collect();
    }
    let mut terms = Vec::new();
    for run in words.chunk_by(|left, right| {
        left.kind == WordKind::Bigram && right.kind == WordKind::Bigram && left.end() > right.start
    }) {
        match run {
            [_, _, ..] if run.len() <= PHRASE_MAX_BIGRAMS => {
                terms.extend(phrase(run.iter().filter_map(PhraseTerm::of).collect()));
            }
            _ => terms.extend(run.iter().filter_map(|word| term(word, stemmers))),
        }
    }
    terms
}

fn term(word: &Word<'_>, stemmers: &[LanguageStemmer]) -> Option<QueryTerm> {
    let term = word.term()?;
    if word.kind == WordKind::SingleLetter {
        return Some(QueryTerm::Prefix(term));
    }
    let stems = match word.stemmer_input() {
        Some(input) => stemmers.iter().map(|stemmer| stemmer.term(&input)).collect(),
        None => Vec::new(),
    };
    Some(QueryTerm::Word { term, stems })
}

fn phrase(mut terms: Vec<PhraseTerm>) -> Option<QueryTerm> {
    match terms.len() {
        0 => None,
        1 => terms.pop().map(|PhraseTerm { term, .. }| QueryTerm::Word { term, stems: Vec::new() }),
        _ => Some(QueryTerm::Phrase(terms)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(term: &str) -> QueryTerm {
        QueryTerm::Word { term: term.to_owned(), stems: Vec::new() }
    }

    fn phrase(terms: &[&str]) -> QueryTerm {
        let terms = terms.iter().enumerate();
        let terms = terms.map(|(position, &term)| PhraseTerm { position, term: term.to_owned() });
        QueryTerm::Phrase(terms.collect())
    }

    #[test]
    fn words_phrases_and_exclusions() {
        let query = Query::parse("lang:zh Foo -bar \"Big Cat\" -\"a b\" - x");
        assert_eq!(query.terms, [word("foo"), phrase(&["big", "cat"]), word("x")]);
        assert_eq!(query.excluded, [word("bar"), phrase(&["a", "b"])]);
    }

    #[test]
    fn a_page_with_a_part_of_what_is_excluded_stays() {
        let query = Query::parse("vaccine -covid-19 -東京スカイ -example.org");
        let excluded: [&[&str]; 3] =
            [&["covid", "19"], &["東京", "京ス", "スカ", "カイ"], &["example", "org"]];
        assert_eq!(query.excluded, excluded.map(phrase));
    }

    #[test]
    fn filters() {
        let query = Query::parse(
            "SITE:Example.org site:https://Bücher.example/x?y lang:en-GB -site:.ru -lang:nb",
        );
        assert_eq!(query.sites, ["example.org", "xn--bcher-kva.example"]);
        assert_eq!(
            (query.excluded_sites, query.langs, query.excluded_langs),
            (vec!["ru".into()], vec!["en".into()], vec!["no".into()])
        );
        assert!(query.terms.is_empty());
    }

    #[test]
    fn a_filter_that_cannot_be_understood_is_a_word() {
        let query = Query::parse("lang:zh lang:esperanto \"site:a.b\" time:12");
        assert!(query.sites.is_empty());
        assert_eq!(query.terms.len(), 5);
    }

    #[test]
    fn scripts_without_spaces_become_phrases() {
        assert_eq!(
            Query::parse("東京都 猫").terms,
            [phrase(&["東京", "京都"]), QueryTerm::Prefix("猫".into())]
        );
        assert_eq!(Query::parse("lang:ja 東京駅tower").terms.len(), 2);
        assert_eq!(Query::parse("東京の美味しい").terms.len(), 6);
    }

    #[test]
    fn stems_of_the_language_asked_for() {
        let QueryTerm::Word { stems, .. } = &Query::parse("lang:en crawling").terms[0] else {
            panic!("a word")
        };
        assert_eq!(stems, &["en:crawl"]);
        let QueryTerm::Word { stems, .. } = &Query::parse("crawling").terms[0] else {
            panic!("a word")
        };
        assert!(stems.len() > 20);
    }

    #[test]
    fn the_cost_of_a_query_is_bounded() {
        let query = Query::parse(&"ab cd ef \"x y\" site:a.b -z ".repeat(10_000));
        assert!(query.sites.len() <= FILTERS_MAX);
        let cost: usize = query.terms.iter().chain(&query.excluded).map(QueryTerm::len).sum();
        assert!(cost <= TERMS_MAX);
        assert_eq!(Query::parse(&"東".repeat(5_000)).terms, [word("東東")]);
        assert_eq!(
            Query::parse(&format!("\"{}\"", "a ".repeat(100))).terms,
            [phrase(&["a"; TERMS_MAX])]
        );
    }

    proptest! {
        #[test]
        fn anything_may_be_typed(query in ".{0,80}") {
            let _ = Query::parse(&query);
        }

        #[test]
        fn any_mix_of_signs_may_be_typed(
            query in "[-\" a東:(){}*?~^+|&\\\\/\\[\\]site:lang]{0,60}",
        ) {
            let _ = Query::parse(&query);
        }
    }
}
