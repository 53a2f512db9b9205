//! Search over integrated pages.
//!
//! In reading order:
//! 1. A page comes in: [`Index::upsert`] cleans its text (`clean`), cuts it into words (`words`,
//!    any script) under their folded spelling (`fold`) and their stems (`stem`), and writes it
//!    under its URL. Nothing can be found and nothing is durable until [`Index::commit`].
//! 2. A query comes in: [`Index::search`] reads what was typed (`wish`: words, phrases, `site:`,
//!    `lang:`; nothing typed is an error), plans a tantivy query (`plan`), and cuts a
//!    [`Piece`]-wise snippet from each page found (`snippet`), never markup.
//!
//! The index is a directory of tantivy segments. A process killed at any moment leaves it as of the
//! last commit. All calls block: run them where blocking is allowed.

mod clean;
mod entry;
mod fold;
mod plan;
mod room;
mod schema;
mod search;
mod snippet;
mod stem;
mod terms;
mod wish;
mod words;
mod write;

pub use entry::Document;
pub use room::{Index, OpenError, Options};
pub use search::{Answer, Found, SearchError, WINDOW_MAX};
pub use snippet::Piece;
pub use wish::QUERY_MAX_BYTES;
pub use write::WriteError;
