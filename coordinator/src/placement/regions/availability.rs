//! Availability: which members of a region are dead, and which work, by what the members report.

use std::collections::BTreeSet;

use model::AgentId;
use region::relay::MemberReport;
use region::{Millis, View};

use super::seat::LeaderState;

/// Age up to which a report counts: members report every 20 seconds, or when something happens.
const FRESH_MS: u64 = 60_000;

/// State of a region's members.
pub(super) struct Availability {
    /// The roster with its delegations.
    pub(super) view: View,
    /// Members that a majority of the others has replaced, and that have no lease themselves.
    pub(super) dead: BTreeSet<AgentId>,
    /// Members with a lease, which nobody has replaced.
    pub(super) working: BTreeSet<AgentId>,
    /// Members that announced a sleep.
    pub(super) asleep: BTreeSet<AgentId>,
}

impl Availability {
    /// The state at a moment. No member is believed alone: neither that another one is dead, nor,
    /// while the others have replaced it, that it works.
    pub(super) fn of(seat: &LeaderState, now: Millis) -> Self {
        let view = seat.machine.view().clone();
        let members: Vec<AgentId> = view.roster().agents.iter().map(|entry| entry.agent).collect();
        let reports: Vec<(AgentId, &MemberReport)> = fresh_reports(seat, &members, now);
        let replacing = |agent: AgentId| {
            let others = reports.iter().filter(|(other, _)| *other != agent);
            others.filter(|(_, report)| report.replaced.contains(&agent)).count()
        };
        let has_lease = |agent: AgentId| {
            reports.iter().any(|(other, report)| *other == agent && report.has_lease)
        };
        let is_dead =
            |agent: &AgentId| 2 * replacing(*agent) > members.len() - 1 && !has_lease(*agent);
        let works = |agent: &AgentId| replacing(*agent) == 0 && has_lease(*agent);
        let asleep = seat.machine.reports().iter().filter(|(_, report)| report.asleep);
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
    seat: &'s LeaderState,
    members: &[AgentId],
    now: Millis,
) -> Vec<(AgentId, &'s MemberReport)> {
    let fresh = seat.reports.iter().filter(|(_, (at, _))| now.since(*at) <= FRESH_MS);
    let reports = fresh.map(|(agent, (_, report))| (*agent, report));
    reports.filter(|(agent, _)| members.contains(agent)).collect()
}
