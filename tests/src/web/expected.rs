//! URLs that an ideal crawler fetches, and URLs that it must not fetch.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::site::PageId;

/// What a URL is to a crawler.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    Document,
    File,
    Redirect,
    /// 404, 410 or 500.
    Error,
}

/// What a crawl from the seeds shall fetch, and how it may go wrong.
#[derive(Debug, Clone, Default)]
pub struct ExpectedCrawl {
    pub(super) wanted: BTreeMap<PageId, Class>,
    pub(super) forbidden: BTreeSet<PageId>,
    pub(super) noindex: BTreeSet<PageId>,
    pub(super) deepest: usize,
}

impl ExpectedCrawl {
    /// Every URL that shall be fetched, once.
    pub fn wanted(&self) -> &BTreeMap<PageId, Class> {
        &self.wanted
    }

    /// Number of URLs of a class that shall be fetched.
    pub fn count(&self, class: Class) -> usize {
        self.wanted.values().filter(|found| **found == class).count()
    }

    /// URLs that are linked and that robots.txt forbids.
    pub fn forbidden(&self) -> &BTreeSet<PageId> {
        &self.forbidden
    }

    /// Documents among the wanted that ask not to be indexed.
    pub fn noindex(&self) -> &BTreeSet<PageId> {
        &self.noindex
    }

    /// Most links between a seed and a wanted URL.
    pub fn deepest(&self) -> usize {
        self.deepest
    }
}
