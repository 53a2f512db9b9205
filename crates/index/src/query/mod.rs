//! Parser of queries: words, "phrases", -exclusions, `site:` and `lang:`.
//!
//! No input is an error: a filter that cannot be understood is taken as words. Terms beyond a limit
//! are ignored, so that the cost of a query is bounded.

use crate::segmentation::{Word, WordKind, words};
use crate::stemmer::LanguageStemmer;

mod filters;
mod tokens;

use filters::{Filter, filter, lacks_value, may_follow};
use tokens::{Token, tokens};

/// Limit of a query, in bytes; the rest is ignored.
pub const QUERY_MAX_BYTES: usize = 1_000;
/// Limit of the terms of a query, and of the excluded ones; each word of a phrase counts.
const TERMS_MAX: usize = 24;
/// Limit of the values of each filter.
const FILTERS_MAX: usize = 8;

/// A parsed query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Query {
    /// Words and phrases that pages should contain.
    pub(crate) terms: Vec<QueryTerm>,
    /// All words of the terms with their places in the query.
    pub(crate) in_order: Vec<PhraseTerm>,
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
    /// The bigrams of a longer run of an unspaced script, most of which pages should contain.
    Sentence(Vec<PhraseTerm>),
    /// A single letter of an unspaced script.
    Letter(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PhraseTerm {
    /// Place of the term: the distances between the places of a phrase are those on the page.
    pub(crate) position: usize,
    pub(crate) term: String,
}

impl PhraseTerm {
    /// The term of a word of a text that begins at `place`.
    fn of(word: &Word<'_>, place: usize) -> Option<Self> {
        Some(Self { position: place + word.position, term: word.term()? })
    }
}

impl QueryTerm {
    fn len(&self) -> usize {
        match self {
            Self::Word { .. } | Self::Letter(_) => 1,
            Self::Phrase(terms) | Self::Sentence(terms) => terms.len(),
        }
    }

    /// Shortens a phrase or sentence to at most `limit` terms, but never below two.
    fn shorten(&mut self, limit: usize) {
        if let Self::Phrase(terms) | Self::Sentence(terms) = self {
            terms.truncate(limit.max(2));
        }
    }
}

impl Query {
    /// Parses what a user typed.
    pub(crate) fn parse(text: &str) -> Self {
        let mut query = Self::default();
        // Filters are read first, because the languages of the query decide which stemmers its
        // words get.
        let tokens = tokens(&text[..text.floor_char_boundary(QUERY_MAX_BYTES)]);
        let texts = query.take_filters(tokens);
        let stemmers = query.stemmers();
        // What a user excludes counts alone: it must not be ignored for the length of the rest.
        let mut terms_left = TERMS_MAX;
        let mut excluded_left = TERMS_MAX;
        let mut place = 0;
        for token in &texts {
            let words: Vec<Word<'_>> = words(token.text).collect();
            if token.excluded {
                add_terms(&mut query.excluded, phrase(&words), &mut excluded_left);
                continue;
            }
            if token.quoted {
                add_terms(&mut query.terms, phrase(&words), &mut terms_left);
            } else {
                add_terms(&mut query.terms, terms(&words, &stemmers), &mut terms_left);
            }
            query.in_order.extend(place_terms(&words, place));
            place += words.len();
        }
        query.in_order.truncate(TERMS_MAX);
        query
    }

    /// Whether it cannot match any page; exclusions alone match none.
    pub(crate) fn is_empty(&self) -> bool {
        self.terms.is_empty() && self.sites.is_empty() && self.langs.is_empty()
    }

    /// Takes the filters out of the tokens.
    fn take_filters<'a>(&mut self, tokens: Vec<Token<'a>>) -> Vec<Token<'a>> {
        let mut texts = Vec::new();
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            let name_alone = !token.quoted && lacks_value(token.text);
            let value = tokens.next_if(|next| {
                let may_follow = next.quoted || may_follow(token.text, next.text);
                name_alone && !next.excluded && may_follow
            });
            let filter = match &value {
                Some(value) => filter(&format!("{}{}", token.text, value.text)),
                None => filter(token.text).filter(|_| !token.quoted),
            };
            match filter {
                Some(filter) => self.add_filter(filter, token.excluded),
                None => texts.extend([Some(token), value].into_iter().flatten()),
            }
        }
        texts
    }

    fn add_filter(&mut self, filter: Filter, is_excluded: bool) {
        let (list, value) = match (filter, is_excluded) {
            (Filter::Site(host), false) => (&mut self.sites, host),
            (Filter::Site(host), true) => (&mut self.excluded_sites, host),
            (Filter::Lang(code), false) => (&mut self.langs, code),
            (Filter::Lang(code), true) => (&mut self.excluded_langs, code),
        };
        if list.len() < FILTERS_MAX {
            list.push(value);
        }
    }

    /// Stemmers of the languages of the query; without `lang:`, those of all languages.
    fn stemmers(&self) -> Vec<LanguageStemmer> {
        if self.langs.is_empty() {
            return LanguageStemmer::all().collect();
        }
        self.langs.iter().filter_map(|code| LanguageStemmer::of(code)).collect()
    }
}

/// Adds terms while the limit leaves room for them.
fn add_terms(
    list: &mut Vec<QueryTerm>,
    terms: impl IntoIterator<Item = QueryTerm>,
    terms_left: &mut usize,
) {
    for mut term in terms {
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

/// The terms of words in a text that begins at `place`. The last letter of a run is part of the
/// last bigram already.
fn place_terms(words: &[Word<'_>], place: usize) -> impl Iterator<Item = PhraseTerm> {
    let words = words.iter().filter(|word| word.kind != WordKind::LastLetter);
    words.filter_map(move |word| PhraseTerm::of(word, place))
}

/// Limit of a run of an unspaced script that is taken as one name or word, in bigrams. A longer run
/// is a sentence, whose words may be anywhere on a page.
const PHRASE_MAX_BIGRAMS: usize = 3;
/// The same for scripts in which a word has many letters.
const LONG_PHRASE_MAX_BIGRAMS: usize = 7;

/// The terms of a text without quotes: word by word, but each run of an unspaced script is one.
fn terms(words: &[Word<'_>], stemmers: &[LanguageStemmer]) -> Vec<QueryTerm> {
    let is_one_run = |left: &Word<'_>, right: &Word<'_>| {
        left.kind == WordKind::Bigram && right.kind != WordKind::Spaced && left.end() > right.start
    };
    let terms = words.chunk_by(is_one_run).map(|run| match run {
        [word] | [word, Word { kind: WordKind::LastLetter, .. }] => term(word, stemmers),
        _ => run_term(run),
    });
    terms.flatten().collect()
}

/// The term of a run of several bigrams.
fn run_term(run: &[Word<'_>]) -> Option<QueryTerm> {
    let terms: Vec<PhraseTerm> = place_terms(run, 0).collect();
    let is_of_long_words = run.iter().all(|word| word.text.chars().all(is_of_long_words));
    let most = if is_of_long_words { LONG_PHRASE_MAX_BIGRAMS } else { PHRASE_MAX_BIGRAMS };
    if terms.len() <= most { phrase_of(terms) } else { Some(QueryTerm::Sentence(terms)) }
}

/// Whether `c` is of an unspaced script with letters for single sounds: katakana, with which words
/// of other languages are spelled, and the scripts of South-East Asia and Tibet.
const fn is_of_long_words(c: char) -> bool {
    matches!(c,
        '\u{E00}'..='\u{FFF}' | '\u{1000}'..='\u{109F}' | '\u{1780}'..='\u{17FF}'
        | '\u{30A0}'..='\u{30FF}' | '\u{FF66}'..='\u{FF9F}'
    )
}

/// The term of a quoted or excluded text, which is one phrase: a page with a part of what is
/// excluded stays.
fn phrase(words: &[Word<'_>]) -> Option<QueryTerm> {
    match words {
        [word] | [word, Word { kind: WordKind::LastLetter, .. }] => term(word, &[]),
        _ => phrase_of(place_terms(words, 0).collect()),
    }
}

fn phrase_of(mut terms: Vec<PhraseTerm>) -> Option<QueryTerm> {
    match terms.len() {
        0 => None,
        1 => terms.pop().map(|PhraseTerm { term, .. }| QueryTerm::Word { term, stems: Vec::new() }),
        _ => Some(QueryTerm::Phrase(terms)),
    }
}

fn term(word: &Word<'_>, stemmers: &[LanguageStemmer]) -> Option<QueryTerm> {
    let term = word.term()?;
    if word.kind == WordKind::SingleLetter {
        return Some(QueryTerm::Letter(term));
    }
    let stems = match word.stemmer_input() {
        Some(input) => stemmers.iter().map(|stemmer| stemmer.term(&input)).collect(),
        None => Vec::new(),
    };
    Some(QueryTerm::Word { term, stems })
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
    fn the_value_of_a_filter_may_follow_after_a_space_or_in_quotes() {
        let query = Query::parse("oak site: example.org -site:\"a.example\" lang: de");
        assert_eq!((query.sites, query.langs), (vec!["example.org".into()], vec!["de".into()]));
        assert_eq!(query.excluded_sites, ["a.example"]);
        assert_eq!(query.terms.len(), 1);
        let sentence = Query::parse("dating site: reviews");
        assert_eq!((sentence.sites.len(), sentence.terms.len()), (0, 3));
        assert_eq!(Query::parse("oak site: lang:de").langs, ["de"]);
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
            [phrase(&["東京", "京都"]), QueryTerm::Letter("猫".into())]
        );
        assert_eq!(Query::parse("lang:ja 東京駅tower").terms.len(), 2);
        let katakana = Query::parse("インターネット").terms;
        assert!(matches!(katakana.as_slice(), [QueryTerm::Phrase(_)]), "{katakana:?}");
    }

    #[test]
    fn a_long_run_without_spaces_is_one_sentence_beside_other_words() {
        let terms = Query::parse("東京の美味しい 駅前").terms;
        let [QueryTerm::Sentence(bigrams), other] = terms.as_slice() else {
            panic!("a sentence and a word: {terms:?}")
        };
        assert_eq!((bigrams.len(), other), (6, &word("駅前")));
    }

    #[test]
    fn words_keep_their_places() {
        let places: Vec<(usize, String)> = Query::parse("東京 tower -x \"a b\"")
            .in_order
            .into_iter()
            .map(|term| (term.position, term.term))
            .collect();
        // The last letter of 東京 has the place 1.
        let expected = [(0, "東京"), (2, "tower"), (3, "a"), (4, "b")];
        assert_eq!(places, expected.map(|(place, term)| (place, term.to_owned())));
    }

    #[test]
    fn what_is_excluded_counts_however_long_the_query_is() {
        let query = Query::parse(&format!("{} -spam", "ab cd ef ".repeat(20)));
        assert_eq!(query.excluded, [word("spam")]);
        let long: Vec<String> = (0..30).map(|n| format!("w{n}")).collect();
        let query = Query::parse(&format!("lang:zh {} -spam", long.join(" ")));
        assert_eq!((query.terms.len(), query.excluded), (TERMS_MAX, vec![word("spam")]));
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
        for list in [&query.terms, &query.excluded] {
            assert!(list.iter().map(QueryTerm::len).sum::<usize>() <= TERMS_MAX);
        }
        assert!(query.in_order.len() <= TERMS_MAX);
        assert_eq!(Query::parse(&"東".repeat(5_000)).terms[0].len(), TERMS_MAX);
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
