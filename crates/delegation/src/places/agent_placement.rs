//! Placement of agents: whether they are where they say, found out by a few mutual measurements.
//!
//! An agent measures its nearest neighbour by claimed positions. A round trip that is usual for the
//! distance confirms both. Whoever is not confirmed by it, nor by three other times that are known,
//! measures agents that are far apart; a round trip shorter than light in fibre allows refutes the
//! claim, and the position is the place that explains the round trips best. The function says which
//! measurements are missing, so that it can be called again with each new one.

use std::collections::BTreeMap;

use model::AgentId;

use super::{Position, listed_places, travel_time};

/// Round trips between agents, in milliseconds.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MutualTimes {
    /// By pair, the lower id first; no time for a pair that got no answer.
    times: BTreeMap<(AgentId, AgentId), Option<f32>>,
}

impl MutualTimes {
    /// Adds what one of two agents measured of the other; `None` without an answer. A shorter round
    /// trip replaces a longer one.
    pub fn insert(&mut self, a: AgentId, b: AgentId, rtt_ms: Option<f32>) {
        let known = self.times.entry((a.min(b), a.max(b))).or_insert(None);
        *known = match (*known, rtt_ms) {
            (Some(before), Some(now)) => Some(before.min(now)),
            (before, now) => now.or(before),
        };
    }

    /// Number of pairs.
    pub fn len(&self) -> usize {
        self.times.len()
    }

    /// Whether nothing was measured.
    pub fn is_empty(&self) -> bool {
        self.times.is_empty()
    }

    /// Whether the pair was measured, with or without an answer.
    pub(super) fn has(&self, a: AgentId, b: AgentId) -> bool {
        self.times.contains_key(&(a.min(b), a.max(b)))
    }

    /// Round trip of a pair.
    pub(super) fn ms(&self, a: AgentId, b: AgentId) -> Option<f32> {
        self.times.get(&(a.min(b), a.max(b))).copied().flatten()
    }

    /// Every measured pair with an answer.
    pub(super) fn pairs(&self) -> impl Iterator<Item = ((AgentId, AgentId), f32)> + '_ {
        self.times.iter().filter_map(|(pair, ms)| Some((*pair, (*ms)?)))
    }
}

/// Where the agents are, as far as it was measured.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AgentPlacement {
    /// In the order of the claims: the position, and whether the claim is doubtful.
    pub(super) positions: Vec<(Position, bool)>,
    /// Pairs to be measured next; empty at the end.
    pub(super) missing: Vec<(AgentId, AgentId)>,
}

/// Distance beyond which a neighbour confirms nothing.
const CONFIRMING_KM: f32 = 1500.0;
/// Logarithm by which a round trip may be above the usual one and still confirm a position.
const CONFIRMING_EXCESS: f32 = 0.6;
/// Part of a round trip that access lines take, in milliseconds.
const ACCESS_MS: f32 = 3.0;
/// Agents, far from each other, that an unconfirmed agent measures.
const POSTS: usize = 6;
/// Posts that are enough when all of them agree with the claim.
const FIRST_POSTS: usize = 3;
/// Neighbours of another position that are measured.
const NEIGHBOURS: usize = 3;
/// Pairs of one agent after which no more are asked for.
const MOST_PAIRS: usize = 14;
/// Logarithm of the likelihood by which another position must be better than the claim.
const LEAD: f32 = 3.0;
/// Loss of likelihood for a round trip that light could not have made.
const IMPOSSIBLE: f32 = 6.0;

/// Places the agents by their claims and mutual times. `claims` are sorted by agent.
pub(super) fn place_agents(claims: &[(AgentId, Position)], times: &MutualTimes) -> AgentPlacement {
    let mut positions: Vec<(Position, bool)> =
        claims.iter().map(|claim| (claim.1, false)).collect();
    let mut missing = missing_pairs(times, claims, &nearest_pairs(claims));
    if !missing.is_empty() {
        return AgentPlacement { positions, missing };
    }
    let is_confirmed: Vec<bool> =
        (0..claims.len()).map(|agent| is_confirmed(claims, times, agent)).collect();
    let posts = posts(claims, &is_confirmed);
    let suspects: Vec<usize> = (0..claims.len()).filter(|agent| !is_confirmed[*agent]).collect();
    let candidates = candidates(claims, &is_confirmed);
    for suspect in suspects {
        let known: Vec<(Position, f32)> =
            measured(claims, times, suspect).map(|(other, ms)| (claims[other].1, ms)).collect();
        // One confirmed agent refutes a claim, or two of any kind: one of two may be wrong itself.
        let contradicting = |(other, ms): &(usize, f32)| {
            *ms < travel_time::least_ms(claims[*other].1.distance_km(claims[suspect].1))
        };
        let weight = |(other, _): (usize, f32)| if is_confirmed[other] { 2 } else { 1 };
        let contradictions: i32 =
            measured(claims, times, suspect).filter(contradicting).map(weight).sum();
        let known = KnownTimes { times: &known, is_refuted: contradictions >= 2 };
        let found = place(claims, known, &posts, suspect, &candidates);
        positions[suspect] = (found.position, found.is_doubtful);
        missing.extend(missing_pairs(times, claims, &found.pairs));
    }
    missing.sort_unstable();
    missing.dedup();
    AgentPlacement { positions, missing }
}

/// Pairs of indices into the claims.
type Pairs = Vec<(usize, usize)>;

/// Each agent with its nearest neighbour.
fn nearest_pairs(claims: &[(AgentId, Position)]) -> Pairs {
    (0..claims.len())
        .filter_map(|agent| Some((agent, *neighbours(claims, agent, claims[agent].1).first()?)))
        .collect()
}

/// The other agents, those first that claim to be nearest to a position.
fn neighbours(claims: &[(AgentId, Position)], agent: usize, position: Position) -> Vec<usize> {
    let mut others: Vec<usize> = (0..claims.len()).filter(|other| *other != agent).collect();
    let km = |other: &usize| claims[*other].1.distance_km(position);
    others.sort_by(|a, b| km(a).total_cmp(&km(b)).then(a.cmp(b)));
    others
}

fn missing_pairs(
    times: &MutualTimes,
    claims: &[(AgentId, Position)],
    pairs: &Pairs,
) -> Vec<(AgentId, AgentId)> {
    let ids = pairs.iter().map(|(a, b)| (claims[*a].0, claims[*b].0));
    let ordered = ids.map(|(a, b)| (a.min(b), a.max(b)));
    let mut missing: Vec<_> = ordered.filter(|(a, b)| !times.has(*a, *b)).collect();
    missing.sort_unstable();
    missing.dedup();
    missing
}

/// Logarithm of a round trip over the usual one.
fn excess(rtt_ms: f32, km: f32) -> f32 {
    (rtt_ms - ACCESS_MS).max(0.5).ln() - travel_time::usual_ms(km).ln()
}

/// The measured times of an agent: the other agent and milliseconds.
fn measured<'t>(
    claims: &'t [(AgentId, Position)],
    times: &'t MutualTimes,
    agent: usize,
) -> impl Iterator<Item = (usize, f32)> + 't {
    let others = (0..claims.len()).filter(move |other| *other != agent);
    others.filter_map(move |other| Some((other, times.ms(claims[agent].0, claims[other].0)?)))
}

/// Whether one neighbour is as near as it should be, and most times agree with the agent's claim.
/// A single time may contradict it because the other agent's claim is wrong.
fn is_confirmed(claims: &[(AgentId, Position)], times: &MutualTimes, agent: usize) -> bool {
    let mut has_neighbour = false;
    let mut possible = 0;
    let mut impossible = 0;
    for (other, rtt_ms) in measured(claims, times, agent) {
        let km = claims[other].1.distance_km(claims[agent].1);
        if rtt_ms < travel_time::least_ms(km) {
            impossible += 1;
        } else {
            possible += 1;
            has_neighbour |= km < CONFIRMING_KM && excess(rtt_ms, km) < CONFIRMING_EXCESS;
        }
    }
    has_neighbour && impossible < possible
}

/// Agents far from each other, confirmed ones where there are enough.
fn posts(claims: &[(AgentId, Position)], is_confirmed: &[bool]) -> Vec<usize> {
    let confirmed: Vec<usize> = (0..claims.len()).filter(|agent| is_confirmed[*agent]).collect();
    let pool = if confirmed.len() >= POSTS { confirmed } else { (0..claims.len()).collect() };
    let mut posts: Vec<usize> = Vec::new();
    while posts.len() < POSTS.min(pool.len()) {
        let apart = |agent: &usize| {
            let km = |post: &usize| claims[*post].1.distance_km(claims[*agent].1);
            posts.iter().map(km).fold(f32::INFINITY, f32::min)
        };
        let free = pool.iter().filter(|agent| !posts.contains(agent));
        let Some(next) = free.max_by(|a, b| apart(a).total_cmp(&apart(b)).then(b.cmp(a))) else {
            break;
        };
        posts.push(*next);
    }
    posts
}

/// Positions where an agent may be: the listed places, and those of confirmed agents.
fn candidates(claims: &[(AgentId, Position)], is_confirmed: &[bool]) -> Vec<Position> {
    let confirmed = claims.iter().zip(is_confirmed).filter(|(_, confirmed)| **confirmed);
    let listed = listed_places().into_iter().map(|place| place.position);
    listed.chain(confirmed.map(|(claim, _)| claim.1)).collect()
}

/// What is known of an agent.
#[derive(Clone, Copy)]
struct KnownTimes<'t> {
    /// Claimed positions of others, with the times to them.
    times: &'t [(Position, f32)],
    /// Whether times contradict the agent's claim.
    is_refuted: bool,
}

struct Found {
    position: Position,
    /// Whether another position explains the times better than the claim.
    is_doubtful: bool,
    /// Pairs from which the position follows.
    pairs: Pairs,
}

/// Places an agent that its neighbour did not confirm by its known times.
fn place(
    claims: &[(AgentId, Position)],
    KnownTimes { times: known, is_refuted }: KnownTimes<'_>,
    posts: &[usize],
    agent: usize,
    candidates: &[Position],
) -> Found {
    let claim = claims[agent].1;
    let others = posts.iter().copied().filter(|post| *post != agent);
    let mut pairs: Pairs = others.map(|post| (agent, post)).collect();
    let agrees = |(other, ms): &(Position, f32)| {
        let km = other.distance_km(claim);
        *ms >= travel_time::least_ms(km) && excess(*ms, km) < CONFIRMING_EXCESS
    };
    let agreeing = known.iter().filter(|time| agrees(time)).count();
    if !is_refuted && agreeing >= FIRST_POSTS {
        return Found { position: claim, is_doubtful: false, pairs: Pairs::new() };
    }
    if !is_refuted && known.len() < FIRST_POSTS {
        pairs.truncate(FIRST_POSTS);
        return Found { position: claim, is_doubtful: false, pairs };
    }
    let best = candidates.iter().map(|at| (fit(known, *at), *at));
    let best = best.max_by(|a, b| a.0.total_cmp(&b.0));
    let better = best.filter(|best| best.0 > fit(known, claim) + LEAD).map(|best| best.1);
    if known.len() >= MOST_PAIRS {
        pairs.clear();
    } else if let Some(position) = better {
        // Near the other position somebody else will tell.
        let near = neighbours(claims, agent, position);
        pairs.extend(near.into_iter().take(NEIGHBOURS).map(|other| (agent, other)));
    }
    let position = better.filter(|_| is_refuted).unwrap_or(claim);
    Found { position, is_doubtful: better.is_some(), pairs }
}

/// Logarithm of the likelihood of an agent's times if it is at `position`.
fn fit(known: &[(Position, f32)], position: Position) -> f32 {
    let one = |(other, rtt_ms): &(Position, f32)| {
        let km = other.distance_km(position);
        let deviation = 0.35 + 0.45 * (-km / 200.0).exp();
        let variance = deviation * deviation + 0.1;
        let residual = excess(*rtt_ms, km);
        let impossible = if *rtt_ms < travel_time::least_ms(km) { IMPOSSIBLE } else { 0.0 };
        -2.5 * (1.0 + residual * residual / variance / 4.0).ln() - 0.5 * variance.ln() - impossible
    };
    known.iter().map(one).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Cities with the milliseconds that the map gives between them.
    fn cities() -> Vec<(AgentId, Position)> {
        let wanted = [
            "Berlin",
            "Warsaw",
            "Madrid",
            "New York City",
            "Tokyo",
            "Sydney",
            "São Paulo",
            "Delhi",
        ];
        let listed = listed_places();
        let at = |name: &str| listed.iter().find(|place| place.name == name).unwrap().position;
        wanted.iter().zip(1..).map(|(name, id)| (AgentId::new(id), at(name))).collect()
    }

    fn run(
        claims: &[(AgentId, Position)],
        truth: &[(AgentId, Position)],
    ) -> (AgentPlacement, MutualTimes) {
        let mut times = MutualTimes::default();
        loop {
            let placement = place_agents(claims, &times);
            if placement.missing.is_empty() {
                return (placement, times);
            }
            for (a, b) in &placement.missing {
                let at = |id: &AgentId| truth.iter().find(|agent| agent.0 == *id).unwrap().1;
                let km = at(a).distance_km(at(b));
                times.insert(*a, *b, Some(travel_time::usual_ms(km) + ACCESS_MS));
            }
        }
    }

    #[test]
    fn true_claims_stay_and_cost_few_probes() {
        let cities = cities();
        let (placement, times) = run(&cities, &cities);
        assert!(placement.positions.iter().all(|(_, is_doubtful)| !is_doubtful));
        assert!(times.len() <= 4 * cities.len(), "{}", times.len());
    }

    #[test]
    fn a_wrong_claim_is_refuted_and_replaced() {
        let truth = cities();
        let mut claims = truth.clone();
        claims[1].1 = Position::new(-41.3, 174.8).unwrap();
        let (placement, _) = run(&claims, &truth);
        let (position, is_doubtful) = placement.positions[1];
        assert!(is_doubtful && position.distance_km(truth[1].1) < 700.0, "{position:?}");
        let others = placement.positions.iter().enumerate().filter(|(index, _)| *index != 1);
        assert!(others.into_iter().all(|(_, (_, is_doubtful))| !is_doubtful), "{placement:?}");
    }

    #[test]
    fn unanswered_pairs_are_not_asked_for_again() {
        let claims = cities();
        let mut times = MutualTimes::default();
        for _ in 0..10 {
            for (a, b) in place_agents(&claims, &times).missing {
                times.insert(a, b, None);
            }
        }
        assert!(place_agents(&claims, &times).missing.is_empty());
    }
}
