//! Incidents: subnets whose paths or pages became slower (IPMicra III.F), at most one at a time per
//! subnet.
//!
//! The coordinator decides each step. A step is one transaction that first checks that the incident
//! is still in the state for which the step was computed, so a repeated step changes nothing.

mod read;
mod steps;

use hierarchy::Range;
use model::{AgentId, DelegationId, IncidentState, ProbeId, SearchId, UnixMillis};

use crate::probes::Target;

pub use read::{IncidentSummary, list, list_open, measured, of_search};
pub use steps::{IncidentCause, Seed, check, end, open, search, set_away, set_failback};

/// An open incident.
#[derive(Debug, Clone, PartialEq)]
pub struct Incident {
    /// Primary key of the row.
    pub id: i64,
    pub subnet: Range,
    /// The agent that had the subnet then.
    pub agent: AgentId,
    /// The delegation that held then.
    pub delegation: DelegationId,
    /// That agent's round trip when it got the subnet, in microseconds.
    pub before_us: Option<u32>,
    /// Recent time over usual time, of the path or of the page reported last.
    pub ratio: f64,
    /// Recent round trip of that agent over the usual one; none when that was not known.
    pub path_ratio: Option<f64>,
    /// Control probes one after the other that were not withdrawn, with the awaited one.
    pub controls: u32,
    /// How far it has come.
    pub state: IncidentState,
    /// The control agent, which separates a slow path from a slow server, and the round trip that
    /// it measured before the incident, in microseconds.
    pub control_probe: Option<(AgentId, u32)>,
    /// The probe whose outcome is awaited.
    pub probe: Option<IncidentProbe>,
    /// The search that was opened last, and whether it is still open.
    pub search: Option<(SearchId, bool)>,
    /// The agent that got the subnet.
    pub next_agent: Option<AgentId>,
    /// Measurements of the path of the former agent, kept as JSON by calibration.
    pub failback: Option<serde_json::Value>,
    /// The delegation that holds now.
    pub holds: Option<CurrentDelegation>,
    /// Where to measure: the target of the search that chose the agent.
    pub target: Option<Target>,
}

/// A probe of an incident and its outcome.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IncidentProbe {
    /// The probe order.
    pub probe: ProbeId,
    /// Who was asked.
    pub agent: AgentId,
    /// The outcome so far.
    pub outcome: Outcome,
}

/// Outcome of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The probe was not reported yet.
    Pending,
    /// A round trip, in microseconds.
    Measured(u32),
    /// No round trip.
    Failed,
    /// The agent did not report in time, which says nothing about the path.
    Expired,
}

/// The delegation that holds of an incident's subnet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CurrentDelegation {
    /// The delegation that holds.
    pub delegation: DelegationId,
    /// Who has the subnet.
    pub agent: AgentId,
    /// The search that led to it; none where an admin, balance or a drain decided.
    pub search: Option<SearchId>,
    /// Its round trip, in microseconds.
    pub rtt_us: Option<u32>,
}

/// When something happened to an incident, for the list of incidents.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moments {
    /// When the incident was opened.
    pub opened: UnixMillis,
    /// The subnet moved.
    pub moved: Option<UnixMillis>,
    /// It went back.
    pub returned: Option<UnixMillis>,
    /// The incident was closed.
    pub ended: Option<UnixMillis>,
}
