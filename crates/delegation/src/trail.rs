//! Trail of a search: its probes in the order of asking. It is the search's whole state.

use model::{AgentId, Phase, ProbeState};

/// One probe of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TrailProbe {
    /// The agent that was asked to probe.
    pub agent: AgentId,
    /// Why it was asked.
    pub phase: Phase,
    /// What became of the probe.
    pub outcome: ProbeOutcome,
}

/// What became of a probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeOutcome {
    /// No answer yet.
    Pending,
    /// The agent measured a round trip.
    Measured {
        /// Microseconds, the smallest of the samples.
        rtt_us: u32,
    },
    /// The agent got no answer from the target, or its owner forbids the address. It is not chosen.
    Unreachable,
    /// The agent did not answer in time. A late answer may still turn this into one of the others.
    Expired,
}

impl ProbeOutcome {
    /// What a stored probe means to a search: an owner's refusal counts as no answer.
    pub fn of(state: ProbeState, rtt_us: Option<u32>) -> Self {
        match (state, rtt_us) {
            (ProbeState::Asked, _) => Self::Pending,
            (ProbeState::Measured, Some(rtt_us)) => Self::Measured { rtt_us },
            (ProbeState::Expired, _) => Self::Expired,
            (ProbeState::Measured | ProbeState::Unreachable | ProbeState::Refused, _) => {
                Self::Unreachable
            }
        }
    }
}

/// A measured probe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Measurement {
    pub(crate) agent: AgentId,
    pub(crate) phase: Phase,
    pub(crate) rtt_us: u32,
}

impl TrailProbe {
    /// The round trip in milliseconds, where one was measured.
    pub fn rtt_ms(&self) -> Option<f64> {
        self.measurement().map(|measured| f64::from(measured.rtt_us) / 1000.0)
    }

    pub(crate) fn measurement(&self) -> Option<Measurement> {
        match self.outcome {
            ProbeOutcome::Measured { rtt_us } => {
                Some(Measurement { agent: self.agent, phase: self.phase, rtt_us })
            }
            ProbeOutcome::Pending | ProbeOutcome::Unreachable | ProbeOutcome::Expired => None,
        }
    }
}
