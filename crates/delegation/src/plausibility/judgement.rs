//! Judgement of one report by what other agents measured of the same target.

use model::AgentId;

use super::reference_times::Relation;
use super::{DETOUR, LEAST_MS, SLACK_MS};

/// What another agent measured of the target of a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WitnessTime {
    /// The other agent.
    pub agent: AgentId,
    /// Its round trip to the target, in milliseconds.
    pub ms: f64,
}

/// The least time that is plausible for a report.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Judgement {
    /// Time that was reported, in milliseconds.
    pub reported_ms: f64,
    /// Least plausible time, in milliseconds.
    pub least_ms: f64,
    /// The witness whose bound this is; `None` where no witness was needed.
    pub witness: Option<WitnessTime>,
    /// Distance between agent and witness that the bound is based on, in milliseconds.
    pub apart_ms: Option<f64>,
    /// Number of witnesses whose bounds are known.
    pub witnesses: usize,
}

/// The bound of one witness.
#[derive(Debug, Clone, Copy)]
struct Bound {
    least_ms: f64,
    witness: WitnessTime,
    apart_ms: f64,
}

/// With this many witnesses or more, three must contradict a report; with fewer, two.
const MANY_WITNESSES: usize = 8;

impl Judgement {
    /// Judges a report by the witnesses, each with its relation to the agent that reported. `None`
    /// when nothing is known to judge by.
    pub fn of(
        reported_ms: f64,
        witnesses: impl Iterator<Item = (WitnessTime, Relation)>,
    ) -> Option<Self> {
        if reported_ms < LEAST_MS {
            return Some(Self::impossible(reported_ms));
        }
        let mut bounds: Vec<Bound> =
            witnesses.filter_map(|(witness, relation)| bound(witness, relation)).collect();
        bounds.sort_by(|a, b| b.least_ms.total_cmp(&a.least_ms));
        // One wrong witness proves nothing where there are several.
        let errors = match bounds.len() {
            0 | 1 => 0,
            2..MANY_WITNESSES => 1,
            _ => 2,
        };
        let bound = bounds.get(errors)?;
        Some(Self {
            reported_ms,
            least_ms: bound.least_ms.max(0.0),
            witness: Some(bound.witness),
            apart_ms: Some(bound.apart_ms),
            witnesses: bounds.len(),
        })
    }

    /// The judgement of a time that no network stack reaches.
    pub(super) fn impossible(reported_ms: f64) -> Self {
        Self { reported_ms, least_ms: LEAST_MS, witness: None, apart_ms: None, witnesses: 0 }
    }

    /// Whether the report tells an honest agent from a forging one: a bound near zero contradicts
    /// neither.
    pub fn is_informative(&self) -> bool {
        self.is_contradicted() || self.least_ms >= SLACK_MS
    }

    /// Whether the report is shorter than what is plausible.
    pub fn is_contradicted(&self) -> bool {
        self.reported_ms < self.least_ms
    }

    /// What follows for the trust in the agent.
    pub fn verdict(&self) -> Verdict {
        match self.witness {
            _ if !self.is_contradicted() => Verdict::Plausible,
            Some(witness) => Verdict::ContradictedBy(witness.agent),
            None => Verdict::Impossible,
        }
    }
}

/// What a judgement says about the agent that reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing speaks against the report.
    Plausible,
    /// It is too short, regardless of what others measured.
    Impossible,
    /// It is too short by what this agent measured.
    ContradictedBy(AgentId),
}

/// The larger of the two bounds that a witness gives.
fn bound(witness: WitnessTime, relation: Relation) -> Option<Bound> {
    let over_homes = relation.path_ms.map(|apart_ms| {
        let least_ms = witness.ms / DETOUR - apart_ms - SLACK_MS;
        Bound { least_ms, witness, apart_ms }
    });
    let to_home = relation.home_ms.map(|apart_ms| {
        let least_ms = apart_ms / DETOUR - witness.ms - SLACK_MS;
        Bound { least_ms, witness, apart_ms }
    });
    let bounds = over_homes.into_iter().chain(to_home);
    bounds.max_by(|a, b| a.least_ms.total_cmp(&b.least_ms))
}
