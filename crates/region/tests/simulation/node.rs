//! One agent of the simulation: process, disk and clock.

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;
use region::member::SavedMember;
use region::{Member, Millis};

use crate::engine::Engine;
use crate::web::Page;

/// A clock that runs a little too fast or too slow, from another beginning.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    pub(crate) offset: u64,
    /// Parts per million by which it is too fast.
    pub(crate) error_ppm: i64,
}

impl Clock {
    pub(crate) fn local(self, now: u64) -> Millis {
        let error = now.cast_signed() * self.error_ppm / 1_000_000;
        Millis(self.offset + now.saturating_add_signed(error))
    }

    /// A true time at which the clock shows at least this.
    pub(crate) fn true_time(self, local: Millis) -> u64 {
        let shown = local.0.saturating_sub(self.offset);
        let error = shown.cast_signed() * self.error_ppm / 1_000_000;
        shown.saturating_add_signed(-error) + 1
    }
}

/// A fetch that runs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fetch {
    pub(crate) page: Page,
    pub(crate) number: u64,
}

pub(crate) struct Node {
    pub(crate) agent: AgentId,
    pub(crate) clock: Clock,
    /// The process; none while it is down.
    pub(crate) member: Option<Member>,
    /// What the process stored.
    pub(crate) disk: Option<SavedMember>,
    pub(crate) engine: Engine,
    /// Number of the process: events of former ones do not count.
    pub(crate) incarnation: u64,
    pub(crate) running: BTreeMap<usize, Fetch>,
    /// When each host may be asked again, by the agent's own clock.
    pub(crate) next_at: BTreeMap<usize, Millis>,
    /// Hosts from which it might fetch after the last event.
    pub(crate) holds: BTreeSet<usize>,
    /// Effects until the process ends.
    pub(crate) crash_in: Option<u64>,
    /// Whether the next start finds no disk.
    pub(crate) loses_disk: bool,
    /// How long the process stays down; none until the region is healed.
    pub(crate) down_ms: Option<u64>,
    /// When the next wake-up is due, so that it is queued once.
    pub(crate) wake_at: u64,
}
