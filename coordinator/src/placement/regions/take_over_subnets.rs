//! Background task: takes the takeovers of regions over into the delegations.
//!
//! When a member is dead, the others fetch its hosts, with or without the coordinator. Once a
//! majority of them reports this, each subnet of the dead member with hosts is delegated to the
//! member that fetches most of these, so that URLs are routed there. When the dead member works
//! again, it gets its subnets back, and the region returns the hosts.

use std::collections::{BTreeMap, HashSet};

use delegation::{Constraints, Delegation};
use hierarchy::Range;
use model::{AgentId, DelegationId, HostId};
use region::{HostAtAddress, HostPosition};
use store::takeovers::{self, Direction, HeldHost, Transfer};
use store::{StoreError, Term, drains};

use super::availability::Availability;
use super::calls::CallError;
use super::{Regions, is_deposed};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::elapsed_clock;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts of one dead member, or subnets that return, in one run.
const BATCH: u32 = 200;

/// Delegates subnets of dead members to those that fetch their hosts, and subnets of members that
/// returned to these. A leader that was deposed does nothing more.
pub async fn run(regions: &Regions) -> Result<Outcome, anyhow::Error> {
    if !regions.rules.enabled {
        return Ok(Outcome::Idle);
    }
    match transfer_all(regions).await {
        Err(error) if is_deposed(&error) => Ok(Outcome::Idle),
        outcome => outcome,
    }
}

async fn transfer_all(regions: &Regions) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = regions.hierarchy.current() else { return Ok(Outcome::Idle) };
    let drains = drains::list(&regions.store).await?;
    let drained: HashSet<AgentId> = drains.iter().map(|drain| drain.agent).collect();
    let constraints = current_constraints(&regions.store, regions.now()).await?;
    let may_have = |subnet: &Range, agent| may_have(&delegated, &constraints, subnet, agent);
    let mut taken = 0;
    let mut returned = 0;
    let (term, availabilities) = availabilities(regions).await?;
    for availability in availabilities {
        for dead in &availability.dead {
            for transfer in next_transfers(regions, *dead, &availability, may_have).await? {
                taken += u64::from(execute(regions, term, &transfer, Direction::Takeover).await?);
            }
        }
        // A drained agent gets nothing back: its subnets stay where they are.
        let working = availability.working.iter().filter(|agent| !drained.contains(agent));
        let working: Vec<AgentId> = working.copied().collect();
        for transfer in next_returns(regions, &working, may_have).await? {
            returned += u64::from(execute(regions, term, &transfer, Direction::Return).await?);
        }
    }
    let done = format!(
        "took {} over and gave {} back",
        quantity(taken, "subnet"),
        quantity(returned, "subnet")
    );
    // A batch of hosts may be that of a few subnets: only a run that does nothing is the last.
    Ok(if taken + returned == 0 { Outcome::Idle } else { Outcome::More(done) })
}

/// What the members of each region can do, as the leader of this term knows.
async fn availabilities(regions: &Regions) -> Result<(Term, Vec<Availability>), CallError> {
    let mut leaders = regions.leaders().await?;
    let now = elapsed_clock::now();
    let term = leaders.term;
    let leaders = leaders.by_region.iter_mut().flatten();
    Ok((term, leaders.map(|(_, leader)| Availability::of(leader, now)).collect()))
}

/// Whether no admin excludes the agent from the subnet.
fn may_have(
    delegated: &DelegatedHierarchy,
    constraints: &Constraints,
    subnet: &Range,
    agent: AgentId,
) -> bool {
    let hierarchy = delegated.hierarchy();
    let found = hierarchy.find(subnet);
    found.is_none_or(|subnet| constraints.exclusion(hierarchy, subnet, agent).is_none())
}

/// The next subnets of a dead member that others take over. Hosts that no other member may have,
/// because all are excluded, are skipped.
async fn next_transfers(
    regions: &Regions,
    dead: AgentId,
    availability: &Availability,
    may_have: impl Fn(&Range, AgentId) -> bool,
) -> Result<Vec<Transfer>, StoreError> {
    let mut after = HostId::new(0);
    loop {
        let hosts = takeovers::hosts_of_agent(&regions.store, dead, after, BATCH).await?;
        let found = transfers(dead, &hosts, availability, &may_have);
        match hosts.last() {
            Some(last) if found.is_empty() => after = last.id,
            _ => return Ok(found),
        }
    }
}

/// The next subnets that go back to members from which they were taken over. Those that their
/// former agents may not have stay where they are.
async fn next_returns(
    regions: &Regions,
    working: &[AgentId],
    may_have: impl Fn(&Range, AgentId) -> bool,
) -> Result<Vec<Transfer>, StoreError> {
    let mut after = DelegationId::new(0);
    loop {
        let taken = takeovers::to_return(&regions.store, working, after, BATCH).await?;
        let Some((last, _)) = taken.last() else { return Ok(Vec::new()) };
        after = *last;
        let mut found: Vec<Transfer> = taken.into_iter().map(|(_, transfer)| transfer).collect();
        found.retain(|transfer| may_have(&transfer.subnet, transfer.to));
        if !found.is_empty() {
            return Ok(found);
        }
    }
}

/// For each subnet the member that has most of its hosts by the region's order. Members that may
/// not have the subnet are left out of it.
fn transfers(
    dead: AgentId,
    hosts: &[HeldHost],
    availability: &Availability,
    may_have: impl Fn(&Range, AgentId) -> bool,
) -> Vec<Transfer> {
    let mut votes: BTreeMap<(Range, i64), BTreeMap<AgentId, u32>> = BTreeMap::new();
    for host in hosts {
        let position = HostPosition::of(&host.host_key);
        let placed = HostAtAddress { position, address: host.address };
        let is_able =
            |agent: &AgentId| availability.may_fetch(*agent) && may_have(&host.subnet, *agent);
        let owner = availability.view.owner(placed, is_able);
        if let Some(owner) = owner.filter(|owner| *owner != dead) {
            let of_subnet = votes.entry((host.subnet, host.fencing_number)).or_default();
            *of_subnet.entry(owner).or_default() += 1;
        }
    }
    let most = |votes: BTreeMap<AgentId, u32>| votes.into_iter().max_by_key(|(_, votes)| *votes);
    let transfer = |((subnet, fencing_number), votes)| {
        let (to, _) = most(votes)?;
        Some(Transfer { subnet, fencing_number, from: dead, to })
    };
    votes.into_iter().filter_map(transfer).collect()
}

/// Executes a transfer, enters it in the delegation table and notifies the agents. Returns whether
/// the subnet changed its agent.
async fn execute(
    regions: &Regions,
    term: Term,
    transfer: &Transfer,
    direction: Direction,
) -> Result<bool, CallError> {
    let _writing = regions.hierarchy.writing().await;
    let now = regions.now();
    let made = takeovers::execute(&regions.store, term, transfer, direction, now).await;
    let Some(reason) = regions.fenced(term, made)? else { return Ok(false) };
    let delegation = Delegation { agent: transfer.to, reason };
    regions.hierarchy.enter(&transfer.subnet, Some(delegation));
    regions.agent_wakeups.wake([transfer.from, transfer.to]);
    // The region hears of it as of any other change.
    regions.events.emit(Event::DelegationsChanged);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use region::View;

    use super::*;
    use crate::placement::regions::example;

    const DEAD: AgentId = AgentId::new(1);

    /// A region of three agents of which the first is dead.
    fn availability() -> Availability {
        Availability {
            view: View::open(&example::key().public(), example::roster(&[1, 2, 3])).unwrap(),
            dead: BTreeSet::from([DEAD]),
            working: BTreeSet::from([AgentId::new(2), AgentId::new(3)]),
            asleep: BTreeSet::new(),
        }
    }

    #[test]
    fn an_excluded_member_takes_no_subnet_over() {
        let hosts = [HeldHost {
            id: HostId::new(1),
            subnet: "10.0.0.0/24".parse().unwrap(),
            fencing_number: 1,
            host_key: "http://a.example".into(),
            address: [10, 0, 0, 1].into(),
        }];
        let to = |may_have: &dyn Fn(AgentId) -> bool| {
            let found = transfers(DEAD, &hosts, &availability(), |_, agent| may_have(agent));
            found.first().map(|transfer| transfer.to)
        };
        let first = to(&|_| true).unwrap();
        let other = to(&|agent| agent != first).unwrap();
        assert!(other != first && other != DEAD, "{other}");
        assert_eq!(to(&|_| false), None);
    }
}
