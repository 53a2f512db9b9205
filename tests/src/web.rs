//! A web of our own: hundreds of sites, interlinked and multilingual, made from a seed, and a
//! server that is all of them at once.
//!
//! The road of a page: a [`WebPlan`] names the hosts; [`Web::generate`] plants on each a tree of
//! documents (`trees`), adds what a crawler meets on the real web (`extras`: robots.txt in several
//! dialects, forbidden pages that are linked all the same, redirects, errors, files, decoys in
//! comments and scripts) and ties the hosts together (`cross`), so that every host can be reached
//! from the seeds. [`Expected`] is then found by walking these links as a perfectly behaved crawler
//! would (`reach`): it is the truth that the referee compares a crawl with. Nothing but this
//! skeleton is kept; a page's bytes are written when asked for (`page`, `prose`, `href`), always
//! the same for the same seed and version. [`Server`] answers over HTTP and lets the
//! [referee](crate::referee) watch.

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
mod server;
mod site;
mod sitemap;
mod trees;
mod word;

#[cfg(test)]
pub(crate) mod crawler;
#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use expected::{Class, Expected};
pub use plan::{HostPlan, WebError, WebPlan};
pub use query::Query;
pub use server::{Pace, Server};
pub use site::{Host, PageId, Resource, Web};
pub(crate) use word::word;
