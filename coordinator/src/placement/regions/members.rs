//! Which agents form which region, and what the next roster of a region says.

use std::collections::{BTreeMap, BTreeSet};

use model::{AgentId, RegionId};
use region::Coordinator;
use region::delegations::{Delegate, Range};
use region::roster::{Mode, Roster, RosterAgent, voters_may_change};
use store::regions::Candidate;

/// Pages a day for one unit of weight on the ring.
const PAGES_OF_WEIGHT: u32 = 10_000;
/// Largest weight: a region of 100 such agents needs 2 million points with 200 replicas.
const MOST_WEIGHT: u32 = 100;
/// Fewest agents of a region: a single one has no other to share with.
pub(super) const FEWEST: usize = 2;

/// What all rosters of an installation have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct Parameters {
    pub(super) mode: Mode,
    /// *k* of UbiCrawler.
    pub(super) replicas: u16,
    /// *t* of UbiCrawler.
    pub(super) recovery: u8,
}

/// Agents by the name of their region: the label that the owner gave, else the region where the
/// agent is, else the registry of its home subnet.
pub(super) fn groups<'c>(
    candidates: &'c [Candidate],
    names: &BTreeMap<RegionId, String>,
    registry: impl Fn(&Candidate) -> Option<String>,
) -> BTreeMap<String, Vec<&'c Candidate>> {
    let mut groups: BTreeMap<String, Vec<&Candidate>> = BTreeMap::new();
    for candidate in candidates {
        // A member stays where it is: it may hold a loan of that region's hosts.
        let present = candidate.region.and_then(|region| names.get(&region).cloned());
        let name = present.or_else(|| candidate.label.clone()).or_else(|| registry(candidate));
        if let Some(name) = name {
            groups.entry(name).or_default().push(candidate);
        }
    }
    groups
}

/// The first roster of a region; none while it has too few agents.
pub(super) fn first_roster(
    region: RegionId,
    parameters: Parameters,
    agents: &[&Candidate],
) -> Option<Roster> {
    (agents.len() >= FEWEST).then(|| Roster {
        region,
        epoch: 1,
        voters_since: 1,
        mode: parameters.mode,
        replicas: parameters.replicas,
        recovery: parameters.recovery,
        agents: agents.iter().map(|agent| entry(agent)).collect(),
        delegations: Vec::new(),
    })
}

/// The roster after `protocol`'s, where the agents or their properties are others; none where
/// nothing is to be changed or may be changed. Agents come and go one at a time.
pub(super) fn next_roster(
    protocol: &Coordinator,
    agents: &[&Candidate],
    settled: bool,
) -> Option<Roster> {
    let present = protocol.view().roster();
    let wanted: BTreeMap<AgentId, RosterAgent> =
        agents.iter().map(|agent| (agent.agent, entry(agent))).collect();
    let mut members: BTreeSet<AgentId> = present.agents.iter().map(|entry| entry.agent).collect();
    let came = wanted.keys().find(|agent| !members.contains(agent)).copied();
    let left = members.iter().find(|agent| !wanted.contains_key(agent)).copied();
    match (left, came) {
        (Some(agent), _) if members.len() > FEWEST => members.remove(&agent),
        (_, Some(agent)) => members.insert(agent),
        _ => false,
    };
    if !voters_may_change(present, &members, &protocol.floors(), settled) {
        members = present.agents.iter().map(|entry| entry.agent).collect();
    }
    let entries = members
        .iter()
        .filter_map(|agent| wanted.get(agent).cloned().or_else(|| present.agent(*agent).cloned()));
    let entries: Vec<RosterAgent> = entries.collect();
    let is_same = entries == present.agents;
    let same_voters = members == present.agents.iter().map(|entry| entry.agent).collect();
    let epoch = present.epoch + 1;
    (!is_same).then(|| Roster {
        epoch,
        voters_since: if same_voters { present.voters_since } else { epoch },
        agents: entries,
        delegations: Vec::new(),
        ..present.clone()
    })
}

/// Ranges of agents in the roster.
pub(super) fn listed(roster: &Roster, ranges: Vec<(Range, Delegate)>) -> Vec<(Range, Delegate)> {
    let is_listed = |delegate: Delegate| match delegate {
        Delegate::Agent(agent) => roster.agent(agent).is_some(),
        Delegate::Spread => true,
    };
    ranges.into_iter().filter(|(_, delegate)| is_listed(*delegate)).collect()
}

fn entry(candidate: &Candidate) -> RosterAgent {
    let weight = (candidate.capacity_pages_per_day / PAGES_OF_WEIGHT).clamp(1, MOST_WEIGHT);
    RosterAgent {
        agent: candidate.agent,
        key: candidate.key,
        weight: u16::try_from(weight).unwrap_or(1),
        addresses: candidate.addresses.clone(),
    }
}
