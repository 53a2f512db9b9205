//! The frontier: URLs seen, URLs to be fetched from each host, and results to be shipped.
//!
//! It has two halves. The durable one ([`Frontier`]) knows hosts with their robots.txt, queues in
//! breadth-first order, fingerprints of every URL ever queued, pages, results and packages. It is
//! altered by [`Change`]s only, each of which is applied wholly or not at all. The other half
//! ([`Workbench`]) says when each host is due, and which hosts and addresses are busy. It holds
//! some thousand hosts that have work; the others are found in the file when they are due.
//!
//! The path of a change: [`Frontier::apply`] → [`log`] (one `write`) → [`state`] (in memory) →
//! with the next checkpoint [`disk`] (one transaction for all changes of many seconds). At start
//! the state is that of the last checkpoint with the changes of the log.
//!
//! What survives:
//! - The end of the process, by kill -9 too: every change that was applied.
//! - A power failure: every change that [`Frontier::sync`] was called after. That is called every
//!   second, and before anything leaves the agent that relies on a change: before a package is
//!   sent, and before a heartbeat says which routes and orders are stored. So at most the fetches
//!   of the last second are lost; their URLs are fetched again.
//!
//! Files of which another part cannot be read are refused by their names. [`Frontier::rebuild`]
//! starts with what can be read.
//!
//! A host leaves for another agent, or comes from one, as a [`HostBundle`].
//!
//! Tasks share the frontier through a [`FrontierHandle`].

mod activity;
mod bundle;
mod change;
mod disk;
mod due_hosts;
mod error;
mod handle;
mod log;
mod pages;
mod rebuild;
mod state;
mod store;
mod workbench;

use std::sync::Arc;

use model::{CrawlUrl, UnixMillis};
use serde::{Deserialize, Serialize};

use crate::robots::Robots;

pub use activity::HostActivity;
pub use bundle::{BundleError, HostBundle};
pub use change::{
    AdoptedUrl, Bounds, Change, Done, Effect, GIVE_UP, LONGEST_PAUSE, Progress, Report, VisitedUrl,
    longest_rest, redirect_target,
};
pub use due_hosts::{DueHosts, DueQuery, HostWithWork, INBOX_PATIENCE};
pub use error::FrontierError;
pub use handle::FrontierHandle;
pub use pages::{ChangeRate, KnownPage, PageHistory, PageRecord, RevisitAges, StatedChanges};
pub use rebuild::{Rebuilt, Salvaged};
pub use store::{Frontier, StoredResults};
pub use workbench::Workbench;

/// Number by which this frontier knows a host of the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct HostNumber(pub u64);

/// Stored state of a host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRecord {
    /// Scheme and authority, as in `http://a.example:8080`.
    pub key: String,
    /// Earliest time of the next request.
    pub due: UnixMillis,
    /// Number of URLs that were queued, without those that ended, as pages or before, and without
    /// those that former agents fetched and that did not become pages.
    pub accepted: u32,
    /// Number of URLs that ended at their first visit at this agent, such as redirects.
    pub ended: u32,
    /// Failures in a row.
    pub failures: u32,
}

/// Stored state of a host's robots.txt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum RobotsState {
    /// It redirects to another URL.
    Moved {
        /// URL of the next request.
        url: String,
        /// Redirects so far.
        hops: u8,
        /// Expired rules that it had before, for use if the request fails.
        old: Option<Robots>,
    },
    /// Its rules are known.
    Known {
        /// Rules of the crawler's group.
        robots: Robots,
        /// When they expire.
        until: UnixMillis,
    },
}

impl RobotsState {
    /// Bytes in memory, about.
    fn bytes(&self) -> usize {
        match self {
            Self::Known { robots, .. } => robots.bytes(),
            Self::Moved { url, old, .. } => url.len() + old.as_ref().map_or(0, Robots::bytes),
        }
    }

    /// Where it has moved to, with the redirects so far.
    pub fn moved_to(&self) -> Option<(&str, u8)> {
        match self {
            Self::Known { .. } => None,
            Self::Moved { url, hops, .. } => Some((url, *hops)),
        }
    }

    /// Its rules, current or expired.
    pub fn rules(&self) -> Option<&Robots> {
        match self {
            Self::Known { robots, .. } => Some(robots),
            Self::Moved { old, .. } => old.as_ref(),
        }
    }

    /// Crawl-delay of known rules, in milliseconds.
    pub fn delay_ms(&self) -> Option<u32> {
        self.rules().and_then(Robots::delay_ms)
    }
}

/// A URL in the queue of its host, without its place among those of the same depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedUrl {
    /// Path and query.
    pub path: Box<str>,
    /// Number of links from a routed URL to this one.
    pub depth: u16,
    /// Number of redirects that led to it.
    pub redirects: u8,
    /// Number of attempts that failed.
    pub attempts: u8,
}

/// A URL that is to be fetched, from the queue or for a revisit.
#[derive(Debug, Clone, PartialEq)]
pub struct QueueItem {
    /// Host of the URL.
    pub host: HostNumber,
    /// Number of links from a routed URL to this one.
    pub depth: u16,
    /// Position among the URLs of the same depth; for a page, part of its key.
    pub order: u64,
    /// URL in its normalised form.
    pub url: CrawlUrl,
    /// Number of redirects that led to it.
    pub redirects: u8,
    /// Number of attempts that failed.
    pub attempts: u8,
    /// Record of the last visit; none for a URL of the queue.
    pub known: Option<Box<KnownPage>>,
}

/// State of a host from which its next request is decided.
#[derive(Debug, Clone, PartialEq)]
pub struct HostSnapshot {
    /// State of the host itself.
    pub record: HostRecord,
    /// Its robots.txt; none when it was never requested.
    pub robots: Option<Arc<RobotsState>>,
    /// First URL of the queue.
    pub next: Option<QueueItem>,
    /// Where the queue is empty, the page that is visited again first.
    pub next_page: Option<QueueItem>,
}

/// Sizes, and counters since the frontier was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counts {
    /// Hosts of the agent.
    pub hosts: u64,
    /// URLs in queues.
    pub queued: u64,
    /// Fetches that ended, with any outcome.
    pub fetched: u64,
    /// Bytes of bodies received on the wire.
    pub wire_bytes: u64,
    /// Results that are not packed yet.
    pub results: u64,
    /// Packages that are not acknowledged yet.
    pub packages: u64,
    /// Number of the last route that is stored.
    pub routes_after: u64,
}

#[cfg(test)]
mod tests;
