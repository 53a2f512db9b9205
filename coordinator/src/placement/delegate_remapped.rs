//! Background task: finds agents for subnets that a new generation separated from delegated ones.
//!
//! Their hosts keep their present agent meanwhile, so that `open_searches`, which looks for hosts
//! without an agent, does not see them. The task walks through the hosts once after each remap, and
//! remembers what it found until that is delegated.
//!
//! An open search goes to the part of its subnet that has its target. If an agent has the subnet
//! provisionally, the other parts need searches of their own. Where nothing answers, they are
//! repeated after a week.

use std::collections::{BTreeSet, HashSet};

use delegation::target::RETRY_AFTER_MS;
use hierarchy::{Hierarchy, Range};
use model::{AgentId, HostId, PinId};
use store::{StoreError, delegations, hosts, searches};
use tokio::sync::Mutex;

use crate::placement::Placement;
use crate::placement::apply_constraints::{assign_pinned, targets_of};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;
use crate::search::open_searches::open;

/// Hosts that are read at once.
const BATCH: u32 = 5_000;
/// Searches that are opened in one run: others that wait for an agent want to be searched for, too.
const SEARCHES: usize = 1_000;

/// How far the walk through the hosts has come.
#[derive(Debug, Default)]
pub struct HostWalk(Mutex<Walk>);

impl HostWalk {
    /// Adds subnets without an agent to those that were found.
    pub async fn add(&self, subnets: impl Iterator<Item = Range>) {
        self.0.lock().await.found.extend(subnets);
    }
}

#[derive(Debug, Default)]
struct Walk {
    /// The remap that moved the hosts, by its number.
    remap: u64,
    /// The last host that was read.
    after: i64,
    is_complete: bool,
    /// The subnets that were found.
    found: BTreeSet<Range>,
}

/// Assigns each subnet without a delegation, in which an agent has hosts, to the agent that is
/// pinned there, or opens a search for it.
pub async fn run(placement: &Placement) -> Result<Outcome, anyhow::Error> {
    let Some(delegated) = placement.hierarchy.current() else { return Ok(Outcome::Idle) };
    let generation = delegated.hierarchy().generation();
    // Hosts are moved to the subnets of a new generation first.
    if !placement.hierarchy.is_remapped(generation) {
        return Ok(Outcome::Idle);
    }
    let mut walk = placement.host_walk.0.lock().await;
    let remap = placement.hierarchy.remaps();
    if walk.remap != remap {
        *walk = Walk { remap, ..Walk::default() };
    }
    if !walk.is_complete {
        walk.advance(placement, &delegated).await?;
    }
    walk.found.retain(|subnet| delegated.agent_of(subnet).is_none());
    // Each search of a silent subnet asks every agent.
    let silent_since = placement.clock.now().plus_ms(-RETRY_AFTER_MS.cast_signed());
    let provisional = searches::left_provisional(&placement.store, silent_since).await?;
    let changed = delegate(placement, delegated.hierarchy(), &walk.found).await?
        + search(placement, &provisional).await?;
    let done = format!("delegated or searched for {}", quantity(changed, "subnet"));
    Ok(match (walk.is_complete, changed) {
        (false, _) => Outcome::More(done),
        (true, 0) => Outcome::Idle,
        (true, _) => Outcome::Done(done),
    })
}

impl Walk {
    /// Reads the next hosts.
    async fn advance(
        &mut self,
        placement: &Placement,
        delegated: &DelegatedHierarchy,
    ) -> Result<(), StoreError> {
        let after = HostId::new(self.after);
        let (hosts, last) = hosts::delegated(&placement.store, after, BATCH).await?;
        self.is_complete = hosts.len() < BATCH as usize;
        self.after = last.map_or(self.after, HostId::get);
        for host in hosts {
            if delegated.agent_of(&host.subnet).is_none() {
                self.found.insert(host.subnet);
            }
        }
        Ok(())
    }
}

/// Assigns or opens searches, for a subnet in which nothing answered once an hour. Returns the
/// number of subnets for which either was done.
async fn delegate(
    placement: &Placement,
    hierarchy: &Hierarchy,
    found: &BTreeSet<Range>,
) -> Result<u64, anyhow::Error> {
    if found.is_empty() {
        return Ok(0);
    }
    // The table in memory may lack what another coordinator has just decided.
    let ranges: Vec<Range> = found.iter().copied().collect();
    let states = delegations::subnet_states(&placement.store, &ranges).await?;
    let held: HashSet<Range> =
        states.iter().filter(|state| state.held.is_some()).map(|state| state.subnet).collect();
    let constraints = current_constraints(&placement.store, placement.clock.now()).await?;
    let mut pinned: Vec<(Range, PinId, AgentId)> = Vec::new();
    let mut searched: Vec<Range> = Vec::new();
    for range in found.iter().filter(|range| !held.contains(range)) {
        let Some(subnet) = hierarchy.find_delegable(range) else { continue };
        match constraints.pin(hierarchy, subnet) {
            Some(pin) => pinned.push((*range, pin.id, pin.agent)),
            None => searched.push(*range),
        }
    }
    let assigned = assign_pinned(placement, &pinned).await?.done;
    Ok(assigned + search(placement, &searched).await?)
}

/// Opens searches for subnets with hosts.
async fn search(placement: &Placement, subnets: &[Range]) -> Result<u64, StoreError> {
    if subnets.is_empty() {
        return Ok(0);
    }
    let mut targets = targets_of(placement, subnets).await?;
    targets.truncate(SEARCHES);
    open(&placement.search, targets).await
}
