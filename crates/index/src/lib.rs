//! Full-text search over crawled pages.
//!
//! In reading order:
//! 1. Indexing: [`Index::upsert`] sanitises a page's text (`sanitize`), splits it into words in any
//!    script (`segmentation`), normalises their spelling (`normalizer`), adds stems (`stemmer`) and
//!    writes the document under its URL (`document`, `writer`). Nothing can be found and nothing is
//!    durable until [`Index::commit`]. `merges` decides when small segments become larger ones.
//! 2. Searching: [`Index::search`] parses the query (`query`: words, phrases, `site:`, `lang:`; no
//!    input is an error), translates it for tantivy (`tantivy_query`), weighs its words
//!    (`statistics`), and extracts from each page found a snippet of plain text in
//!    [`SnippetFragment`]s (`snippet`). It leaves out [`HiddenPages`] (`hidden`), and lists the
//!    copies of a page with it (`copies`).
//! 3. [`Index::urls_of_host`] lists the pages of a host (`host_urls`).
//!
//! The index is a directory of tantivy segments. A process killed at any moment leaves it as of the
//! last commit. All calls block: run them where blocking is allowed.

mod copies;
mod document;
mod hidden;
mod host_urls;
mod merges;
mod normalizer;
mod open;
mod query;
mod sanitize;
mod schema;
mod search;
mod segmentation;
mod snippet;
mod statistics;
mod stemmer;
mod tantivy_query;
mod tokenizer;
mod writer;

pub use document::{Document, FetchWithoutPage};
pub use hidden::HiddenPages;
pub use host_urls::HostUrls;
pub use open::{Index, OpenError};
pub use query::QUERY_MAX_BYTES;
pub use search::{SearchError, SearchHit, SearchResults, WINDOW_MAX};
pub use snippet::SnippetFragment;
pub use writer::WriteError;
