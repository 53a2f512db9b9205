//! What agents measure of each other's home addresses, by the coordinator's own rules.

use std::collections::BTreeMap;

use delegation::home_measurements::{mutual_times, wanted_measurements};
use delegation::places::{AgentClaim, AgentMap, map_agents};
use delegation::plausibility::{HomeReports, HomeTimes, ReferenceTimes};
use model::AgentId;

/// The measurements, and what follows from them.
#[derive(Default)]
pub(crate) struct MeasuredHomes {
    times: HomeTimes,
    pub(crate) references: ReferenceTimes,
    pub(crate) reports: BTreeMap<AgentId, HomeReports>,
    /// None while nothing is known of the agents.
    pub(crate) map: Option<AgentMap>,
}

impl MeasuredHomes {
    /// Measures until nothing is missing. `claims` are sorted by agent; `measure` gives what the
    /// second agent reports of the first one's home, infinite without an answer.
    pub(crate) fn complete(
        &mut self,
        claims: &[AgentClaim],
        measure: impl Fn(AgentId, AgentId) -> f64,
    ) {
        let agents: Vec<AgentId> = claims.iter().map(|claim| claim.agent).collect();
        loop {
            self.judge();
            let mapped = map_agents(claims, &mutual_times(&self.times));
            let was_tried = |pair: &(AgentId, AgentId)| self.times.contains_key(pair);
            let missing = &mapped.missing;
            let mut new = wanted_measurements(&agents, &self.reports, missing, was_tried, |_| true);
            new.retain(|pair| !was_tried(pair));
            if new.is_empty() {
                self.map = mapped.map;
                return;
            }
            for (agent, witness) in new {
                let ms = measure(agent, witness);
                self.times.insert((agent, witness), ms.is_finite().then_some(ms));
            }
        }
    }

    /// Forgets what these agents reported.
    pub(crate) fn forget(&mut self, witnesses: &[AgentId]) {
        self.times.retain(|(_, witness), _| !witnesses.contains(witness));
    }

    /// Number of measurements. Each is repeated every week.
    pub(crate) fn len(&self) -> usize {
        self.times.len()
    }

    fn judge(&mut self) {
        self.references = ReferenceTimes::new(&self.times);
        self.reports = HomeReports::judge_all(&self.references);
    }
}
