//! What is delegated, as an instance of the balance problem.

use std::collections::{HashMap, HashSet};

use delegation::balance::{
    AgentCost, AssignmentProblem, CostSource, Expectation, InvalidProblem, Plan, Subnet,
    agent_costs,
};
use delegation::{Constraints, ProbeOutcome, TrailProbe};
use hierarchy::{Range, SubnetId};
use model::{AgentId, Reason};
use store::StoreError;
use store::delegations::{self, Held};
use store::loads::Answer;

use crate::placement::Placement;
use crate::placement::load_snapshot::{LoadSnapshot, Times};
use crate::predictor::{Insight, Lesson};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;

/// Agents whose time is predicted for a subnet, the nearest ones.
const PREDICTED: usize = 8;

/// Everything that may be moved, numbered, and the way back from the numbers.
pub struct Scene {
    /// Loads, capacities and costs.
    pub instance: AssignmentProblem,
    /// Who has what now.
    pub plan: Plan,
    /// Agents by number.
    pub agents: Vec<AgentId>,
    /// Delegations by number of their subnet.
    pub held: Vec<Held>,
}

/// Why there is no scene.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// What was measured makes no sense.
    #[error("what was measured makes no sense")]
    AssignmentProblem(#[from] InvalidProblem),
}

/// What is fixed, and what the rest is judged by.
struct Desk<'a> {
    delegated: &'a DelegatedHierarchy,
    insight: &'a Insight,
    constraints: Constraints,
    scales: &'a LoadSnapshot,
    agents: Vec<AgentId>,
    searched: HashSet<Range>,
}

impl Scene {
    /// Sets it up. Left where they are, and counted against their agents' capacity: homes, what is
    /// pinned, what is being searched for, and what was never measured where it is, so that nobody
    /// knows what moving it would save.
    pub async fn set(
        placement: &Placement,
        delegated: &DelegatedHierarchy,
        scales: &LoadSnapshot,
    ) -> Result<Self, SceneError> {
        let store = &placement.store;
        let searched = delegations::searched(store).await?.into_iter().map(|search| search.range);
        let approved = scales.agents.iter().filter(|weighed| weighed.work.approved);
        let desk = Desk {
            delegated,
            insight: &placement.predictor.insight,
            constraints: current_constraints(&placement.store, placement.clock.now()).await?,
            scales,
            agents: approved.clone().map(|weighed| weighed.work.agent).collect(),
            searched: searched.collect(),
        };
        let (movable, fixed): (Vec<Held>, Vec<Held>) =
            delegations::held(store).await?.into_iter().partition(|held| desk.is_movable(held));
        let subnets: Vec<Range> = movable.iter().map(|held| held.subnet).collect();
        let times = Times::read(placement, &subnets).await?;
        let mut room: HashMap<AgentId, u64> =
            approved.map(|weighed| (weighed.work.agent, weighed.capacity)).collect();
        for held in &fixed {
            desk.take(&mut room, held);
        }
        let (mut subnets, mut held) = (Vec::new(), Vec::new());
        for one in movable {
            match desk.subnet(&one, &times) {
                Some(subnet) => {
                    subnets.push(subnet);
                    held.push(one);
                }
                None => desk.take(&mut room, &one),
            }
        }
        let capacities =
            desk.agents.iter().map(|agent| room.get(agent).copied().unwrap_or(0)).collect();
        let plan = held.iter().map(|held| desk.number(held.agent)).collect();
        Ok(Self {
            instance: AssignmentProblem::new(capacities, subnets)?,
            plan,
            agents: desk.agents,
            held,
        })
    }

    /// Pages a day of each agent, of what may be moved.
    pub fn loads(&self) -> Vec<u64> {
        self.instance.loads(&self.plan)
    }
}

impl Desk<'_> {
    fn number(&self, agent: AgentId) -> Option<usize> {
        self.agents.binary_search(&agent).ok()
    }

    fn is_movable(&self, held: &Held) -> bool {
        let hierarchy = self.delegated.hierarchy();
        let Some(subnet) = hierarchy.find(&held.subnet) else { return false };
        held.reason != Reason::Home
            && self.number(held.agent).is_some()
            && !self.searched.contains(&held.subnet)
            && self.constraints.pin(hierarchy, subnet).is_none()
    }

    /// What is fixed takes room.
    fn take(&self, room: &mut HashMap<AgentId, u64>, held: &Held) {
        if let Some(left) = room.get_mut(&held.agent) {
            *left = left.saturating_sub(self.scales.load(&held.subnet));
        }
    }

    fn subnet(&self, held: &Held, times: &Times) -> Option<Subnet> {
        let load = self.scales.load(&held.subnet);
        let here = self.number(held.agent)?;
        let trail: Vec<TrailProbe> = times.of(&held.subnet).map(asked).collect();
        let hierarchy = self.delegated.hierarchy();
        let id = hierarchy.find(&held.subnet)?;
        let is_everywhere = Lesson::of(id, &trail)
            .is_some_and(|lesson| self.insight.detect_anycast(&lesson).is_some());
        let mut costs = self.insight.with_posterior(hierarchy, (id, &trail), |posterior| {
            let outlook = match posterior {
                Some(_) if is_everywhere => Expectation::Anycast,
                Some(posterior) => Expectation::Predicted(posterior),
                None => Expectation::Unknown,
            };
            agent_costs(outlook, &trail, &self.agents, load, PREDICTED)
        });
        if !costs.iter().any(|cell| cell.index() == here && cell.source == CostSource::Measured) {
            costs.retain(|cell| cell.index() != here);
            let cost = f64::from(held.rtt_us?) / 1_000.0 * load as f64;
            costs.push(AgentCost::measured(u32::try_from(here).ok()?, cost));
        }
        costs.retain(|cell| self.may_have(held, id, &trail, cell));
        Some(Subnet { load, costs })
    }

    /// Who is excluded may not have it. Who was asked and has not answered is not asked again, and
    /// nothing waits for it.
    fn may_have(
        &self,
        held: &Held,
        subnet: SubnetId,
        trail: &[TrailProbe],
        cell: &AgentCost,
    ) -> bool {
        let agent = self.agents[cell.index()];
        let unanswered =
            cell.source == CostSource::Predicted && trail.iter().any(|asked| asked.agent == agent);
        let hierarchy = self.delegated.hierarchy();
        let excluded =
            agent != held.agent && self.constraints.exclusion(hierarchy, subnet, agent).is_some();
        !unanswered && !excluded
    }
}

fn asked(answer: &Answer) -> TrailProbe {
    let outcome = ProbeOutcome::of(answer.state, answer.rtt_us);
    TrailProbe { agent: answer.agent, phase: answer.phase, outcome }
}
