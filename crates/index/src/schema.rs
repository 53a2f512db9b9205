//! What a page's entry in the index consists of.

use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TokenizerManager, WhitespaceTokenizer};

use crate::terms::WordTokenizer;

const WORDS: &str = "nearcrawl-words-1";
const SPACED: &str = "nearcrawl-spaced-1";

/// The fields of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// The page's URL: the key.
    pub(crate) url: Field,
    /// Scheme and authority's host, and each of its parent domains.
    pub(crate) site: Field,
    /// Primary language.
    pub(crate) lang: Field,
    /// Name of the package that brought it.
    pub(crate) package: Field,
    /// When it was fetched, milliseconds since 1970.
    pub(crate) fetched_at: Field,
    /// Title.
    pub(crate) title: Field,
    /// Text.
    pub(crate) body: Field,
    /// Words of the URL.
    pub(crate) place: Field,
    /// Stems of title and text, with their language.
    pub(crate) stems: Field,
}

/// The schema and its fields. A change to it needs other tokenizer names, so that an index of
/// another make is noticed.
pub(crate) fn schema() -> (Schema, Fields) {
    let text = |tokenizer: &str, record: IndexRecordOption| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record),
        )
    };
    let positions = || text(WORDS, IndexRecordOption::WithFreqsAndPositions);
    let mut builder = Schema::builder();
    let fields = Fields {
        url: builder.add_text_field("url", STRING | STORED),
        site: builder.add_text_field("site", STRING),
        lang: builder.add_text_field("lang", STRING | STORED),
        package: builder.add_text_field("package", STRING | STORED),
        fetched_at: builder.add_i64_field("fetched_at", INDEXED | STORED | FAST),
        title: builder.add_text_field("title", positions() | STORED),
        body: builder.add_text_field("body", positions() | STORED),
        place: builder.add_text_field("place", text(WORDS, IndexRecordOption::Basic)),
        stems: builder.add_text_field("stems", text(SPACED, IndexRecordOption::WithFreqs)),
    };
    (builder.build(), fields)
}

/// The tokenizers that the schema names.
pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, WordTokenizer::default());
    manager.register(SPACED, WhitespaceTokenizer::default());
    manager
}
