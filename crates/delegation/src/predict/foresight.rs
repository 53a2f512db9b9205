//! The predictive search, one step at a time.

use hierarchy::Hierarchy;
use protocol::AgentId;

use super::{Belief, Experience, Places};
use crate::search::{Outlook, proceed};
use crate::{Book, Candidate, Phase, Policy, Reason, Roster, Search, Step, Verdict};

/// What the predictive strategy knows.
#[derive(Debug, Clone, Copy)]
pub struct Foresight<'k> {
    /// From the landmarks.
    pub places: &'k Places,
    /// From the landmarks and all searches so far.
    pub experience: &'k Experience,
    /// An agent is worth asking when it is nearer than the best so far with at least this probability.
    pub worth_asking: f64,
}

/// One probe in fifteen that finds a nearer agent is worth the other fourteen.
pub const WORTH_ASKING: f64 = 1.0 / 15.0;

impl Foresight<'_> {
    /// What is believed of the subnet of `search` after the probes so far.
    pub fn belief(&self, hierarchy: &Hierarchy, search: &Search<'_>) -> Belief<'_> {
        let mut belief = Belief::new(self.places, &self.experience.prior(hierarchy, search.subnet));
        for asked in search.trail {
            if let Verdict::Measured { rtt_us } = asked.verdict {
                belief.observe(asked.agent, f64::from(rtt_us) / 1000.0);
            }
        }
        belief
    }
}

/// The next step of `search`, computed from its trail alone, like [`crate::next_step`], which takes over while there are no
/// landmarks yet.
///
/// First the likeliest to be nearest is asked, then, as long as somebody is worth asking, whoever is likeliest to be
/// nearer than the best so far.
pub fn next_step(
    hierarchy: &Hierarchy,
    book: &Book,
    roster: &Roster,
    policy: &Policy,
    foresight: &Foresight<'_>,
    search: &Search<'_>,
) -> Step {
    if foresight.places.is_empty() {
        return crate::next_step(hierarchy, book, roster, policy, search);
    }
    let rivals = rivals(hierarchy, roster, foresight, search);
    let fastest = search.fastest(roster);
    let enough = fastest.filter(|_| rivals.is_empty()).map(|_| Reason::Predicted);
    let asked = search.asked();
    let unasked = rivals.into_iter().filter(|agent| !asked.contains(agent));
    let order = unasked.map(|agent| Candidate { agent, phase: Phase::Predicted, level: search.subnet });
    proceed(roster, policy, search, Outlook { enough, otherwise: Reason::Predicted }, order)
}

/// Agents without an answer that may be nearer than the best so far, the likeliest first. Before the first
/// measurement that is everybody.
fn rivals(
    hierarchy: &Hierarchy,
    roster: &Roster,
    foresight: &Foresight<'_>,
    search: &Search<'_>,
) -> Vec<AgentId> {
    let answered = |agent: &AgentId| {
        search.trail.iter().any(|asked| asked.agent == *agent && asked.verdict != Verdict::Pending)
    };
    let agents: Vec<AgentId> = roster.agents().filter(|agent| !answered(agent)).collect();
    let belief = foresight.belief(hierarchy, search);
    let (chances, least) = match search.fastest(roster) {
        Some(best) => {
            (belief.chances_below(f64::from(best.rtt_us) / 1000.0, &agents), foresight.worth_asking)
        }
        None => (belief.chances_nearest(&agents), 0.0),
    };
    let mut rivals: Vec<(AgentId, f64)> =
        agents.into_iter().zip(chances).filter(|(_, c)| *c >= least).collect();
    rivals.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    rivals.into_iter().map(|(agent, _)| agent).collect()
}
