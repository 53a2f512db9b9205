//! What the rooms of the coordinator share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arc_swap::ArcSwap;
use index::Index;
use model::{Policy, UnixMillis};
use store::Store;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::http::agent::tokens::Tokens;
use crate::intake::dns::Dns;
use crate::intake::recent_urls::Recent;
use crate::packages::blob_store::Bodies;
use crate::placement::audit::LastAudit;
use crate::predictor::Insight;
use crate::registry::refresh::LastAttempt;
use crate::runtime::agent_wakeups::AgentWakeups;
use crate::runtime::clock::Clock;
use crate::runtime::config::Config;
use crate::runtime::delegated_hierarchy::{CurrentHierarchy, DelegatedHierarchy};
use crate::runtime::events::Events;
use crate::runtime::peer_hints::PeerHints;
use crate::tasks::Statuses;

/// The parts of a running coordinator. Made once by `boot`, shared behind an `Arc`.
pub struct Coordinator {
    /// What it was told at start.
    pub config: Config,
    /// What time it is.
    pub clock: Arc<dyn Clock>,
    /// When it started.
    pub started_at: UnixMillis,
    /// Postgres.
    pub store: Store,
    /// The hierarchy with the delegations on it.
    pub current_hierarchy: CurrentHierarchy,
    /// What the predictive strategy knows.
    pub insight: Insight,
    /// The operator's settings, as last read.
    pub policy: ArcSwap<Policy>,
    /// The search index. Its calls block.
    pub index: Arc<Index>,
    /// Where packages lie.
    pub bodies: Bodies,
    /// Places for packages that are being received.
    pub uploads: Semaphore,
    /// Places for packages that are being checked.
    pub checks: Semaphore,
    /// Looks hosts up.
    pub dns: Dns,
    /// Nonces and sessions of agents.
    pub tokens: Tokens,
    /// URLs that were routed lately.
    pub recent: Arc<Recent>,
    /// When the registries' data was last fetched, well or not.
    pub refreshed: LastAttempt,
    /// When subnets that are not in one place were last cut.
    pub cut: LastAttempt,
    /// AgentWakeups the heartbeats that agents hold open.
    pub agent_wakeups: AgentWakeups,
    /// What the other coordinators are to be told.
    pub peer_hints: Arc<PeerHints>,
    /// Tells watchers what changed.
    pub events: Events,
    /// Whether this coordinator is the one that decides.
    pub leader: AtomicBool,
    /// What the last audit of the delegations found.
    pub audited: LastAudit,
    /// How the background tasks do.
    pub statuses: Statuses,
    /// Cancelled when the coordinator is told to stop; whatever holds a connection open ends then.
    pub stop: CancellationToken,
}

impl Coordinator {
    /// Now.
    pub fn now(&self) -> UnixMillis {
        self.clock.now()
    }

    /// An agent not heard of since then counts as unreachable.
    pub fn heard_since(&self) -> UnixMillis {
        self.now().plus_ms(-1_000 * i64::from(self.config.limits.presence_s))
    }

    /// Whether this coordinator is the one that decides.
    pub fn is_leader(&self) -> bool {
        self.leader.load(Ordering::Acquire)
    }

    /// The hierarchy with the delegations on it; none until registry data was loaded.
    pub fn delegated(&self) -> Option<Arc<DelegatedHierarchy>> {
        self.current_hierarchy.current()
    }
}
