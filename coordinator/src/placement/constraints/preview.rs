//! Preview: the subnets that a request would move, with loads and costs before and after.

use std::collections::BTreeMap;

use delegation::constraints::Correction;
use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::delegations::{self, SubnetState};
use store::regions::Loans;

use crate::placement::Placement;
use crate::placement::constraints::plan::ConstraintPlan;
use crate::placement::load_snapshot::{LoadSnapshot, MoveFacts};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preview {
    pub changes: Vec<SubnetChange>,
    /// The agents that give or get a subnet, by number.
    pub agents: Vec<AgentChange>,
    /// Number of subnets that stay with their agents, because a loan keeps them in their region.
    pub lent: usize,
}

/// A subnet that would change its agent.
#[derive(Debug, Clone, PartialEq)]
pub struct SubnetChange {
    pub subnet: Range,
    /// `None` when no agent has it.
    pub from: Option<AgentId>,
    /// `None` when a search decides.
    pub to: Option<AgentId>,
    pub hosts: u64,
    pub pages_a_day: u64,
    /// Round trips of a day in milliseconds; `None` when the agent has not measured the subnet.
    pub before_ms: Option<f64>,
    /// The same with the new agent.
    pub after_ms: Option<f64>,
}

/// Capacity and loads of an agent, in pages a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentChange {
    pub agent: AgentId,
    pub name: String,
    pub capacity: u64,
    pub before: u64,
    pub after: u64,
}

/// Previews the corrections of a plan.
pub async fn preview_plan(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    plan: &ConstraintPlan,
) -> Result<Preview, StoreError> {
    let moves: Vec<(Range, Option<AgentId>)> = plan
        .iter()
        .map(|(subnet, correction)| {
            let to = match correction {
                Correction::Assign { agent, .. } => Some(*agent),
                Correction::Reopen { .. } => None,
            };
            (delegated.hierarchy().subnet(*subnet).range(), to)
        })
        .collect();
    preview_moves(placement, delegated, &moves).await
}

/// Previews moves of subnets to other agents; `None` means the agent that a search will find.
pub async fn preview_moves(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    moves: &[(Range, Option<AgentId>)],
) -> Result<Preview, StoreError> {
    let subnets: Vec<Range> = moves.iter().map(|(subnet, _)| *subnet).collect();
    let (states, hosts, facts, loans) = tokio::try_join!(
        delegations::subnet_states(&placement.store, &subnets),
        delegations::host_counts(&placement.store, &subnets),
        MoveFacts::read(placement, delegated, &subnets),
        Loans::read(&placement.store, placement.clock.now()),
    )?;
    let is_lent = |state: &SubnetState, to: Option<AgentId>| {
        to.is_some_and(|to| state.is_kept_from(to, &loans))
    };
    let subnets = states.iter().zip(&hosts).zip(moves.iter().map(|(_, to)| *to));
    let (lent, moving): (Vec<_>, Vec<_>) =
        subnets.partition(|((state, _), to)| is_lent(state, *to));
    Ok(Preview { lent: lent.len(), ..preview_of(moving, &facts) })
}

/// The preview of moves of these subnets, each with its number of hosts, to other agents.
pub fn preview_of<'s>(
    subnets: impl IntoIterator<Item = ((&'s SubnetState, &'s u64), Option<AgentId>)>,
    facts: &MoveFacts,
) -> Preview {
    let changes: Vec<SubnetChange> = subnets
        .into_iter()
        .map(|((state, hosts), to)| subnet_change(state, *hosts, to, facts))
        .collect();
    let agents = agent_changes(&changes, &facts.snapshot);
    Preview { changes, agents, lent: 0 }
}

fn subnet_change(
    state: &SubnetState,
    hosts: u64,
    to: Option<AgentId>,
    facts: &MoveFacts,
) -> SubnetChange {
    let subnet = state.subnet;
    let held = state.held.as_ref();
    let from = held.map(|held| held.agent);
    // The round trip stored with the delegation is known even after the answers were deleted.
    let decided_ms = held.and_then(|held| held.rtt_us).map(|us| f64::from(us) / 1_000.0);
    let measured_ms = |agent: AgentId| {
        facts.times.ms(&subnet, agent).or(decided_ms.filter(|_| from == Some(agent)))
    };
    let pages_a_day = facts.loads.pages_a_day(&subnet);
    let a_day = |ms: f64| ms * pages_a_day as f64;
    SubnetChange {
        subnet,
        from,
        to,
        hosts,
        pages_a_day,
        before_ms: from.and_then(measured_ms).map(a_day),
        after_ms: to.and_then(measured_ms).map(a_day),
    }
}

fn agent_changes(changes: &[SubnetChange], snapshot: &LoadSnapshot) -> Vec<AgentChange> {
    let mut difference: BTreeMap<AgentId, i128> = BTreeMap::new();
    for change in changes {
        let pages = i128::from(change.pages_a_day);
        if let Some(from) = change.from {
            *difference.entry(from).or_default() -= pages;
        }
        if let Some(to) = change.to {
            *difference.entry(to).or_default() += pages;
        }
    }
    difference
        .into_iter()
        .filter_map(|(agent, pages)| {
            let load = snapshot.agent(agent)?;
            Some(AgentChange {
                agent,
                name: load.work.name.clone(),
                capacity: load.capacity,
                before: load.load,
                after: u64::try_from(i128::from(load.load) + pages).unwrap_or(0),
            })
        })
        .collect()
}
