//! Moves: which subnets of a region may go from one member to another while its hosts are lent.
//!
//! While a region has a loan, the coordinator hands none of its hosts over. The region moves them
//! itself when it gets the new delegation. That is safe only among members that know the subnet as
//! the region's: a member that does not know it yet takes the hosts of the subnet for its own, and
//! fetches them without a lease of the region.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use model::{AgentId, RegionId};

use crate::delegations::Range;
use crate::roster::Version;

/// How a subnet may leave the agent that has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoveRule {
    /// The agent is in no region: the coordinator hands the hosts over.
    Free,
    /// It may not yet: a member does not know that the subnet is the region's.
    Wait,
    /// It may go to members of this region.
    Within(RegionId),
}

/// The subnets of a region, each with its agent and the first version that says so.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ListedSubnets(HashMap<Range, (AgentId, Version)>);

impl ListedSubnets {
    /// The subnets that `version` lists. Those that were listed with the same agent before keep
    /// their version.
    #[must_use]
    pub fn updated(
        &self,
        listed: impl Iterator<Item = (Range, AgentId)>,
        version: Version,
    ) -> Self {
        let since = |(subnet, agent)| match self.0.get(&subnet) {
            Some((before, since)) if *before == agent => (subnet, (agent, *since)),
            _ => (subnet, (agent, version)),
        };
        Self(listed.map(since).collect())
    }
}

/// What the coordinator knows of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KnownMember {
    /// Version that it reported last; none before its first report.
    pub version: Option<Version>,
    /// Whether its reports arrive.
    pub is_alive: bool,
}

/// One region, as far as moves are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionSubnets {
    /// Agents of the present roster.
    pub members: BTreeMap<AgentId, KnownMember>,
    /// Shared, because a region may have millions of subnets.
    pub listed: Arc<ListedSubnets>,
}

/// All regions that have a coordinator now.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RegionMoves(BTreeMap<RegionId, RegionSubnets>);

impl RegionMoves {
    /// The moves within these regions.
    pub fn new(regions: impl IntoIterator<Item = (RegionId, RegionSubnets)>) -> Self {
        Self(regions.into_iter().collect())
    }

    /// How the subnet may leave `holder`.
    pub fn rule(&self, subnet: Range, holder: AgentId) -> MoveRule {
        let Some((region, subnets)) = self.region_of(holder) else { return MoveRule::Free };
        match subnets.version_of(subnet, holder) {
            Some(since) if subnets.all_know(holder, since) => MoveRule::Within(region),
            _ => MoveRule::Wait,
        }
    }

    /// Whether `agent` may get the subnet of `holder`.
    pub fn allows(&self, subnet: Range, holder: AgentId, agent: AgentId) -> bool {
        agent == holder
            || match self.rule(subnet, holder) {
                MoveRule::Free => true,
                MoveRule::Wait => false,
                MoveRule::Within(region) => self.takes(region, subnet, holder, agent),
            }
    }

    /// The member whose region moves the subnet to `agent` by itself; none where the coordinator
    /// hands it over, or where a loan forbids the move.
    pub fn mover(&self, subnet: Range, holder: AgentId, agent: AgentId) -> Option<AgentId> {
        let is_within = matches!(self.rule(subnet, holder), MoveRule::Within(_));
        let is_moved = agent != holder && is_within && self.allows(subnet, holder, agent);
        is_moved.then_some(holder)
    }

    /// Whether `agent` is a member of the region, and knows that the subnet is the region's.
    fn takes(&self, region: RegionId, subnet: Range, holder: AgentId, agent: AgentId) -> bool {
        let Some(subnets) = self.0.get(&region) else { return false };
        let version = subnets.members.get(&agent).and_then(|member| member.version);
        version.is_some() && version >= subnets.version_of(subnet, holder)
    }

    fn region_of(&self, agent: AgentId) -> Option<(RegionId, &RegionSubnets)> {
        let mut regions = self.0.iter();
        let (region, subnets) = regions.find(|(_, region)| region.members.contains_key(&agent))?;
        Some((*region, subnets))
    }
}

impl RegionSubnets {
    fn version_of(&self, subnet: Range, holder: AgentId) -> Option<Version> {
        let (agent, since) = self.listed.0.get(&subnet)?;
        (*agent == holder).then_some(*since)
    }

    /// Whether the holder and all members that are alive know the version. Members that are dead
    /// are not waited for: they get nothing, and ask for the present version when they return.
    fn all_know(&self, holder: AgentId, version: Version) -> bool {
        let mut asked =
            self.members.iter().filter(|(agent, known)| known.is_alive || **agent == holder);
        asked.all(|(_, known)| known.version.is_some_and(|known| known >= version))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: AgentId = AgentId::new(1);
    const B: AgentId = AgentId::new(2);
    const C: AgentId = AgentId::new(3);
    const STRANGER: AgentId = AgentId::new(9);
    const REGION: RegionId = RegionId::new(1);

    fn subnet(number: u8) -> Range {
        Range { first: [10, number, 0, 0].into(), last: [10, number, 255, 255].into() }
    }

    fn version(delta: u64) -> Version {
        Version { epoch: 4, delta }
    }

    fn knows(delta: u64) -> KnownMember {
        KnownMember { version: Some(version(delta)), is_alive: true }
    }

    /// A has subnet 1 since delta 3, B has subnet 2 since delta 5.
    fn moves(members: [(AgentId, KnownMember); 3]) -> RegionMoves {
        let first = ListedSubnets::default().updated([(subnet(1), A)].into_iter(), version(3));
        let both = [(subnet(1), A), (subnet(2), B)];
        let listed = Arc::new(first.updated(both.into_iter(), version(5)));
        let members = members.into_iter().collect();
        RegionMoves::new([(REGION, RegionSubnets { members, listed })])
    }

    #[test]
    fn subnets_move_among_members_that_know_them() {
        let moves = moves([(A, knows(3)), (B, knows(4)), (C, knows(5))]);
        assert_eq!(moves.rule(subnet(1), A), MoveRule::Within(REGION));
        assert!(moves.allows(subnet(1), A, B) && moves.allows(subnet(1), A, C));
        assert!(!moves.allows(subnet(1), A, STRANGER));
    }

    #[test]
    fn a_subnet_that_a_member_does_not_know_waits() {
        let moves = moves([(A, knows(3)), (B, knows(5)), (C, knows(5))]);
        assert_eq!(moves.rule(subnet(2), B), MoveRule::Wait);
        assert!(!moves.allows(subnet(2), B, C));
        assert!(moves.allows(subnet(2), B, B));
        let unlisted = subnet(7);
        assert_eq!(moves.rule(unlisted, A), MoveRule::Wait);
        // Listed with another agent: the present delegation was not published yet.
        assert_eq!(moves.rule(subnet(1), B), MoveRule::Wait);
    }

    #[test]
    fn dead_members_are_not_waited_for_and_get_nothing_new() {
        let dead = KnownMember { version: Some(version(4)), is_alive: false };
        let moves = moves([(A, dead), (B, knows(5)), (C, knows(6))]);
        assert!(moves.allows(subnet(2), B, C));
        assert!(!moves.allows(subnet(2), B, A));
        // The dead holder itself knew its subnet.
        assert!(moves.allows(subnet(1), A, C));
    }

    #[test]
    fn a_member_that_never_reported_gets_nothing() {
        let silent = KnownMember { version: None, is_alive: false };
        let moves = moves([(A, knows(5)), (B, knows(5)), (C, silent)]);
        assert!(!moves.allows(subnet(1), A, C));
        assert!(moves.allows(subnet(1), A, B));
    }

    #[test]
    fn agents_outside_regions_are_free() {
        let moves = moves([(A, knows(5)), (B, knows(5)), (C, knows(5))]);
        assert_eq!(moves.rule(subnet(3), STRANGER), MoveRule::Free);
        assert!(moves.allows(subnet(3), STRANGER, A));
        assert!(RegionMoves::default().allows(subnet(1), A, STRANGER));
    }

    #[test]
    fn a_subnet_that_changes_its_agent_is_listed_anew() {
        let first = ListedSubnets::default().updated([(subnet(1), A)].into_iter(), version(3));
        let next = first.updated([(subnet(1), B)].into_iter(), version(4));
        assert_eq!(next.0.get(&subnet(1)), Some(&(B, version(4))));
    }
}
