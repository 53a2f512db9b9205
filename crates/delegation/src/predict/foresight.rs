//! The predictive search, one step at a time.

use hierarchy::{Hierarchy, SubnetId};
use protocol::AgentId;

use super::rivals::Field;
use super::{Belief, Experience, Places};
use crate::search::{Outlook, proceed};
use crate::{
    Asked, AvailableAgents, Candidate, DelegationTable, Phase, Policy, Reason, Search, Step,
};

/// What the predictive strategy knows.
#[derive(Debug, Clone, Copy)]
pub struct Foresight<'k> {
    /// From the landmarks.
    pub places: &'k Places,
    /// From the landmarks and all searches so far.
    pub experience: &'k Experience,
    /// An agent is worth asking when it is nearer than the best so far with at least this
    /// probability.
    pub worth_asking: f64,
}

/// Two probes in thirty-one that find a nearer agent are worth the other twenty-nine.
pub const WORTH_ASKING: f64 = 2.0 / 31.0;

/// What a search that is kept in memory need not compute anew at its next step: the belief so far.
/// The prior stays that of the search's first step, whatever was learned elsewhere since.
#[derive(Debug, Clone)]
pub struct Thought<'k> {
    subnet: SubnetId,
    /// The measurements that the belief has taken in, in the order of the trail.
    heard: Vec<(AgentId, u32)>,
    belief: Belief<'k>,
}

impl<'k> Foresight<'k> {
    /// What is believed of the subnet of `search` after the probes so far.
    pub fn belief(&self, hierarchy: &Hierarchy, search: &Search<'_>) -> Belief<'k> {
        self.think(hierarchy, search, None).belief
    }

    /// The same, from where an earlier step of the search left off; anew if the trail does not
    /// continue what was heard then.
    fn think(
        &self,
        hierarchy: &Hierarchy,
        search: &Search<'_>,
        kept: Option<Thought<'k>>,
    ) -> Thought<'k> {
        let measured = || search.trail.iter().filter_map(Asked::measurement);
        let continues = |kept: &Thought<'k>| {
            let mut trail = measured();
            let known = |heard: &(AgentId, u32)| {
                trail.next().is_some_and(|one| (one.agent, one.rtt_us) == *heard)
            };
            kept.subnet == search.subnet && kept.heard.iter().all(known)
        };
        let mut thought = kept.filter(continues).unwrap_or_else(|| Thought {
            subnet: search.subnet,
            heard: Vec::new(),
            belief: Belief::new(self.places, &self.experience.prior(hierarchy, search.subnet)),
        });
        for one in measured().skip(thought.heard.len()) {
            thought.belief.observe(one.agent, f64::from(one.rtt_us) / 1000.0);
            thought.heard.push((one.agent, one.rtt_us));
        }
        thought
    }
}

impl<'k> Thought<'k> {
    /// What is believed after the step that kept this.
    pub fn belief(&self) -> &Belief<'k> {
        &self.belief
    }

    /// The probability of each place, and then that of being elsewhere, after the step that kept
    /// this.
    pub fn chances(&self) -> &[f64] {
        &self.belief.chances
    }
}

/// The next step of `search`, computed from its trail alone, like [`crate::next_step`], which takes
/// over while there are no landmarks yet.
///
/// First the likeliest to be nearest is asked, then, as long as somebody is worth asking, whoever
/// is likeliest to be nearer than the best so far.
pub fn next_step(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    roster: &AvailableAgents,
    policy: &Policy,
    foresight: &Foresight<'_>,
    search: &Search<'_>,
) -> Step {
    next_step_keeping(hierarchy, delegation_table, roster, policy, foresight, search, &mut None)
}

/// [`next_step`] for whoever has a search in memory from its first step to its last: `kept` begins
/// as `None`.
pub fn next_step_keeping<'k>(
    hierarchy: &Hierarchy,
    delegation_table: &DelegationTable,
    roster: &AvailableAgents,
    policy: &Policy,
    foresight: &Foresight<'k>,
    search: &Search<'_>,
    kept: &mut Option<Thought<'k>>,
) -> Step {
    if foresight.places.is_empty() {
        return crate::next_step(hierarchy, delegation_table, roster, policy, search);
    }
    let fastest = search.fastest(roster);
    let thought = foresight.think(hierarchy, search, kept.take());
    let thought = kept.insert(thought);
    let field = Field::new(roster, foresight.places, search);
    let was_asked = |agent: &AgentId| search.trail.iter().any(|asked| asked.agent == *agent);
    let candidate = |agent| Candidate { agent, phase: Phase::Predicted, level: search.subnet };
    let otherwise = Reason::Predicted;
    let Some(best) = fastest else {
        // Before the first measurement everybody is worth asking, the hopeless ones last.
        let order = thought.belief.nearest(&field).map(|rival| rival.agent).chain(roster.agents());
        let order = order.filter(|agent| !was_asked(agent)).map(candidate);
        return proceed(roster, policy, search, Outlook { enough: None, otherwise }, order);
    };
    let best_ms = f64::from(best.rtt_us) / 1000.0;
    let mut rivals = thought.belief.nearer(best_ms, foresight.worth_asking, field).peekable();
    let enough = rivals.peek().is_none().then_some(Reason::Predicted);
    let order = rivals.map(|rival| rival.agent).filter(|agent| !was_asked(agent)).map(candidate);
    proceed(roster, policy, search, Outlook { enough, otherwise }, order)
}
