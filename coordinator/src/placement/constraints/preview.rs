//! What would move, and what that would cost.

use std::collections::{BTreeMap, BTreeSet};

use delegation::constraints::Correction;
use hierarchy::Range;
use model::AgentId;
use store::StoreError;
use store::delegations::{self, Standing};

use crate::placement::Placement;
use crate::placement::constraints::plan::Plan;
use crate::placement::load_snapshot::{LoadSnapshot, Times};
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// What would move.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preview {
    /// Subnet by subnet.
    pub shifts: Vec<Shift>,
    /// The agents concerned, by number.
    pub agents: Vec<Burden>,
}

/// A subnet that would change its agent.
#[derive(Debug, Clone, PartialEq)]
pub struct Shift {
    /// Which.
    pub subnet: Range,
    /// Who has it; none when nobody does.
    pub from: Option<AgentId>,
    /// Who would get it; none when a search decides.
    pub to: Option<AgentId>,
    /// Its hosts.
    pub hosts: u64,
    /// Its pages a day.
    pub pages_a_day: u64,
    /// What it costs, in milliseconds a day; none when that was not measured.
    pub before_ms: Option<f64>,
    /// What it would cost.
    pub after_ms: Option<f64>,
}

/// What an agent has and would have to do, in pages a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Burden {
    /// Who.
    pub agent: AgentId,
    /// Its name.
    pub name: String,
    /// What it can do.
    pub capacity: u64,
    /// What it has to do.
    pub before: u64,
    /// What it would have to do.
    pub after: u64,
}

/// The preview of a plan.
pub async fn of_plan(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    plan: &Plan,
) -> Result<Preview, StoreError> {
    let wanted = plan.iter().map(|(subnet, due)| {
        let to = match due {
            Correction::Assign { agent, .. } => Some(*agent),
            Correction::Reopen { .. } => None,
        };
        (delegated.hierarchy().subnet(*subnet).range(), to)
    });
    of(placement, delegated, &wanted.collect::<Vec<_>>()).await
}

/// The preview of subnets that go to other agents, or, with none, to whom a search finds. Who has
/// one already keeps it.
pub async fn of(
    placement: &Placement,
    delegated: &DelegatedHierarchy,
    wanted: &[(Range, Option<AgentId>)],
) -> Result<Preview, StoreError> {
    let subnets: Vec<Range> = wanted.iter().map(|(subnet, _)| *subnet).collect();
    let standing = delegations::standing(&placement.store, &subnets).await?;
    let times = Times::read(placement, &subnets).await?;
    let scales = LoadSnapshot::take(placement, delegated).await?;
    let shifts: Vec<Shift> = standing
        .iter()
        .zip(wanted)
        .map(|(standing, (_, to))| shift(standing, *to, &scales, &times))
        .collect();
    let agents = burdens(&shifts, &scales);
    Ok(Preview { shifts, agents })
}

fn shift(standing: &Standing, to: Option<AgentId>, scales: &LoadSnapshot, times: &Times) -> Shift {
    let subnet = standing.subnet;
    let pages_a_day = scales.load(&subnet);
    let held = standing.held.as_ref();
    let chosen = held.and_then(|held| held.rtt_us).map(|us| f64::from(us) / 1_000.0);
    let before = held.and_then(|held| times.ms(&subnet, held.agent).or(chosen));
    let from = held.map(|held| held.agent);
    let after = to.and_then(|to| times.ms(&subnet, to).or(chosen.filter(|_| from == Some(to))));
    let a_day = |ms: f64| ms * pages_a_day as f64;
    Shift {
        subnet,
        from,
        to,
        hosts: standing.hosts,
        pages_a_day,
        before_ms: before.map(a_day),
        after_ms: after.map(a_day),
    }
}

fn burdens(shifts: &[Shift], scales: &LoadSnapshot) -> Vec<Burden> {
    let concerned: BTreeSet<AgentId> =
        shifts.iter().flat_map(|shift| [shift.from, shift.to]).flatten().collect();
    let mut change: BTreeMap<AgentId, i128> = BTreeMap::new();
    for shift in shifts {
        let pages = i128::from(shift.pages_a_day);
        shift.from.into_iter().for_each(|from| *change.entry(from).or_default() -= pages);
        shift.to.into_iter().for_each(|to| *change.entry(to).or_default() += pages);
    }
    let weighed = concerned.into_iter().filter_map(|agent| scales.agent(agent));
    weighed
        .map(|weighed| {
            let agent = weighed.work.agent;
            let after = i128::from(weighed.load) + change.get(&agent).copied().unwrap_or(0);
            Burden {
                agent,
                name: weighed.work.name.clone(),
                capacity: weighed.capacity,
                before: weighed.load,
                after: u64::try_from(after).unwrap_or(0),
            }
        })
        .collect()
}
