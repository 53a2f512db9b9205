//! Fields of a document in the index.

use model::url::Fingerprint;
use tantivy::Term;
use tantivy::schema::{
    FAST, Field, INDEXED, IndexRecordOption, STORED, STRING, Schema, TextFieldIndexing, TextOptions,
};
use tantivy::tokenizer::{TokenizerManager, WhitespaceTokenizer};

use crate::tokenizer::WordTokenizer;

/// Name of [`Fields::content`].
pub(crate) const CONTENT: &str = "content";
/// Name of [`Fields::preference`].
pub(crate) const PREFERENCE: &str = "preference";
/// Name of [`Fields::fetched_at`].
pub(crate) const FETCHED_AT: &str = "fetched_at";
const WORDS: &str = "nearcrawl-words-2";
const TERMS: &str = "nearcrawl-terms-1";

/// The fields of the index.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fields {
    /// Fingerprint of the page's URL, by which agents recognise URLs as well: all spellings of a
    /// URL are one page.
    pub(crate) key: Field,
    /// The page's URL as it was fetched last.
    pub(crate) url: Field,
    /// Number of the agent that fetched it.
    pub(crate) agent: Field,
    /// The host, and each domain that contains it.
    pub(crate) site: Field,
    /// Primary subtag of the language; missing when it is unknown.
    pub(crate) lang: Field,
    /// Time of the fetch, milliseconds since 1970.
    pub(crate) fetched_at: Field,
    /// Number that copies of a page share ([`crate::copies`]); missing where the text is short.
    pub(crate) content: Field,
    /// Which of several copies is shown; missing where `content` is.
    pub(crate) preference: Field,
    /// Title, stored for display.
    pub(crate) title: Field,
    /// Headings, which the text has, too.
    pub(crate) headings: Field,
    /// Text, stored for snippets.
    pub(crate) body: Field,
    /// Most characters of a snippet; missing where the page sets no limit.
    pub(crate) max_snippet: Field,
    /// Letters of unspaced scripts in title and text.
    pub(crate) letters: Field,
    /// Words of the URL.
    pub(crate) url_words: Field,
    /// Stems of title and text, each with its language as prefix.
    pub(crate) stems: Field,
}

impl Fields {
    /// Finds the page with this key.
    pub(crate) fn key_term(&self, key: &Fingerprint) -> Term {
        Term::from_field_bytes(self.key, key)
    }
}

/// The schema and its fields. When the segmentation of text changes, the tokenizers need new names,
/// so that an index of another version is refused.
pub(crate) fn schema() -> (Schema, Fields) {
    let text = |tokenizer: &str, record: IndexRecordOption| {
        TextOptions::default().set_indexing_options(
            TextFieldIndexing::default().set_tokenizer(tokenizer).set_index_option(record),
        )
    };
    let positions = || text(WORDS, IndexRecordOption::WithFreqsAndPositions);
    let mut builder = Schema::builder();
    let fields = Fields {
        key: builder.add_bytes_field("key", INDEXED),
        url: builder.add_text_field("url", STRING | STORED),
        agent: builder.add_i64_field("agent", INDEXED),
        site: builder.add_text_field("site", STRING),
        lang: builder.add_text_field("lang", STRING | STORED),
        fetched_at: builder.add_i64_field(FETCHED_AT, INDEXED | STORED | FAST),
        content: builder.add_u64_field(CONTENT, FAST),
        preference: builder.add_u64_field(PREFERENCE, FAST),
        title: builder.add_text_field("title", positions() | STORED),
        headings: builder.add_text_field("headings", positions()),
        body: builder.add_text_field("body", positions() | STORED),
        max_snippet: builder.add_u64_field("max_snippet", STORED),
        letters: builder.add_text_field("letters", text(TERMS, IndexRecordOption::WithFreqs)),
        url_words: builder.add_text_field("url_words", text(WORDS, IndexRecordOption::Basic)),
        stems: builder.add_text_field("stems", text(TERMS, IndexRecordOption::WithFreqs)),
    };
    (builder.build(), fields)
}

/// The tokenizers, by the names that the schema uses.
pub(crate) fn tokenizers() -> TokenizerManager {
    let manager = TokenizerManager::default();
    manager.register(WORDS, WordTokenizer::default());
    manager.register(TERMS, WhitespaceTokenizer::default());
    manager
}
