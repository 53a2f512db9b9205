//! State of regions for people: the API and the dashboard show it.

use std::collections::BTreeMap;

use model::{AgentId, RegionId, UnixMillis};
use region::Millis;
use region::delegations::Delegate;
use region::relay::MemberReport;
use region::roster::{Mode, Version};
use serde::Serialize;
use utoipa::ToSchema;

use super::calls::CallError;
use super::region_leader::{Now, RegionLeader};
use super::{Regions, availability::Availability};

/// One region with its members.
#[derive(Debug, Clone)]
pub struct RegionState {
    pub id: RegionId,
    pub name: String,
    pub version: Version,
    pub mode: Mode,
    /// Replicas of an agent for each unit of weight.
    pub replicas: u16,
    /// Agents that know a host in addition to its owner.
    pub recovery: u8,
    /// Ranges of addresses that are the region's.
    pub ranges: u64,
    /// End of the loan of its hosts.
    pub lent_until: UnixMillis,
    pub members: Vec<MemberState>,
}

/// One member of a region.
#[derive(Debug, Clone)]
pub struct MemberState {
    pub agent: AgentId,
    pub weight: u16,
    /// Share of the ring, from 0 to 1.
    pub ring_share: f64,
    /// Ranges of addresses that are delegated to it.
    pub ranges: u64,
    /// Whether it accepts connections of peers.
    pub listens: bool,
    pub activity: MemberActivity,
    /// Time of its last heartbeat; none since the coordinator started.
    pub heard_at: Option<UnixMillis>,
    /// Version of the roster that it knows; none before its first heartbeat.
    pub version: Option<Version>,
    /// Its last report; none since the coordinator started.
    pub report: Option<MemberReport>,
}

/// What a member does as far as the coordinator knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemberActivity {
    /// Its heartbeats arrive.
    Alive,
    /// Its heartbeats stay away.
    Suspected,
    /// It is outside its spans.
    Asleep,
    /// It is dead: a majority of the others fetches its hosts.
    Replaced,
}

impl Regions {
    /// All regions that have members or keep subnets, the oldest first. Only the leader knows them.
    pub async fn states(&self) -> Result<Vec<RegionState>, CallError> {
        let now = self.both_clocks();
        let mut leaders = self.leaders().await?;
        let all = leaders.by_region.iter_mut().flatten().filter(|(_, leader)| !leader.is_dissolved);
        Ok(all.map(|(id, leader)| state(*id, leader, now)).collect())
    }
}

fn state(id: RegionId, leader: &RegionLeader, now: Now) -> RegionState {
    let view = leader.protocol.view();
    let roster = view.roster();
    let availability = Availability::of(leader, now.elapsed);
    let shares: BTreeMap<AgentId, f64> = view.ring().shares().into_iter().collect();
    let ranges = ranges_by_agent(leader);
    let member = |entry: &region::roster::RosterAgent| {
        let agent = entry.agent;
        let heard = leader.protocol.reports().get(&agent);
        MemberState {
            agent,
            weight: entry.weight,
            ring_share: shares.get(&agent).copied().unwrap_or(0.0),
            ranges: ranges.get(&agent).copied().unwrap_or(0),
            listens: !entry.addresses.is_empty(),
            activity: activity(leader, &availability, agent, now.elapsed),
            heard_at: heard.map(|report| now.wall_at_past(report.at)),
            version: heard.map(|report| report.version),
            report: leader.reports.get(&agent).map(|(_, report)| report.clone()),
        }
    };
    RegionState {
        id,
        name: leader.name.clone(),
        version: view.version(),
        mode: roster.mode,
        replicas: roster.replicas,
        recovery: roster.recovery,
        ranges: view.delegations().iter().count() as u64,
        lent_until: now.wall_at(leader.protocol.lender().until()),
        members: roster.agents.iter().map(member).collect(),
    }
}

fn ranges_by_agent(leader: &RegionLeader) -> BTreeMap<AgentId, u64> {
    let mut ranges: BTreeMap<AgentId, u64> = BTreeMap::new();
    for (_, delegate) in leader.protocol.view().delegations().iter() {
        if let Delegate::Agent(agent) = delegate {
            *ranges.entry(agent).or_default() += 1;
        }
    }
    ranges
}

fn activity(
    leader: &RegionLeader,
    availability: &Availability,
    agent: AgentId,
    now: Millis,
) -> MemberActivity {
    let heard = leader.protocol.reports().get(&agent);
    let is_recent = heard.is_some_and(|report| now.since(report.at) <= leader.settings.suspect_ms);
    if availability.dead.contains(&agent) {
        MemberActivity::Replaced
    } else if heard.is_some_and(|report| report.asleep) {
        MemberActivity::Asleep
    } else if is_recent {
        MemberActivity::Alive
    } else {
        MemberActivity::Suspected
    }
}
