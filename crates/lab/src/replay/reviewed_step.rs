//! The step of a search by places, reviewed as the coordinator reviews it.

use std::collections::HashMap;

use delegation::places::{PlaceModel, next_step};
use delegation::plausibility::{Admission, JudgedReport, Review, Trust};
use delegation::{AvailableAgents, Search, Step};
use hierarchy::Hierarchy;
use model::{AgentId, Policy};

/// Counts the judgements of a decided search, which the coordinator stores.
pub(crate) fn count_judgements(trust: &mut HashMap<AgentId, Trust>, judged: Vec<JudgedReport>) {
    for JudgedReport { agent, kind, judgement } in judged {
        trust.entry(agent).or_default().searches.observe(kind, &judgement);
    }
}

/// What the steps of one search follow from, besides its trail.
pub(crate) struct ReviewedSearch<'r> {
    pub(crate) hierarchy: &'r Hierarchy,
    pub(crate) places: &'r PlaceModel,
    pub(crate) review: Review<'r>,
    /// Uniform in [0, 1): whether a trusted winner is checked.
    pub(crate) draw: f64,
}

impl ReviewedSearch<'_> {
    /// The next step: doubted agents take no part, implausible times are replaced, and a decision
    /// may need a control probe or examine a doubted agent.
    pub(crate) fn step(
        &self,
        available: &AvailableAgents,
        policy: &Policy,
        search: &Search<'_>,
    ) -> Step {
        let Admission { admitted: agents, suspects } = self.review.admit(available);
        let credible = self.review.credible_trail(search.trail);
        let search = Search { trail: &credible, ..*search };
        let (step, _) = next_step(self.hierarchy, &agents, policy, self.places, &search);
        let Step::Decide { agent, .. } = step else { return step };
        let order = self.places.nearest_without(self.hierarchy, &agents, &search, agent);
        let order = order.into_iter().chain(agents.agents());
        let step = self.review.confirm(step, &search, &agents, self.draw, order);
        self.review.examine(step, &search, &suspects)
    }
}
