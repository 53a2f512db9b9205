//! What can happen to the frontier.

use model::{CrawlUrl, HostTask, UnixMillis};
use protocol::{Route, page::Fetch};

use super::{HostNumber, PageRecord, Queued, RobotsState};

/// The operator's bounds for what is taken into the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// Most URLs of one host.
    pub pages_a_host: u32,
    /// Most links between a routed URL and a page.
    pub depth: u16,
}

/// One thing that happened. It is stored wholly or not at all.
#[derive(Debug, Clone)]
pub enum Change {
    /// The coordinator sent URLs; their hosts are ours from now on.
    Routes {
        /// By rising number.
        routes: Vec<Route>,
        /// Now.
        at: UnixMillis,
        /// What is taken.
        bounds: Bounds,
    },
    /// A URL is done with.
    Done(Box<Done>),
    /// A URL could not be had; it stays first in its queue.
    Retry {
        /// The URL.
        item: Queued,
        /// When the host may be asked next.
        due: UnixMillis,
        /// The host's failures in a row, this one included.
        failures: u32,
    },
    /// A host's robots.txt was asked for.
    Robots {
        /// The host.
        host: HostNumber,
        /// What is known now; none when it could not be had and nothing was known before.
        state: Option<RobotsState>,
        /// When the host may be asked next.
        due: UnixMillis,
        /// The host's failures in a row.
        failures: u32,
    },
    /// A host was asked for something on behalf of another host.
    Asked {
        /// The host that was asked.
        host: HostNumber,
        /// When it may be asked next.
        due: UnixMillis,
    },
    /// A host is given up: everything in its queue ends as failed, a part of it with each such
    /// change.
    GiveUp {
        /// The host.
        host: HostNumber,
        /// Why, in one line.
        reason: String,
        /// Now.
        at: UnixMillis,
    },
    /// An order of the coordinator about a host of ours is carried out, or a part of it with each
    /// such change. Nobody may be talking to a host that is let go.
    Order {
        /// Names the order.
        number: u64,
        /// The host; none when it is not ours.
        host: Option<HostNumber>,
        /// What is to be done.
        task: HostTask,
    },
    /// The coordinator knows that orders were carried out.
    ForgetOrders {
        /// Which.
        numbers: Vec<u64>,
    },
    /// The oldest results were written into a package's file.
    Sealed {
        /// The package.
        seq: u64,
        /// Number of the last result in it.
        through: u64,
        /// The file's size.
        bytes: u64,
    },
    /// A package is acknowledged.
    Shipped {
        /// The package.
        seq: u64,
    },
}

/// What became of a URL.
#[derive(Debug, Clone)]
pub struct Done {
    /// The URL.
    pub item: Queued,
    /// For the package.
    pub fetch: Fetch,
    /// What is kept of the page, to visit it again; none when it is not to be.
    pub page: Option<PageRecord>,
    /// Where it leads.
    pub links: Vec<CrawlUrl>,
    /// When the host may be asked next; none when nothing was sent to it.
    pub due: Option<UnixMillis>,
    /// The host's failures in a row, as they are counted now.
    pub failures: u32,
    /// What is taken of the links.
    pub bounds: Bounds,
}

/// What follows from a change, for the workbench.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Effect {
    /// Hosts that have work now, with the moments from which they may be asked.
    pub ready: Vec<(HostNumber, UnixMillis)>,
    /// Whether the host of the change has more to fetch.
    pub more: bool,
    /// When it has not: when its page was visited that was visited the longest time ago.
    pub oldest: Option<UnixMillis>,
    /// Whether there are new results.
    pub results: bool,
}
