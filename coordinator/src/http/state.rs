//! State that the handlers share.

use std::sync::Arc;

use crate::http::admin::events::OverviewCache;
use crate::http::admin::session::SignInGuard;
use crate::http::client_slots::{ClientSlots, SlotBounds};
use crate::http::concurrency_limit::ConcurrencyLimit;
use crate::runtime::agent_programs::AgentPrograms;
use crate::tasks::coordinator::Coordinator;

/// Event streams that are open at the same time.
const EVENT_STREAMS: usize = 64;
/// Public searches that run at the same time. The crawl needs the cores too.
const SEARCHES: SlotBounds = SlotBounds { in_all: 8, per_network: 4, per_site: 6 };
/// Downloads that run at the same time. Each takes an open file, for hours if it is read slowly.
const DOWNLOADS: SlotBounds = SlotBounds { in_all: 64, per_network: 4, per_site: 16 };

/// Shared by all handlers; cheap to clone.
#[derive(Clone)]
pub struct ApiState {
    /// The running coordinator.
    pub core: Arc<Coordinator>,
    /// Limits guesses of passwords.
    pub sign_in: Arc<SignInGuard>,
    /// The overview that all event streams share.
    pub overview: Arc<OverviewCache>,
    /// Limits open event streams.
    pub event_streams: ConcurrencyLimit,
    /// Limits concurrent public searches.
    pub searches: ClientSlots,
    /// The agent's programs that partners can download.
    pub agent_programs: Arc<AgentPrograms>,
    /// Limits concurrent downloads.
    pub downloads: ClientSlots,
}

impl ApiState {
    /// The state for a coordinator.
    pub fn new(core: Arc<Coordinator>) -> Self {
        let agent_programs = AgentPrograms::new(core.config.agent_downloads.clone());
        Self {
            core,
            sign_in: Arc::default(),
            overview: Arc::default(),
            event_streams: ConcurrencyLimit::new(EVENT_STREAMS),
            searches: ClientSlots::new(SEARCHES),
            agent_programs: Arc::new(agent_programs),
            downloads: ClientSlots::new(DOWNLOADS),
        }
    }
}
