//! Subnets whose pages became slower, and what is done about them (IPMicra III.F): one incident at
//! a time per subnet.
//!
//! The coordinator decides every step; each is one transaction here, and each asks first whether
//! the incident is still where the step began, so that a step may be thought out twice.

mod read;
mod steps;

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DelegationId, IncidentState, ProbeId, SearchId, UnixMillis};

pub use read::{IncidentSummary, list, list_open, measured, of_search};
pub use steps::{Seed, check, close_as_slow_server, end, open, search, set_away, set_failback};

/// An incident that goes on.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// Primary key of the row.
    pub id: i64,
    /// The subnet that it is about.
    pub subnet: Range,
    /// Who reported slower pages.
    pub agent: AgentId,
    /// The delegation that held then.
    pub delegation: DelegationId,
    /// That agent's round trip when it got the subnet, in microseconds.
    pub before_us: Option<u32>,
    /// Recent time over usual time of the page reported last.
    pub ratio: f64,
    /// Where it stands.
    pub state: IncidentState,
    /// Who measured, or shall, to tell a slow way from a slow server; and what it measured when all
    /// was well.
    pub control_probe: Option<(AgentId, u32)>,
    /// The probe that is waited for.
    pub probe: Option<IncidentProbe>,
    /// The search that was opened last, and whether it is still open.
    pub search: Option<(SearchId, bool)>,
    /// Who got the subnet.
    pub next_agent: Option<AgentId>,
    /// What is known of the way back.
    pub failback: Option<serde_json::Value>,
    /// The delegation that holds now.
    pub holds: Option<CurrentDelegation>,
    /// Where to measure: the target of the search that chose the agent.
    pub target: Option<Target>,
}

/// A probe and what came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentProbe {
    /// The probe order.
    pub probe: ProbeId,
    /// Who was asked.
    pub agent: AgentId,
    /// What came of it.
    pub outcome: Outcome,
}

/// What came of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The probe was not reported yet.
    Pending,
    /// A round trip, in microseconds.
    Measured(u32),
    /// No round trip.
    Failed,
}

/// The delegation that holds of an incident's subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentDelegation {
    /// The delegation that holds.
    pub delegation: DelegationId,
    /// Who has the subnet.
    pub agent: AgentId,
    /// The search that led to it.
    pub search: Option<SearchId>,
    /// Its round trip, in microseconds.
    pub rtt_us: Option<u32>,
}

/// Where to measure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The address that it is about.
    pub address: IpAddr,
    /// Authority of a web host there.
    pub host: String,
    /// TCP port of that host.
    pub port: u16,
}

/// When something happened to an incident, for the list of incidents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// The suspicion arose.
    pub opened: UnixMillis,
    /// The subnet moved.
    pub moved: Option<UnixMillis>,
    /// It went back.
    pub returned: Option<UnixMillis>,
    /// The incident was closed.
    pub ended: Option<UnixMillis>,
}
