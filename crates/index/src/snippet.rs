//! Here is a page that fits: which passage shows why?

use std::collections::HashSet;
use std::ops::Range;

use crate::stem::Stems;
use crate::wish::{Part, Wish};
use crate::words::{Word, words};

/// About how long a snippet is, in bytes of text.
const SNIPPET_BYTES: usize = 260;
/// How much of a passage stands before the first hit, in bytes.
const LEAD_BYTES: usize = 60;
/// How far into a text hits are looked for, in bytes.
const LOOK_BYTES: usize = 128 << 10;
const HITS_MAX: usize = 500;

/// A stretch of a snippet: plain text, never markup.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The text, as on the page.
    pub text: String,
    /// Whether it is something that was searched for.
    pub hit: bool,
}

/// What to look for in the texts of one answer.
#[derive(Debug, Default)]
pub(crate) struct Lookout {
    terms: HashSet<String>,
    stems: HashSet<String>,
    beginnings: Vec<String>,
}

struct Hit {
    range: Range<usize>,
    term: String,
}

impl Lookout {
    /// Looks for what the wish asks for.
    pub(crate) fn of(wish: &Wish) -> Self {
        let mut lookout = Self::default();
        for part in wish.parts.clone() {
            match part {
                Part::Word { term, stems } => {
                    lookout.terms.insert(term);
                    lookout.stems.extend(stems);
                }
                Part::Phrase(terms) => lookout.terms.extend(terms),
                Part::Beginning(letter) => lookout.beginnings.push(letter),
            }
        }
        lookout
    }

    /// The passage of `text` (in `lang`) with most of what is looked for; its beginning when there
    /// is nothing.
    pub(crate) fn snippet(&self, text: &str, lang: Option<&str>) -> Vec<Piece> {
        let hits = self.hits(text, lang);
        let passage = passage(text, &hits);
        cut(text, passage, hits)
    }

    fn hits(&self, text: &str, lang: Option<&str>) -> Vec<Hit> {
        let stems = lang.and_then(Stems::of).filter(|_| !self.stems.is_empty());
        words(text)
            .take_while(|word| word.start < LOOK_BYTES)
            .filter_map(|word| self.hit(&word, stems.as_ref()))
            .take(HITS_MAX)
            .collect()
    }

    fn hit(&self, word: &Word<'_>, stems: Option<&Stems>) -> Option<Hit> {
        let term = word.term()?;
        let known = self.terms.contains(&term);
        if !known && self.beginnings.iter().any(|letter| term.starts_with(letter)) {
            let letter = word.text.chars().next().map_or(0, char::len_utf8);
            return Some(Hit { range: word.start..word.start + letter, term });
        }
        let stem = || {
            stems
                .zip(word.stemmable())
                .is_some_and(|(stems, word)| self.stems.contains(&stems.term(&word)))
        };
        (known || stem()).then(|| Hit { range: word.start..word.end(), term })
    }
}

/// The stretch that begins a little before some hit and holds the most different terms; the first
/// of equals.
fn passage(text: &str, hits: &[Hit]) -> Range<usize> {
    let mut best = (0, 0);
    for (at, first) in hits.iter().enumerate() {
        let reach = first.range.start + SNIPPET_BYTES - LEAD_BYTES;
        let inside = hits[at..].iter().take_while(|hit| hit.range.end <= reach);
        let different = inside.map(|hit| hit.term.as_str()).collect::<HashSet<_>>().len();
        if different > best.0 {
            best = (different, first.range.start.saturating_sub(LEAD_BYTES));
        }
    }
    let start = word_edge(text, best.1);
    start..text_end(text, start + SNIPPET_BYTES)
}

/// The beginning of the word at or after `at`, or a letter's edge where there is no space near.
fn word_edge(text: &str, at: usize) -> usize {
    let at = letter_edge(text, at);
    if at == 0 || at >= text.len() {
        return at.min(text.len());
    }
    let near = letter_edge(text, at + LEAD_BYTES / 2);
    text[at..near].find(' ').map_or(at, |gap| at + gap + 1)
}

fn text_end(text: &str, at: usize) -> usize {
    if at >= text.len() {
        return text.len();
    }
    let at = letter_edge(text, at);
    let near = letter_edge(text, at.saturating_sub(LEAD_BYTES / 2));
    text[near..at].rfind(' ').map_or(at, |gap| near + gap)
}

fn letter_edge(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// `passage` in pieces; hits that touch or overlap (pairs of letters do) become one piece.
fn cut(text: &str, passage: Range<usize>, hits: Vec<Hit>) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut push = |text: &str, hit: bool| {
        if !text.is_empty() {
            pieces.push(Piece { text: text.to_owned(), hit });
        }
    };
    if passage.start > 0 {
        push("… ", false);
    }
    let mut at = passage.start;
    for hit in joined(hits) {
        let (start, end) = (hit.start.max(at), hit.end.min(passage.end));
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
    pieces
}

fn joined(hits: Vec<Hit>) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::with_capacity(hits.len());
    for Hit { range, .. } in hits {
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
        let pieces = Lookout::of(&Wish::of(query)).snippet(text, lang);
        pieces
            .into_iter()
            .map(|piece| if piece.hit { format!("[{}]", piece.text) } else { piece.text })
            .collect()
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
    fn runs_of_pairs_are_one_hit() {
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
    fn without_a_hit_the_beginning_is_shown() {
        assert_eq!(marked("red", "blue sky", None), "blue sky");
        assert_eq!(marked("red", "", None), "");
    }

    proptest! {
        #[test]
        fn pieces_are_the_text_and_nothing_else(query in "\\PC{0,10}", text in "\\PC{0,400}") {
            let pieces = Lookout::of(&Wish::of(&query)).snippet(&text, Some("en"));
            let shown: String = pieces.iter().map(|piece| piece.text.as_str()).collect();
            let inner = shown.strip_prefix("… ").filter(|_| !text.starts_with("… ")).unwrap_or(&shown);
            let inner = inner.strip_suffix(" …").filter(|_| !text.contains(inner)).unwrap_or(inner);
            prop_assert!(text.contains(inner), "{inner:?}");
            prop_assert!(shown.len() <= SNIPPET_BYTES + 16);
        }
    }
}
