//! Tokens of a query: what stands between spaces, or between quotes.

use crate::segmentation::is_unspaced;

/// A part of a query between spaces or between quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    pub(super) quoted: bool,
    pub(super) excluded: bool,
}

/// The tokens of a query, in order.
pub(super) fn tokens(query: &str) -> Vec<Token<'_>> {
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
        let (text, after) = rest.split_at(if quoted { phrase_end(rest) } else { word_end(rest) });
        tokens.push(Token { text, quoted, excluded });
        let after = if quoted { after.strip_prefix(is_quote).unwrap_or(after) } else { after };
        rest = after.trim_start();
    }
    tokens
}

const fn is_quote(c: char) -> bool {
    matches!(c, '"' | '“' | '”' | '„' | '«' | '»' | '「' | '」')
}

/// The end of a token without quotes: a space, or a quote that opens a phrase. A quote after a
/// letter or digit belongs to the word, as in Hebrew acronyms (צה"ל) and for inches (27"). Scripts
/// without spaces have quotes directly beside their letters.
fn word_end(text: &str) -> usize {
    let mut before = None;
    let end = text.char_indices().find(|&(_, c)| {
        let opens = is_quote(c) && !before.is_some_and(is_spaced);
        before = Some(c);
        opens || c.is_whitespace()
    });
    end.map_or(text.len(), |(at, _)| at)
}

/// The end of a phrase: the next quote that is not inside a word. A quote that is never closed
/// reaches to the end of the query.
fn phrase_end(text: &str) -> usize {
    let is_in_word = |at: usize, quote: &str| {
        text[..at].ends_with(is_spaced) && text[at + quote.len()..].starts_with(is_spaced)
    };
    let mut quotes = text.match_indices(is_quote);
    quotes.find(|&(at, quote)| !is_in_word(at, quote)).map_or(text.len(), |(at, _)| at)
}

/// Whether `c` is a letter or digit of a script with spaces between words.
fn is_spaced(c: char) -> bool {
    c.is_alphanumeric() && !is_unspaced(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(query: &str) -> Vec<(&str, bool)> {
        tokens(query).into_iter().map(|token| (token.text, token.quoted)).collect()
    }

    #[test]
    fn words_and_phrases() {
        assert_eq!(texts("a \"b c\" d"), [("a", false), ("b c", true), ("d", false)]);
        assert_eq!(texts("“b c”, «d»"), [("b c", true), (",", false), ("d", true)]);
        assert_eq!(texts("x:\"b c"), [("x:", false), ("b c", true)]);
        assert_eq!(texts("大学「東京 駅」前"), [("大学", false), ("東京 駅", true), ("前", false)]);
        assert_eq!(texts("\"東京\"大学"), [("東京", true), ("大学", false)]);
    }

    #[test]
    fn a_quote_inside_a_word_opens_no_phrase() {
        assert_eq!(
            texts("חיילי צה\"ל היום"),
            [("חיילי", false), ("צה\"ל", false), ("היום", false)]
        );
        assert_eq!(texts("27\" monitor"), [("27\"", false), ("monitor", false)]);
        assert_eq!(texts("\"חיילי צה\"ל\" היום"), [("חיילי צה\"ל", true), ("היום", false)]);
    }

    #[test]
    fn hyphens_exclude() {
        let excluded: Vec<bool> = tokens("-a - b -\"c d\"").iter().map(|t| t.excluded).collect();
        assert_eq!(excluded, [true, false, false, true]);
    }
}
