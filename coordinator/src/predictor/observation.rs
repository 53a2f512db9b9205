//! Observations: round trips to one subnet.

use delegation::TrailProbe;
use hierarchy::SubnetId;
use model::AgentId;

/// Round trips to a subnet, from probes of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct Observation {
    /// Id within one generation of the hierarchy.
    pub subnet: SubnetId,
    /// One time per agent, in the order of asking.
    pub times_ms: Vec<(AgentId, f64)>,
}

impl Observation {
    /// The measurements of a trail; `None` when no agent measured anything.
    pub fn from_trail(subnet: SubnetId, trail: &[TrailProbe]) -> Option<Self> {
        let times = trail.iter().filter_map(|probe| Some((probe.agent, probe.rtt_ms()?)));
        let times_ms: Vec<_> = times.collect();
        (!times_ms.is_empty()).then_some(Self { subnet, times_ms })
    }
}

pub(super) fn millis(micros: u32) -> f64 {
    f64::from(micros) / 1000.0
}
