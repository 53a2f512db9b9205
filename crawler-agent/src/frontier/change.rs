//! Changes of the frontier, and their effects.

use model::{CrawlUrl, HostTask, UnixMillis};
use protocol::{Route, page::Fetch};

use super::{HostNumber, PageRecord, Queued, RobotsState};

/// The operator's bounds of what is queued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most URLs of one host.
    pub pages_a_host: u32,
    /// Most links from a routed URL to a page.
    pub depth: u16,
}

/// A change, applied wholly or not at all.
#[derive(Debug, Clone)]
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
    /// A fetch failed and is tried again; the URL stays first in its queue.
    Retry {
        /// URL that failed.
        item: Queued,
        /// Earliest time of the next request to the host.
        due: UnixMillis,
        /// The host's failures in a row, including this one.
        failures: u32,
    },
    /// A host's robots.txt was requested.
    Robots {
        /// Number of the host.
        host: HostNumber,
        /// New state; none when the request failed and nothing was known before.
        state: Option<RobotsState>,
        /// Earliest time of the next request to the host.
        due: UnixMillis,
        /// The host's failures in a row.
        failures: u32,
    },
    /// A host received a request on behalf of another host.
    Asked {
        /// Host that received the request.
        host: HostNumber,
        /// Earliest time of the next request to it.
        due: UnixMillis,
    },
    /// A host is given up: the URLs in its queue end as failed, a bounded number with each such
    /// change.
    GiveUp {
        /// Number of the host.
        host: HostNumber,
        /// Reason, in one line.
        reason: String,
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
}

/// A fetch that ended for good.
#[derive(Debug, Clone)]
pub struct Done {
    /// URL that was fetched.
    pub item: Queued,
    /// Result for the package.
    pub fetch: Fetch,
    /// Record for the next visit of the page; none when it is not visited again.
    pub page: Option<PageRecord>,
    /// Links of the page.
    pub links: Vec<CrawlUrl>,
    /// Earliest time of the next request to the host; none when nothing was sent to it.
    pub due: Option<UnixMillis>,
    /// The host's failures in a row after this fetch.
    pub failures: u32,
    /// Bounds for the links.
    pub bounds: Bounds,
}

/// Consequences of a change, for schedule and outbox.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effect {
    /// Hosts that have got work, with the earliest times of their next requests.
    pub ready: Vec<(HostNumber, UnixMillis)>,
    /// Whether the host of the change has URLs in its queue.
    pub more: bool,
    /// Where its queue is empty, the time of the oldest last visit among its pages.
    pub oldest: Option<UnixMillis>,
    /// Whether there are new results.
    pub results: bool,
}
