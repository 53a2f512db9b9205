//! Adapter of the segmentation of text to tantivy's tokenizer interface.

use tantivy::tokenizer::{Token, TokenStream, Tokenizer};

use crate::segmentation::{Words, words};

/// Splits text by [`words`] into normalised terms with positions.
#[derive(Clone, Debug, Default)]
pub(crate) struct WordTokenizer {
    token: Token,
}

/// The tokens of one text; words that are not indexed are skipped.
pub(crate) struct WordStream<'a> {
    words: Words<'a>,
    token: &'a mut Token,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        WordStream { words: words(text), token: &mut self.token }
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        for word in self.words.by_ref() {
            if let Some(term) = word.term() {
                self.token.offset_from = word.start;
                self.token.offset_to = word.end();
                self.token.position = word.position;
                self.token.text = term;
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}
