//! Here is what somebody typed: what do they want?
//!
//! Nothing typed is an error: what cannot be understood is taken as words. What is too much is left
//! out, so that no query costs more than a few dozen terms.

use crate::stem::{Stems, language};
use crate::words::{Shape, Word, words};

/// Longest query that is read, in bytes; the rest is left out.
pub const QUERY_MAX_BYTES: usize = 1_000;
const TERMS_MAX: usize = 24;
const FILTERS_MAX: usize = 8;

/// What a query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wish {
    /// Words and phrases that pages should hold.
    pub(crate) parts: Vec<Part>,
    /// Words and phrases that pages must not hold.
    pub(crate) unwanted: Vec<Part>,
    /// Hosts to search in; empty is everywhere.
    pub(crate) sites: Vec<String>,
    /// Hosts to leave out.
    pub(crate) not_sites: Vec<String>,
    /// Languages to search in; empty is all.
    pub(crate) langs: Vec<String>,
    /// Languages to leave out.
    pub(crate) not_langs: Vec<String>,
}

/// Something that pages should or must not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A word, with the stems it may have.
    Word {
        /// Its term.
        term: String,
        /// Terms of its stems, one for each language asked for.
        stems: Vec<String>,
    },
    /// Terms that follow each other; at least two.
    Phrase(Vec<String>),
    /// A single letter of a script without spaces: the beginning of terms.
    Beginning(String),
}

impl Part {
    fn len(&self) -> usize {
        match self {
            Self::Word { .. } | Self::Beginning(_) => 1,
            Self::Phrase(terms) => terms.len(),
        }
    }

    /// Cuts a phrase that is longer than the room there is, as long as two terms of it may stay.
    fn shorten(&mut self, room: usize) {
        if let Self::Phrase(terms) = self {
            terms.truncate(room.max(2));
        }
    }
}

impl Wish {
    /// What `query` asks for.
    pub(crate) fn of(query: &str) -> Self {
        let mut wish = Self::default();
        let mut texts = Vec::new();
        for piece in pieces(head(query)) {
            if !wish.take_filter(&piece) {
                texts.push(piece);
            }
        }
        let stems = wish.stems();
        let mut room = TERMS_MAX;
        for piece in &texts {
            wish.take_text(piece, &stems, &mut room);
        }
        wish
    }

    /// True when it asks for nothing that could be found.
    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty() && self.sites.is_empty() && self.langs.is_empty()
    }

    fn take_filter(&mut self, piece: &Piece<'_>) -> bool {
        let Some((name, value)) = piece.text.split_once(':').filter(|_| !piece.quoted) else {
            return false;
        };
        let (list, value) = match name.to_ascii_lowercase().as_str() {
            "site" if piece.unwanted => (&mut self.not_sites, site(value)),
            "site" => (&mut self.sites, site(value)),
            "lang" if piece.unwanted => (&mut self.not_langs, language(value)),
            "lang" => (&mut self.langs, language(value)),
            _ => return false,
        };
        let Some(value) = value else { return false };
        if list.len() < FILTERS_MAX {
            list.push(value);
        }
        true
    }

    /// Stemmers of the languages asked for.
    fn stems(&self) -> Vec<Stems> {
        if self.langs.is_empty() {
            return Stems::all().collect();
        }
        self.langs.iter().filter_map(|code| Stems::of(code)).collect()
    }

    fn take_text(&mut self, piece: &Piece<'_>, stems: &[Stems], room: &mut usize) {
        let list = if piece.unwanted { &mut self.unwanted } else { &mut self.parts };
        for mut part in parts(piece, stems) {
            part.shorten(*room);
            if part.len() > *room {
                return;
            }
            if !list.contains(&part) {
                *room -= part.len();
                list.push(part);
            }
        }
    }
}

/// A stretch between spaces or between quotes.
struct Piece<'a> {
    text: &'a str,
    quoted: bool,
    unwanted: bool,
}

fn head(query: &str) -> &str {
    let mut end = query.len().min(QUERY_MAX_BYTES);
    while !query.is_char_boundary(end) {
        end -= 1;
    }
    &query[..end]
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

fn pieces(query: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = query.trim_start();
    while !rest.is_empty() {
        let bare =
            rest.strip_prefix(['-', '−']).filter(|bare| !bare.starts_with(char::is_whitespace));
        let unwanted = bare.is_some();
        rest = bare.unwrap_or(rest);
        let inner = rest.strip_prefix(is_quote);
        let quoted = inner.is_some();
        rest = inner.unwrap_or(rest);
        let end = if quoted {
            rest.find(is_quote)
        } else {
            rest.find(|c: char| c.is_whitespace() || is_quote(c))
        };
        let (text, after) = rest.split_at(end.unwrap_or(rest.len()));
        pieces.push(Piece { text, quoted, unwanted });
        let after = if quoted { after.strip_prefix(is_quote).unwrap_or(after) } else { after };
        rest = after.trim_start();
    }
    pieces
}

/// The host in `value`, which may be a host, a domain with a leading dot, or a whole URL.
fn site(value: &str) -> Option<String> {
    let value = value.split_once("://").map_or(value, |(_, rest)| rest);
    let authority = value.split(['/', '?', '#']).next()?.trim_matches('.');
    let url = url::Url::parse(&format!("http://{authority}/")).ok()?;
    url.host_str().map(str::to_owned)
}

/// Longest run of a script without spaces, in pairs, that is taken as one name or word; a longer
/// one is a sentence.
const RUN_IS_PHRASE: usize = 3;

/// A quoted piece is one phrase. Any other is taken word by word, save that a short run of a script
/// without spaces is a phrase of its pairs.
fn parts(piece: &Piece<'_>, stems: &[Stems]) -> Vec<Part> {
    let words: Vec<Word<'_>> = words(piece.text).filter(|word| word.shape != Shape::Tail).collect();
    if let ([word], true) = (words.as_slice(), piece.quoted) {
        return part(word, &[]).into_iter().collect();
    }
    if piece.quoted {
        let terms: Vec<String> = words.iter().filter_map(Word::term).collect();
        return phrase(terms).into_iter().collect();
    }
    let mut parts = Vec::new();
    for run in words.chunk_by(|left, right| {
        left.shape == Shape::Pair && right.shape == Shape::Pair && left.end() > right.start
    }) {
        match run {
            [_, _, ..] if run.len() <= RUN_IS_PHRASE => {
                parts.extend(phrase(run.iter().filter_map(Word::term).collect()));
            }
            _ => parts.extend(run.iter().filter_map(|word| part(word, stems))),
        }
    }
    parts
}

fn part(word: &Word<'_>, stems: &[Stems]) -> Option<Part> {
    let term = word.term()?;
    if word.shape == Shape::Single {
        return Some(Part::Beginning(term));
    }
    let lowered = word.stemmable();
    let stems =
        lowered.iter().flat_map(|lowered| stems.iter().map(|stem| stem.term(lowered))).collect();
    Some(Part::Word { term, stems })
}

fn phrase(mut terms: Vec<String>) -> Option<Part> {
    match terms.len() {
        0 => None,
        1 => terms.pop().map(|term| Part::Word { term, stems: Vec::new() }),
        _ => Some(Part::Phrase(terms)),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn word(term: &str) -> Part {
        Part::Word { term: term.to_owned(), stems: Vec::new() }
    }

    fn phrase(terms: &[&str]) -> Part {
        Part::Phrase(terms.iter().map(|&term| term.to_owned()).collect())
    }

    #[test]
    fn words_phrases_and_unwanted_ones() {
        let wish = Wish::of("lang:zh Foo -bar \"Big Cat\" -\"a b\" - x");
        assert_eq!(wish.parts, [word("foo"), phrase(&["big", "cat"]), word("x")]);
        assert_eq!(wish.unwanted, [word("bar"), phrase(&["a", "b"])]);
    }

    #[test]
    fn filters() {
        let wish = Wish::of(
            "SITE:Example.org site:https://Bücher.example/x?y lang:en-GB -site:.ru -lang:nb",
        );
        assert_eq!(wish.sites, ["example.org", "xn--bcher-kva.example"]);
        assert_eq!(
            (wish.not_sites, wish.langs, wish.not_langs),
            (vec!["ru".into()], vec!["en".into()], vec!["no".into()])
        );
        assert!(wish.parts.is_empty());
    }

    #[test]
    fn a_filter_without_sense_is_a_word() {
        let wish = Wish::of("lang:zh lang:esperanto \"site:a.b\" time:12");
        assert!(wish.sites.is_empty());
        assert_eq!(wish.parts.len(), 5);
    }

    #[test]
    fn scripts_without_spaces_become_phrases() {
        assert_eq!(
            Wish::of("東京都 猫").parts,
            [phrase(&["東京", "京都"]), Part::Beginning("猫".into())]
        );
        assert_eq!(Wish::of("lang:ja 東京駅tower").parts.len(), 2);
        assert_eq!(Wish::of("東京の美味しい").parts.len(), 6);
    }

    #[test]
    fn stems_of_the_language_asked_for() {
        let Part::Word { stems, .. } = &Wish::of("lang:en crawling").parts[0] else {
            panic!("a word")
        };
        assert_eq!(stems, &["en:crawl"]);
        let Part::Word { stems, .. } = &Wish::of("crawling").parts[0] else { panic!("a word") };
        assert!(stems.len() > 20);
    }

    #[test]
    fn nothing_is_too_much() {
        let wish = Wish::of(&"ab cd ef \"x y\" site:a.b -z ".repeat(10_000));
        assert!(wish.sites.len() <= FILTERS_MAX);
        let cost: usize = wish.parts.iter().chain(&wish.unwanted).map(Part::len).sum();
        assert!(cost <= TERMS_MAX);
        assert_eq!(Wish::of(&"東".repeat(5_000)).parts, [word("東東")]);
        assert_eq!(
            Wish::of(&format!("\"{}\"", "a ".repeat(100))).parts,
            [phrase(&["a"; TERMS_MAX])]
        );
    }

    proptest! {
        #[test]
        fn anything_may_be_typed(query in ".{0,80}") {
            let _ = Wish::of(&query);
        }

        #[test]
        fn any_mix_of_signs_may_be_typed(query in "[-\" a東:(){}*?~^+|&\\\\/\\[\\]site:lang]{0,60}") {
            let _ = Wish::of(&query);
        }
    }
}
