//! Availability: which members of a region are dead, and which work, by what the members report.

use std::collections::BTreeSet;

use model::AgentId;
use region::detector::Liveness;
use region::relay::MemberReport;
use region::{Millis, View};

use super::region_leader::RegionLeader;

/// Age up to which a report counts: members report every 20 seconds, or when something happens.
const FRESH_MS: u64 = 60_000;

/// State of a region's members.
pub(super) struct Availability {
    /// The roster with its delegations.
    pub(super) view: View,
    /// Members that the others have replaced, that have no lease, and that do not sleep.
    pub(super) dead: BTreeSet<AgentId>,
    /// Members with a lease that the others have not replaced.
    pub(super) working: BTreeSet<AgentId>,
    /// Members that announced a sleep.
    pub(super) asleep: BTreeSet<AgentId>,
}

impl Availability {
    /// The state at a moment. The report of a single member proves neither that another one is dead
    /// nor that it does not work.
    pub(super) fn of(leader: &RegionLeader, now: Millis) -> Self {
        let view = leader.protocol.view().clone();
        let members: Vec<AgentId> = view.roster().agents.iter().map(|entry| entry.agent).collect();
        let reports: Vec<(AgentId, &MemberReport)> = fresh_reports(leader, &members, now);
        let replacing = |agent: AgentId| {
            let others = reports.iter().filter(|(other, _)| *other != agent);
            others.filter(|(_, report)| report.replaced.contains(&agent)).count()
        };
        let has_lease = |agent: AgentId| {
            reports.iter().any(|(other, report)| *other == agent && report.has_lease)
        };
        let is_replaced = |agent: AgentId| {
            let replacing = replacing(agent);
            let is_missed = leader.protocol.liveness(agent, now) == Liveness::Suspected;
            // A majority of the other members, and at least two witnesses, of which the coordinator
            // may be one. In a region of two, the coordinator must miss the member as well.
            2 * replacing > members.len() - 1 && replacing + usize::from(is_missed) >= 2
        };
        let sleeps = |agent: AgentId| leader.protocol.liveness(agent, now) == Liveness::Asleep;
        let is_dead =
            |agent: &AgentId| is_replaced(*agent) && !has_lease(*agent) && !sleeps(*agent);
        let works = |agent: &AgentId| !is_replaced(*agent) && has_lease(*agent);
        let asleep = leader.protocol.reports().iter().filter(|(_, report)| report.asleep);
        Self {
            dead: members.iter().copied().filter(is_dead).collect(),
            working: members.iter().copied().filter(works).collect(),
            asleep: asleep.map(|(agent, _)| *agent).collect(),
            view,
        }
    }

    /// Whether a member gets hosts of others.
    pub(super) fn may_fetch(&self, agent: AgentId) -> bool {
        !self.dead.contains(&agent) && !self.asleep.contains(&agent)
    }
}

fn fresh_reports<'s>(
    leader: &'s RegionLeader,
    members: &[AgentId],
    now: Millis,
) -> Vec<(AgentId, &'s MemberReport)> {
    let fresh = leader.reports.iter().filter(|(_, (at, _))| now.since(*at) <= FRESH_MS);
    let reports = fresh.map(|(agent, (_, report))| (*agent, report));
    reports.filter(|(agent, _)| members.contains(agent)).collect()
}

#[cfg(test)]
mod tests {
    use region::message::{Heartbeat, Message, SerialNumber};
    use region::roster::Version;

    use super::*;
    use crate::placement::regions::example;

    const START: Millis = Millis(1);
    /// When every member that was not heard is missed.
    const LATER: Millis = Millis(1_000_000);

    fn agent(number: u8) -> AgentId {
        AgentId::new(number.into())
    }

    /// What a member says of itself and of others.
    fn report(leader: &mut RegionLeader, from: u8, has_lease: bool, replaced: &[u8]) {
        let replaced = replaced.iter().copied().map(agent).collect();
        let report = MemberReport { has_lease, replaced, ..MemberReport::default() };
        leader.reports.insert(agent(from), (LATER, report));
    }

    fn heartbeat(leader: &mut RegionLeader, from: u8, sleep_ms: Option<u64>, at: Millis) {
        let version = Version { epoch: 1, delta: 0 };
        let number = SerialNumber { incarnation: 1, count: 1 };
        let heartbeat = Heartbeat { number, version, floor: version, sleep_ms };
        leader.protocol.handle(agent(from), Message::Heartbeat(heartbeat), at);
    }

    fn dead(leader: &RegionLeader) -> Vec<AgentId> {
        Availability::of(leader, LATER).dead.into_iter().collect()
    }

    fn works(leader: &RegionLeader, member: u8) -> bool {
        Availability::of(leader, LATER).working.contains(&agent(member))
    }

    #[test]
    fn in_a_region_of_two_a_member_is_dead_when_the_coordinator_misses_it_too() {
        let mut leader = example::leader(&[1, 2], 0);
        report(&mut leader, 1, true, &[2]);
        assert_eq!(dead(&leader), [agent(2)]);
        heartbeat(&mut leader, 2, None, LATER);
        assert_eq!(dead(&leader), []);
    }

    #[test]
    fn a_member_that_sleeps_is_not_dead() {
        let mut leader = example::leader(&[1, 2, 3], 0);
        heartbeat(&mut leader, 2, Some(LATER.0), START);
        report(&mut leader, 1, true, &[2]);
        report(&mut leader, 3, true, &[2]);
        assert_eq!(dead(&leader), []);
    }

    #[test]
    fn a_majority_that_replaced_a_member_is_believed() {
        let mut leader = example::leader(&[1, 2, 3], 0);
        heartbeat(&mut leader, 2, None, LATER);
        report(&mut leader, 1, true, &[2]);
        report(&mut leader, 3, true, &[]);
        assert_eq!(dead(&leader), []);
        report(&mut leader, 3, true, &[2]);
        assert_eq!(dead(&leader), [agent(2)]);
        report(&mut leader, 2, true, &[]);
        assert_eq!(dead(&leader), []);
        assert!(!works(&leader, 2), "its own word does not outweigh those of the others");
    }

    #[test]
    fn one_member_alone_does_not_say_that_another_one_does_not_work() {
        for members in [&[1, 2][..], &[1, 2, 3], &[1, 2, 3, 4]] {
            let mut leader = example::leader(members, 0);
            heartbeat(&mut leader, 2, None, LATER);
            report(&mut leader, 1, true, &[2]);
            report(&mut leader, 2, false, &[]);
            assert!(!works(&leader, 2), "it has no lease");
            report(&mut leader, 2, true, &[]);
            assert!(works(&leader, 2), "{members:?}");
        }
    }
}
