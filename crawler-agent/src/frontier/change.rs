//! Changes of the frontier, and their effects.

use std::time::Duration;

use model::{CrawlUrl, HostTask, UnixMillis};
use protocol::{
    Route,
    package::encode_entry,
    page::{Entry, Failure, Fetch, Outcome},
};
use serde::{Deserialize, Serialize};

use super::{
    HostNumber, PageHistory, PageRecord, QueueItem, RobotsState, StatedChanges,
    state::window::{PageKey, QueueKey},
};

/// Longest pause after failures of a host that may soon be back.
pub const LONGEST_PAUSE: Duration = Duration::from_hours(6);

/// Failures in a row after which robots.txt is asked for, to see whether the host is there at all;
/// if it does not answer that either, it is given up. With the default pauses this takes about four
/// hours.
pub const GIVE_UP: u32 = 10;

/// Failures in a row after which the longest pause doubles: those of the first pauses, and a
/// fortnight of the longest ones.
const FAILURES_A_DOUBLING: u32 = 60;
/// Most doublings, after which a host that is gone for good is asked every four days.
const MOST_DOUBLINGS: u32 = 4;

/// Longest pause of a host after so many failures in a row, for which it rests when it is given up.
/// Of all hosts that were ever known more and more are gone, and each must cost less the longer it
/// does not answer.
pub fn longest_rest(failures: u32) -> Duration {
    LONGEST_PAUSE * 2u32.pow((failures / FAILURES_A_DOUBLING).min(MOST_DOUBLINGS))
}

/// The operator's bounds of what is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bounds {
    /// Most URLs of one host.
    pub pages_a_host: u32,
    /// Most links from a routed URL to a page.
    pub depth: u16,
}

/// A change, applied wholly or not at all. The log has it in this form.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Change {
    /// The coordinator sent routes; their hosts are the agent's from now on.
    Routes {
        /// Routes by rising number.
        routes: Vec<Route>,
        /// Time of the change.
        at: UnixMillis,
        /// Bounds of what is queued.
        bounds: Bounds,
    },
    /// A fetch ended for good.
    Done(Box<Done>),
    /// A fetch failed and is tried again; the URL stays first in its queue, or the first page.
    Retry {
        host: HostNumber,
        /// Place of the URL in its queue, where it is in the queue.
        key: QueueKey,
        /// Earliest time of the next request to the host.
        due: UnixMillis,
        /// The host's failures in a row, including this one.
        failures: u32,
    },
    /// A host's robots.txt was requested.
    Robots {
        host: HostNumber,
        /// New state; none when the request failed and nothing was known before.
        state: Option<RobotsState>,
        /// Sitemaps that it names, which are queued like routed URLs.
        sitemaps: Vec<CrawlUrl>,
        /// Sitemaps of other agents' hosts that are to be reported; filled in when the change is
        /// applied.
        reports: Vec<Report>,
        /// Bounds for the sitemaps.
        bounds: Bounds,
        /// Earliest time of the next request to the host.
        due: UnixMillis,
        /// The host's failures in a row.
        failures: u32,
    },
    /// A host received a request on behalf of another host or of a probe, or was sent away because
    /// many hosts wait for its address.
    Asked {
        /// Host that is left alone.
        host: HostNumber,
        /// Earliest time of the next request to it.
        due: UnixMillis,
    },
    /// A host is given up: the URLs in its queue end as failed, a bounded number with each such
    /// change. They are visited again like pages, and the host rests for its
    /// [`longest_rest`].
    GiveUp {
        host: HostNumber,
        /// Why the URLs are not fetched.
        failure: Failure,
        /// The host's failures in a row.
        failures: u32,
        /// Time of the change.
        at: UnixMillis,
    },
    /// A host order is executed, a bounded part of it with each such change. No request may be
    /// running to a host that is released.
    Order {
        /// Number of the order.
        number: u64,
        /// Number of the host; none when it is not the agent's.
        host: Option<HostNumber>,
        /// What to do with the host.
        task: HostTask,
    },
    /// The coordinator knows that orders were executed.
    ForgetOrders {
        /// Numbers of the orders.
        numbers: Vec<u64>,
    },
    /// The oldest results were written to a package's file.
    Sealed {
        /// Number of the package.
        seq: u64,
        /// Number of the last result in it.
        through: u64,
        /// Size of the file, in bytes.
        bytes: u64,
    },
    /// A package is acknowledged.
    Shipped {
        /// Number of the package.
        seq: u64,
    },
    /// A host is released, after its bundle was stored for the next agent.
    HandOver {
        /// Number of the order.
        number: u64,
        host: HostNumber,
        /// Number of URLs that the host had accepted when the bundle was made. If it accepted
        /// others since, the bundle must be made again.
        accepted: u32,
    },
    /// A host of another agent is taken over.
    TakeOver {
        /// The bundle, encoded. It was decoded before, so that it is known to be good.
        #[serde(with = "serde_bytes")]
        bundle: Vec<u8>,
        /// Whether the times of the pages count for this agent.
        keeps_times: bool,
        /// Time of the change.
        at: UnixMillis,
    },
    /// URLs of hosts of the agent's region that are the agent's from now on.
    Adopt {
        /// URLs, a bounded number with each such change.
        urls: Vec<AdoptedUrl>,
        /// Time of the change.
        at: UnixMillis,
        /// Bounds of what is queued.
        bounds: Bounds,
    },
    /// URLs that are reported to the coordinator.
    Report {
        /// URLs that are not reported yet.
        reports: Vec<Report>,
    },
    /// Every route up to this number is stored.
    RoutesStored {
        /// Number of the last route.
        through: u64,
    },
    /// Another agent of the region has everything that is known of a host. A bounded part of it is
    /// dropped with each such change.
    Drop { host: HostNumber },
    /// The subnet of a host left the agent's region. Its URLs are handed back, a bounded number
    /// with each such change, and it is dropped.
    HandBack { host: HostNumber },
    /// The visit of a page failed and is reported. The page stays the first of its host.
    FailedVisit {
        host: HostNumber,
        /// URL of the page.
        url: String,
        /// Why there was no answer.
        failure: Failure,
        /// Time of the visit.
        at: UnixMillis,
        /// Earliest time of the next request to the host.
        due: UnixMillis,
        /// The host's failures in a row, including this one.
        failures: u32,
    },
}

/// A URL of a host of the agent's region.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdoptedUrl {
    /// The URL, normalised.
    pub url: CrawlUrl,
    /// Number of links from a routed URL to this one, as far as this agent knows.
    pub depth: u16,
    /// Number of redirects that led to it.
    pub redirects: u8,
    /// Whether it was fetched by another agent, so that it is only remembered.
    pub is_fetched: bool,
}

/// A fetch that ended for good.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Done {
    /// Host of the URL.
    pub host: HostNumber,
    /// What was fetched.
    pub item: VisitedUrl,
    /// Number of links from a routed URL to this one.
    pub depth: u16,
    /// Number of redirects that led to it.
    pub redirects: u8,
    /// Start of the request.
    pub fetched_at: UnixMillis,
    /// Size of the body on the wire, in bytes.
    pub wire_bytes: u64,
    /// The result, encoded once for log and file.
    #[serde(with = "serde_bytes")]
    pub result: Vec<u8>,
    /// Record for the next visit of the page; none when it is not visited again.
    pub page: Option<PageRecord>,
    /// Target of the redirect with which the URL was answered, unless it was given to its agent of
    /// the region.
    pub target: Option<CrawlUrl>,
    /// Links of the page.
    pub links: Vec<CrawlUrl>,
    /// Whether they are the entries of a sitemap or feed, with which the site asks for them. Not in
    /// the log, because it is only needed to select links, which happens before the change is
    /// logged.
    #[serde(skip)]
    pub are_listed: bool,
    /// What a sitemap states of the changes of its host's pages. The log has what follows from it.
    #[serde(skip)]
    pub stated: Option<StatedChanges>,
    /// Pages that are visited again earlier, with their new advances in seconds; filled in when the
    /// change is applied.
    pub brought_forward: Vec<(PageKey, u32)>,
    /// Links to other agents' hosts that are to be reported; filled in when the change is applied.
    pub reports: Vec<Report>,
    /// Earliest time of the next request to the host; none when nothing was sent to it.
    pub due: Option<UnixMillis>,
    /// The host's failures in a row after this fetch.
    pub failures: u32,
    /// Bounds for the links.
    pub bounds: Bounds,
}

/// A URL of the queue, or a page, that was visited.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum VisitedUrl {
    /// A URL of the queue.
    Queued {
        /// Its place in the queue.
        key: QueueKey,
    },
    /// A page that was visited again.
    Page {
        /// Its place among the pages.
        key: PageKey,
        /// Its response times before the visit.
        past: PageHistory,
    },
}

/// A URL of another agent's host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The URL, normalised.
    pub url: Box<str>,
    /// Number of redirects that led to it.
    pub redirects: u8,
}

/// The URL that a redirect leads to, if it can be fetched.
pub fn redirect_target(fetch: &Fetch) -> Option<CrawlUrl> {
    match &fetch.outcome {
        Outcome::Redirect { location, .. } => CrawlUrl::parse(location).ok(),
        _ => None,
    }
}

impl Done {
    /// The end of the fetch of `item`, which is not visited again, has no links, and says nothing
    /// about its host.
    pub fn new(item: &QueueItem, fetch: Fetch, bounds: Bounds) -> Self {
        let target = redirect_target(&fetch);
        // Of other answers that are no page no links are taken.
        let are_listed = matches!(fetch.outcome, Outcome::Other { status: 200..300, .. });
        let Fetch { fetched_at, wire_bytes, .. } = fetch;
        Self {
            host: item.host,
            item: item.visited(),
            depth: item.depth,
            redirects: item.redirects,
            fetched_at,
            wire_bytes,
            result: encode_entry(&Entry::Fetch(Box::new(fetch))),
            page: None,
            target,
            links: Vec::new(),
            are_listed,
            stated: None,
            brought_forward: Vec::new(),
            reports: Vec::new(),
            due: None,
            failures: 0,
            bounds,
        }
    }
}

impl QueueItem {
    /// The URL as a change names it.
    fn visited(&self) -> VisitedUrl {
        match &self.known {
            Some(known) => VisitedUrl::Page {
                key: (known.revisit_base.0, self.order),
                past: known.record.past,
            },
            None => VisitedUrl::Queued { key: self.queue_key() },
        }
    }

    /// Place of a URL of the queue.
    pub fn queue_key(&self) -> QueueKey {
        (self.depth, self.order)
    }
}

/// How much of a change is applied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Progress {
    /// All of it.
    #[default]
    Complete,
    /// A bounded part: the same change must be applied again.
    Partial,
    /// Nothing, because the host has changed since the change was prepared.
    Outdated,
}

impl Progress {
    /// Complete unless something is left.
    pub(super) fn of(is_left: bool) -> Self {
        if is_left { Self::Partial } else { Self::Complete }
    }
}

/// Consequences of a change, for schedule and outbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effect {
    /// Hosts that have got work, with the earliest times of their next requests.
    pub ready: Vec<(HostNumber, UnixMillis)>,
    /// How much of the change is applied.
    pub progress: Progress,
    /// Whether the host of the change has URLs in its queue.
    pub has_queued: bool,
    /// Where its queue is empty, the earliest revisit base of its pages.
    pub revisit_base: Option<UnixMillis>,
    /// Whether there are new results.
    pub results: bool,
    /// Whether there are links that are decided when their hosts are read. Hosts that get work from
    /// them are found within [`INBOX_PATIENCE`](super::INBOX_PATIENCE).
    pub undecided: bool,
}
