//! A synthetic web: hundreds of linked, multilingual sites from a seed, and a server for all of
//! them.
//!
//! - A [`WebPlan`] names the hosts. [`Web::generate`] gives each a tree of documents (`trees`),
//!   adds what a crawler meets on the real web (`extras`: robots.txt dialects, forbidden pages,
//!   redirects, errors, files, decoys) and links the hosts (`cross`), so that every host can be
//!   reached from the seeds.
//! - [`ExpectedCrawl`] follows from walking these links as an ideal crawler would (`reach`). The
//!   referee compares a crawl with it.
//! - Only this structure is kept. A page's bytes are generated on request (`page`, `prose`,
//!   `href`), always the same for the same seed and version.
//! - [`web_server`](crate::web_server) answers over HTTP and reports to the referee.

mod answer;
mod charset;
mod cross;
mod expected;
mod extras;
mod href;
mod language;
pub mod listen;
mod page;
mod plan;
mod prose;
mod query;
mod random_streams;
mod reach;
mod robots;
mod site;
mod sitemap;
mod trees;
mod word;

#[cfg(test)]
pub(crate) mod crawler;
#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use expected::{Class, ExpectedCrawl};
pub use plan::{HostPlan, WebError, WebPlan};
pub use query::Query;
pub use site::{Host, PageId, Resource, Web};
pub(crate) use word::word;
