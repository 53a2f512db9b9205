//! Snippets: the passage of a page that shows best why it matches a query.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::query::{PhraseTerm, Query, QueryTerm};
use crate::segmentation::{Word, words};
use crate::stemmer::LanguageStemmer;

/// Approximate length of a snippet, in bytes of text.
const SNIPPET_BYTES: usize = 260;
/// Context before the first match of a snippet, in bytes.
const CONTEXT_BYTES: usize = 60;
/// Part of a text that is searched for matches, in bytes: a bound on the time of one snippet.
const SEARCHED_BYTES: usize = 128 << 10;
/// Words at the beginning of a text that may repeat its title.
const TITLE_WORDS_MAX: usize = 60;
/// Number of matches that are considered, for the same reason.
const MATCHES_MAX: usize = 500;

/// A part of a snippet: plain text, never markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetFragment {
    /// The text as on the page.
    pub text: String,
    /// Whether it matches the query and is to be highlighted.
    pub is_match: bool,
}

/// Terms of a query, prepared for the texts of all its hits.
#[derive(Debug, Default)]
pub(crate) struct Highlighter {
    words: HashSet<String>,
    /// Stems with the words of the query that have them.
    stems: HashMap<String, String>,
    letters: HashSet<String>,
    phrases: Vec<Vec<PhraseTerm>>,
}

/// A word of a text that is in the query.
struct Found {
    range: Range<usize>,
    position: usize,
    /// The word of the query, of which the text may have another form.
    term: String,
    /// False for a word of a phrase that may stand elsewhere.
    is_match: bool,
}

impl Highlighter {
    /// Collects the terms of a query.
    pub(crate) fn new(query: &Query) -> Self {
        let mut highlighter = Self::default();
        for term in query.terms.clone() {
            match term {
                QueryTerm::Word { term, stems } => {
                    highlighter.stems.extend(stems.into_iter().map(|stem| (stem, term.clone())));
                    highlighter.words.insert(term);
                }
                QueryTerm::Phrase(terms) => highlighter.phrases.push(terms),
                QueryTerm::Sentence(terms) => {
                    highlighter.words.extend(terms.into_iter().map(|term| term.term));
                }
                QueryTerm::Letter(letter) => {
                    highlighter.letters.insert(letter);
                }
            }
        }
        highlighter
    }

    /// The passage of `text` (in `lang`) with the most different terms of the query; the beginning
    /// of the text when nothing matches.
    pub(crate) fn snippet(&self, text: &str, lang: Option<&str>) -> Vec<SnippetFragment> {
        let matches = self.matches(text, lang);
        let passage = best_passage(text, &matches);
        fragments(text, passage, matches)
    }

    fn matches(&self, text: &str, lang: Option<&str>) -> Vec<Found> {
        let stemmer = lang.and_then(LanguageStemmer::of).filter(|_| !self.stems.is_empty());
        let words = words(text).take_while(|word| word.start < SEARCHED_BYTES);
        let mut found: Vec<Found> =
            words.filter_map(|word| self.find(&word, stemmer.as_ref())).collect();
        for phrase in &self.phrases {
            mark_phrase(phrase, &mut found);
        }
        found.into_iter().filter(|found| found.is_match).take(MATCHES_MAX).collect()
    }

    fn find(&self, word: &Word<'_>, stemmer: Option<&LanguageStemmer>) -> Option<Found> {
        let term = word.term()?;
        let found =
            |range, term, is_match| Some(Found { range, position: word.position, term, is_match });
        let range = word.start..word.end();
        if self.words.contains(&term) {
            return found(range, term, true);
        }
        if self.phrases.iter().flatten().any(|of_phrase| of_phrase.term == term) {
            let is_other_term =
                self.letter_of(word).is_some() || self.word_of(word, stemmer).is_some();
            return found(range, term, is_other_term);
        }
        // A single letter of an unspaced script was typed: only that letter of the bigram matches.
        if let Some(letter) = self.letter_of(word) {
            let end = word.start + word.text.chars().next().map_or(0, char::len_utf8);
            return found(word.start..end, letter, true);
        }
        // Stemming is slow, so it is tried last.
        found(range, self.word_of(word, stemmer)?.clone(), true)
    }

    /// The letter of the query with which a word begins.
    fn letter_of(&self, word: &Word<'_>) -> Option<String> {
        word.letter().filter(|letter| self.letters.contains(letter))
    }

    /// The word of the query that has the stem of a word.
    fn word_of(&self, word: &Word<'_>, stemmer: Option<&LanguageStemmer>) -> Option<&String> {
        self.stems.get(&stemmer?.term(&word.stemmer_input()?))
    }
}

/// Marks the words of a phrase wherever all of them follow each other.
fn mark_phrase(phrase: &[PhraseTerm], found: &mut [Found]) {
    for first in 0..found.len() {
        for at in places_of(phrase, &found[first..]).into_iter().flatten() {
            found[first + at].is_match = true;
        }
    }
}

/// The places of a phrase that begins with the first of the words found.
fn places_of(phrase: &[PhraseTerm], found: &[Found]) -> Option<Vec<usize>> {
    let begin = found.first()?.position;
    let first = phrase.first()?.position;
    let place_of = |word: &PhraseTerm| {
        let distance = word.position - first;
        // Each word has a place of its own, so that it is no further away than this.
        let near = found.get(..=distance).unwrap_or(found);
        let at = near.binary_search_by_key(&(begin + distance), |found| found.position).ok()?;
        (near[at].term == word.term).then_some(at)
    };
    phrase.iter().map(place_of).collect()
}

/// The text of a page without what repeats its title at the beginning: site headers and headings,
/// which results show as the title already. The whole text where nothing else is left.
pub(crate) fn without_title<'a>(text: &'a str, title: &str) -> &'a str {
    let title: HashSet<String> = words(title).filter_map(|word| word.term()).collect();
    let first_other = words(text)
        .take(TITLE_WORDS_MAX)
        .find(|word| word.term().is_none_or(|term| !title.contains(&term)));
    match first_other {
        Some(word) => text.get(word.start..).unwrap_or(text),
        None => text,
    }
}

/// The passage that begins a little before some match and contains the most different terms; the
/// first of equals. Repetitions of one term say less than a second term of the query.
fn best_passage(text: &str, matches: &[Found]) -> Range<usize> {
    let mut best_count = 0;
    let mut best_start = 0;
    for (at, first) in matches.iter().enumerate() {
        let end = first.range.start + SNIPPET_BYTES - CONTEXT_BYTES;
        let inside = matches[at..].iter().take_while(|found| found.range.end <= end);
        let different = inside.map(|found| found.term.as_str()).collect::<HashSet<_>>().len();
        if different > best_count {
            best_count = different;
            best_start = first.range.start.saturating_sub(CONTEXT_BYTES);
        }
    }
    let start = word_start(text, best_start);
    start..word_end(text, start + SNIPPET_BYTES)
}

/// The start of the next word at or after `at`, so that a snippet does not begin within a word. In
/// text without spaces it is the next character.
fn word_start(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    // At most half of the context is given up for this, so that the first match stays inside.
    let limit = text.floor_char_boundary(at + CONTEXT_BYTES / 2);
    text[at..limit].find(' ').map_or(at, |space| at + space + 1)
}

/// The end of the last word before `at`, likewise.
fn word_end(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let at = text.floor_char_boundary(at);
    let limit = text.floor_char_boundary(at.saturating_sub(CONTEXT_BYTES / 2));
    text[limit..at].rfind(' ').map_or(at, |space| limit + space)
}

/// Splits `passage` at its matches and marks with an ellipsis where the text goes on.
fn fragments(text: &str, passage: Range<usize>, matches: Vec<Found>) -> Vec<SnippetFragment> {
    let mut fragments = Vec::new();
    let mut push = |text: &str, is_match: bool| {
        if !text.is_empty() {
            fragments.push(SnippetFragment { text: text.to_owned(), is_match });
        }
    };
    if passage.start > 0 {
        push("… ", false);
    }
    let mut at = passage.start;
    for range in merged(matches) {
        // A match may reach over an end of the passage, and is cut there.
        let start = range.start.max(at);
        let end = range.end.min(passage.end);
        if start < end {
            push(&text[at..start], false);
            push(&text[start..end], true);
            at = end;
        }
    }
    push(&text[at..passage.end], false);
    if passage.end < text.len() {
        push(" …", false);
    }
    fragments
}

/// The snippet, cut after as many characters as its page allows.
pub(crate) fn shortened(
    snippet: Vec<SnippetFragment>,
    max_snippet: Option<u64>,
) -> Vec<SnippetFragment> {
    let Some(most) = max_snippet else { return snippet };
    let mut room = usize::try_from(most).unwrap_or(usize::MAX);
    let mut shortened = Vec::new();
    for mut fragment in snippet {
        if room == 0 {
            break;
        }
        let end = fragment.text.char_indices().nth(room).map(|(at, _)| at);
        fragment.text.truncate(end.unwrap_or(fragment.text.len()));
        room -= fragment.text.chars().count();
        shortened.push(fragment);
    }
    shortened
}

/// The ranges of the matches, where touching and overlapping ones are one: the bigrams of an
/// unspaced word overlap by a letter.
fn merged(matches: Vec<Found>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(matches.len());
    for Found { range, .. } in matches {
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn marked(query: &str, text: &str, lang: Option<&str>) -> String {
        let fragments = Highlighter::new(&Query::parse(query)).snippet(text, lang);
        let mark = |fragment: SnippetFragment| {
            if fragment.is_match { format!("[{}]", fragment.text) } else { fragment.text }
        };
        fragments.into_iter().map(mark).collect()
    }

    #[test]
    fn words_and_their_forms_are_marked() {
        assert_eq!(
            marked("CAFÉ crawl", "A cafe for crawling, <b>", Some("en")),
            "A [cafe] for [crawling], <b>"
        );
        assert_eq!(marked("crawl", "crawling", None), "crawling");
    }

    #[test]
    fn runs_of_bigrams_are_one_match() {
        assert_eq!(marked("東京都", "これは東京都です", Some("ja")), "これは[東京都]です");
        assert_eq!(marked("猫", "白い猫がいる", Some("ja")), "白い[猫]がいる");
    }

    #[test]
    fn the_passage_with_most_of_the_query_wins() {
        let text = format!("red {} red blue {}", "x ".repeat(400), "y ".repeat(400));
        let snippet = marked("red blue", &text, None);
        assert!(
            snippet.starts_with("… x")
                && snippet.contains("[red] [blue] y")
                && snippet.ends_with(" …"),
            "{snippet}"
        );
    }

    #[test]
    fn forms_of_one_word_say_less_than_a_second_word() {
        let text = format!("crawl crawled crawling {} red crawl", "x ".repeat(400));
        assert!(marked("red crawl", &text, Some("en")).contains("[red] [crawl]"));
        let text = format!("猫が 猫は {} 犬 猫", "x ".repeat(400));
        assert!(marked("猫 犬", &text, None).contains("[犬] [猫]"));
    }

    #[test]
    fn a_phrase_is_marked_where_its_words_follow_each_other() {
        let text = format!("a house is red {} the red house", "x ".repeat(400));
        let snippet = marked("\"red house\"", &text, None);
        assert!(snippet.ends_with("the [red] [house]"), "{snippet}");
        assert_eq!(marked("\"red house\" is", "a house is red", None), "a house [is] red");
        let of_stem = marked("\"running shoes\" run", "running is fun", Some("en"));
        assert_eq!(of_stem, "[running] is fun");
    }

    #[test]
    fn a_text_begins_after_what_repeats_its_title() {
        let title = "Old harbour – Example Town";
        let text = "Example Town Old harbour The old harbour was built in 1870.";
        assert_eq!(without_title(text, title), "The old harbour was built in 1870.");
        assert_eq!(without_title("Old harbour", title), "Old harbour", "nothing else is left");
        assert_eq!(without_title("Built in 1870.", ""), "Built in 1870.");
    }

    #[test]
    fn a_snippet_is_cut_after_as_many_characters_as_its_page_allows() {
        let cut = |most| {
            let snippet = Highlighter::new(&Query::parse("café")).snippet("A café for all", None);
            let texts = shortened(snippet, most).into_iter().map(|fragment| fragment.text);
            texts.collect::<Vec<_>>()
        };
        assert_eq!(cut(None), ["A ", "café", " for all"]);
        assert_eq!(cut(Some(14)), ["A ", "café", " for all"]);
        assert_eq!(cut(Some(7)), ["A ", "café", " "]);
        assert_eq!(cut(Some(6)), ["A ", "café"]);
        assert_eq!(cut(Some(5)), ["A ", "caf"]);
        assert_eq!(cut(Some(0)), [""; 0]);
    }

    #[test]
    fn without_a_match_the_beginning_is_shown() {
        assert_eq!(marked("red", "blue sky", None), "blue sky");
        assert_eq!(marked("red", "", None), "");
    }

    proptest! {
        #[test]
        fn fragments_are_the_text_and_nothing_else(query in "\\PC{0,10}", text in "\\PC{0,400}") {
            let fragments = Highlighter::new(&Query::parse(&query)).snippet(&text, Some("en"));
            let shown: String = fragments.iter().map(|fragment| fragment.text.as_str()).collect();
            let inner = shown.strip_prefix("… ").filter(|_| !text.starts_with("… "));
            let inner = inner.unwrap_or(&shown);
            let inner = inner.strip_suffix(" …").filter(|_| !text.contains(inner)).unwrap_or(inner);
            prop_assert!(text.contains(inner), "{inner:?}");
            prop_assert!(shown.len() <= SNIPPET_BYTES + 16);
        }
    }
}
