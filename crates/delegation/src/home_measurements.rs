//! Home measurements: which agent measures the home address of which other agent.
//!
//! Reports are judged by these round trips ([`crate::plausibility`]), and they show where agents
//! are ([`crate::places`]). Each is one probe, and the coordinator repeats it every week.

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;

use crate::places::MutualTimes;
use crate::plausibility::{HomeMeasurement, HomeReports, HomeTimes, LEAST_MS};

/// Partners of each agent: they measure each other's home addresses.
const PARTNERS: usize = 4;
/// Further partners of an agent that is not accepted yet, at a time.
const MORE_PARTNERS: usize = 2;
/// Partners after which an agent gets no more.
const MOST_PARTNERS: usize = 24;

/// Everything that is to be measured of agents, which are sorted: by the partners of each, and one
/// direction of each pair that the map lacks, by a witness that can measure now. An agent that its
/// reports do not prove honest gets more partners, a few at a time: most agents need few.
pub fn wanted_measurements(
    agents: &[AgentId],
    reports: &BTreeMap<AgentId, HomeReports>,
    missing: &[(AgentId, AgentId)],
    was_tried: impl Fn(&HomeMeasurement) -> bool,
    can_measure: impl Fn(AgentId) -> bool,
) -> BTreeSet<HomeMeasurement> {
    let mut wanted = BTreeSet::new();
    let distances = partner_distances(agents.len());
    for (index, agent) in agents.iter().enumerate() {
        let mut partners = partners(agents, index, &distances).take(MOST_PARTNERS);
        let first = partners.by_ref().take(PARTNERS);
        wanted.extend(first.flat_map(|partner| [(*agent, partner), (partner, *agent)]));
        // No agent gets more partners before the first ones were measured.
        let known = reports.get(agent).filter(|reports| !reports.judgements.is_empty());
        if known.is_some_and(|reports| !reports.is_accepted) {
            let pairs = partners.map(|partner| [(*agent, partner), (partner, *agent)]);
            let untried = pairs.filter(|pair| !pair.iter().all(&was_tried));
            wanted.extend(untried.take(MORE_PARTNERS).flatten());
        }
    }
    for (a, b) in missing {
        // The other direction is tried where the first got no answer.
        let is_open = |pair: &HomeMeasurement| !was_tried(pair) && can_measure(pair.1);
        let untried = [(*a, *b), (*b, *a)].into_iter().find(is_open);
        wanted.extend(untried);
    }
    wanted
}

/// Distances in the ring of agents at which partners are, the first ones spread over all agents.
fn partner_distances(agents: usize) -> Vec<usize> {
    let mut distances: Vec<usize> = (1..=agents / 2).collect();
    // Numbers with their bits reversed give the middle first, then the quarters, and so on.
    distances.sort_by_key(|distance| (distance - 1).reverse_bits());
    distances
}

/// The other agents in the order in which they become partners, on both sides in the ring of
/// agents, so that each agent has as many.
fn partners(
    agents: &[AgentId],
    index: usize,
    distances: &[usize],
) -> impl Iterator<Item = AgentId> {
    let count = agents.len();
    distances.iter().flat_map(move |distance| {
        let ahead = agents[(index + distance) % count];
        let behind = agents[(index + count - distance) % count];
        let opposite = ahead == behind;
        std::iter::once(ahead).chain((!opposite).then_some(behind))
    })
}

/// The times of pairs. A pair counts as unanswered when neither has got an answer from the other's
/// home address; while only one has tried, the other may.
pub fn mutual_times(measured: &HomeTimes) -> MutualTimes {
    let mut times = MutualTimes::default();
    for ((agent, witness), ms) in measured {
        // A time shorter than any network stack needs says nothing about the distance.
        let is_possible = ms.is_none_or(|ms| ms >= LEAST_MS);
        if is_possible && (ms.is_some() || measured.contains_key(&(*witness, *agent))) {
            times.insert(*agent, *witness, ms.map(|ms| ms as f32));
        }
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plausibility::Judgement;

    /// Reports of an agent that contradict what others measured.
    fn doubted() -> HomeReports {
        let judgement = Judgement {
            reported_ms: 1.0,
            least_ms: 50.0,
            witness: None,
            apart_ms: None,
            witnesses: 1,
        };
        HomeReports { score: 1.0, judgements: vec![judgement], is_accepted: false }
    }

    #[test]
    fn partners_measure_each_other() {
        for count in [0, 1, 2, 3, 12, 13, 100] {
            let agents: Vec<AgentId> = (1..=count).map(AgentId::new).collect();
            let wanted = wanted_measurements(&agents, &BTreeMap::new(), &[], |_| false, |_| true);
            assert!(wanted.iter().all(|(a, b)| a != b && wanted.contains(&(*b, *a))), "{count}");
            let others = agents.len().saturating_sub(1);
            for agent in &agents {
                let partners = wanted.iter().filter(|(home, _)| home == agent).count();
                assert_eq!(partners, others.min(PARTNERS), "{count}");
            }
        }
    }

    #[test]
    fn a_doubted_agent_gets_more_partners_a_few_at_a_time() {
        let agents: Vec<AgentId> = (1..=100).map(AgentId::new).collect();
        let agent = agents[40];
        let reports = BTreeMap::from([(agent, doubted())]);
        let mut tried: BTreeSet<HomeMeasurement> = BTreeSet::new();
        let mut of_agent = Vec::new();
        for _ in 0..20 {
            let was_tried = |pair: &HomeMeasurement| tried.contains(pair);
            let wanted = wanted_measurements(&agents, &reports, &[], was_tried, |_| true);
            tried.extend(wanted);
            of_agent.push(tried.iter().filter(|(home, _)| *home == agent).count());
        }
        assert_eq!(of_agent[..3], [PARTNERS + 2, PARTNERS + 4, PARTNERS + 6]);
        assert_eq!(of_agent.last(), Some(&MOST_PARTNERS));
    }

    #[test]
    fn a_pair_of_the_map_is_measured_from_the_other_side_where_one_got_no_answer() {
        let agents: Vec<AgentId> = (1..=30).map(AgentId::new).collect();
        // These two are no partners.
        let a = AgentId::new(1);
        let b = AgentId::new(4);
        let none = BTreeMap::new();
        let missing = [(a, b)];
        let wanted = wanted_measurements(&agents, &none, &missing, |_| false, |_| true);
        assert!(wanted.contains(&(a, b)) && !wanted.contains(&(b, a)));
        let is_first = |pair: &HomeMeasurement| *pair == (a, b);
        let wanted = wanted_measurements(&agents, &none, &missing, is_first, |_| true);
        assert!(!wanted.contains(&(a, b)) && wanted.contains(&(b, a)));
        let wanted = wanted_measurements(&agents, &none, &missing, |_| false, |agent| agent != b);
        assert!(!wanted.contains(&(a, b)) && wanted.contains(&(b, a)), "the other one is away");
    }

    #[test]
    fn a_pair_is_unanswered_when_both_have_tried() {
        let home = |agent, witness, ms| ((AgentId::new(agent), AgentId::new(witness)), ms);
        let one_tried = HomeTimes::from([home(1, 2, None)]);
        assert_eq!(mutual_times(&one_tried).len(), 0);
        let both_tried = HomeTimes::from([home(1, 2, None), home(2, 1, None)]);
        assert_eq!(mutual_times(&both_tried).len(), 1);
        let answered = HomeTimes::from([home(1, 2, Some(9.0)), home(3, 1, None)]);
        assert_eq!(mutual_times(&answered).len(), 1);
        let impossible = HomeTimes::from([home(1, 2, Some(0.001))]);
        assert_eq!(mutual_times(&impossible).len(), 0);
    }
}
