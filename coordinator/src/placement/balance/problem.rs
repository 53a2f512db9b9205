//! Balance problem: loads, capacities and costs of everything that may be moved.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use delegation::balance::{
    AgentCost, AssignmentProblem, CostSource, Expectation, InvalidProblem, Plan, Subnet,
    agent_costs,
};
use delegation::{Constraints, ProbeOutcome, TrailProbe};
use hierarchy::{Range, SubnetId};
use model::{AgentId, Reason, UnixMillis};
use region::moves::RegionMoves;
use store::delegations::{self, ActiveDelegation};
use store::{StoreError, agents};
use tokio::task::{JoinError, spawn_blocking};

use crate::placement::Placement;
use crate::placement::balance::receivers::Receivers;
use crate::placement::load_snapshot::{
    AgentLoad, LoadSnapshot, MeasuredTimes, SubnetLoads, capacity_of,
};
use crate::predictor::{Observation, Predictor};
use crate::runtime::constraints::current_constraints;
use crate::runtime::delegated_hierarchy::DelegatedHierarchy;
use crate::runtime::region_moves::addresses;

/// For each subnet, the costs of this many agents are predicted: the probably nearest ones of those
/// that may be asked to measure it.
const PREDICTED_AGENTS: usize = 8;

/// The assignment problem, in which agents and subnets are numbers, and what the numbers mean.
pub struct BalanceProblem {
    pub instance: Arc<AssignmentProblem>,
    /// The present assignment.
    pub plan: Plan,
    /// Agents by number, sorted.
    pub agents: Vec<AgentId>,
    /// Delegations by number of their subnet.
    pub held: Vec<ActiveDelegation>,
    /// Who can take subnets now.
    pub receivers: Receivers,
}

/// Why no problem could be built.
#[derive(Debug, thiserror::Error)]
pub enum ProblemError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A cost is negative or not a number.
    #[error("the measured costs do not form a valid assignment problem")]
    Invalid(#[from] InvalidProblem),
    #[error("the computation of the costs panicked")]
    Computation(#[from] JoinError),
}

impl BalanceProblem {
    /// Builds the problem. Some subnets stay where they are and take their load from the capacity
    /// of their agents: homes, pinned subnets, those with an open search, and those never measured
    /// by their agent, for which no gain of a move can be computed.
    pub async fn build(
        placement: &Placement,
        delegated: &Arc<DelegatedHierarchy>,
        snapshot: LoadSnapshot,
    ) -> Result<Self, ProblemError> {
        let store = &placement.store;
        let searched =
            delegations::open_search_claims(store).await?.into_iter().map(|search| search.range);
        let now = placement.clock.now();
        // A coordinator that does not lead has not counted the probes of today yet.
        placement.predictor.state.budget.load(&placement.predictor, delegated).await?;
        let workers = agents::workers(store).await?;
        let approved = snapshot.agents.iter().filter(|agent| agent.work.approved);
        let builder = ProblemBuilder {
            delegated: Arc::clone(delegated),
            predictor: Arc::clone(&placement.predictor),
            constraints: current_constraints(store, now).await?,
            region_moves: placement.region_moves.load_full(),
            agents: approved.map(|agent| agent.work.agent).collect(),
            receivers: Receivers::of(&placement.predictor, &workers, now),
            searched: searched.collect(),
            loads: SubnetLoads::all(store, now).await?,
            snapshot,
            now,
        };
        let held = delegations::list_active(store).await?;
        // There may be millions of delegations: a worker of the runtime would be busy for seconds.
        let (builder, movable, fixed) = spawn_blocking(move || {
            let (movable, fixed) = held.into_iter().partition(|held| builder.is_movable(held));
            (builder, movable, fixed)
        })
        .await?;
        let movable: Vec<ActiveDelegation> = movable;
        let ranges: Vec<Range> = movable.iter().map(|held| held.subnet).collect();
        let times = MeasuredTimes::read(placement, &ranges).await?;
        Ok(spawn_blocking(move || builder.problem(movable, fixed, &times)).await??)
    }

    /// Pages a day of each agent, without the subnets that cannot be moved.
    pub fn loads(&self) -> Vec<u64> {
        self.instance.loads(&self.plan)
    }
}

struct ProblemBuilder {
    delegated: Arc<DelegatedHierarchy>,
    predictor: Arc<Predictor>,
    constraints: Constraints,
    region_moves: Arc<RegionMoves>,
    snapshot: LoadSnapshot,
    loads: SubnetLoads,
    receivers: Receivers,
    /// Approved agents by number, sorted.
    agents: Vec<AgentId>,
    /// Subnets with an open search.
    searched: HashSet<Range>,
    /// Time of the problem.
    now: UnixMillis,
}

impl ProblemBuilder {
    /// The problem of the subnets that may move; the `fixed` ones take from the capacities.
    fn problem(
        self,
        movable: Vec<ActiveDelegation>,
        mut fixed: Vec<ActiveDelegation>,
        times: &MeasuredTimes,
    ) -> Result<BalanceProblem, InvalidProblem> {
        let mut subnets = Vec::new();
        let mut held = Vec::new();
        for one in movable {
            match self.subnet(&one, times) {
                Some(subnet) => {
                    subnets.push(subnet);
                    held.push(one);
                }
                None => fixed.push(one),
            }
        }
        let plan = held.iter().map(|held| self.number(held.agent)).collect();
        let free = self.free_capacities(&held, &fixed);
        let instance = AssignmentProblem::new(free, subnets)?;
        Ok(BalanceProblem {
            instance: Arc::new(instance),
            plan,
            agents: self.agents,
            held,
            receivers: self.receivers,
        })
    }

    /// The capacities of the agents by number, less the load of the subnets that stay.
    fn free_capacities(
        &self,
        movable: &[ActiveDelegation],
        fixed: &[ActiveDelegation],
    ) -> Vec<u64> {
        // The snapshot counts new subnets for as many days as the agent.
        let held = self.loads.by_agent(movable.iter().chain(fixed));
        let agents = self.snapshot.agents.iter().filter(|agent| agent.work.approved);
        let capacity = |agent: &AgentLoad| {
            let held = held.get(&agent.work.agent).copied().unwrap_or(0);
            (agent.work.agent, capacity_of(&agent.work, held, self.now))
        };
        let mut free: HashMap<AgentId, u64> = agents.map(capacity).collect();
        for one in fixed {
            if let Some(free) = free.get_mut(&one.agent) {
                *free = free.saturating_sub(self.loads.pages_a_day(&one.subnet));
            }
        }
        self.agents.iter().map(|agent| free.get(agent).copied().unwrap_or(0)).collect()
    }

    fn number(&self, agent: AgentId) -> Option<usize> {
        self.agents.binary_search(&agent).ok()
    }

    fn is_movable(&self, held: &ActiveDelegation) -> bool {
        let hierarchy = self.delegated.hierarchy();
        let Some(subnet) = hierarchy.find(&held.subnet) else { return false };
        held.reason != Reason::Home
            && self.number(held.agent).is_some()
            && !self.searched.contains(&held.subnet)
            && self.constraints.pin(hierarchy, subnet).is_none()
    }

    /// Load and costs of a subnet; `None` when its agent never measured it.
    fn subnet(&self, held: &ActiveDelegation, times: &MeasuredTimes) -> Option<Subnet> {
        let load = self.loads.pages_a_day(&held.subnet);
        let present = self.number(held.agent)?;
        let hierarchy = self.delegated.hierarchy();
        let subnet = hierarchy.find(&held.subnet)?;
        let trail: Vec<TrailProbe> = times
            .of(&held.subnet)
            .map(|answer| TrailProbe {
                agent: answer.agent,
                phase: answer.phase,
                outcome: ProbeOutcome::of(answer.state, answer.rtt_us),
            })
            .collect();
        let predictor = &self.predictor.state;
        let is_anycast = Observation::from_trail(subnet, &trail)
            .is_some_and(|observation| predictor.detect_anycast(hierarchy, &observation).is_some());
        let mut costs = predictor.with_posterior(hierarchy, subnet, &trail, |posterior| {
            let expectation = match posterior {
                // An anycast address is near to many agents, of which the model knows nothing.
                Some(_) if is_anycast => Expectation::Anycast,
                Some(posterior) => Expectation::Predicted(posterior),
                None => Expectation::Unknown,
            };
            agent_costs(expectation, &trail, &self.agents, load, PREDICTED_AGENTS, |agent| {
                self.may_measure(held, subnet, &trail, agent)
            })
        });
        // Where the answers lack the present agent, the round trip stored with the delegation is
        // better than a prediction.
        if !costs.iter().any(|cost| cost.index() == present && cost.source == CostSource::Measured)
        {
            costs.retain(|cost| cost.index() != present);
            let cost = f64::from(held.rtt_us?) / 1_000.0 * load as f64;
            costs.push(AgentCost::measured(u32::try_from(present).ok()?, cost));
        }
        // An agent that is away keeps what it has; the lease and searches decide about that. An
        // excluded or drained one keeps a subnet until another is found.
        costs.retain(|cost| {
            cost.index() == present || self.may_move_to(held, subnet, self.agents[cost.index()])
        });
        Some(Subnet { load, costs })
    }

    /// Whether the subnet may move to an agent once that has measured it.
    fn may_move_to(&self, held: &ActiveDelegation, subnet: SubnetId, agent: AgentId) -> bool {
        self.receivers.may_take(agent)
            && !self.constraints.forbids(self.delegated.hierarchy(), subnet, agent)
            && self.region_moves.allows(addresses(&held.subnet), held.agent, agent)
    }

    /// Whether an agent that has not measured the subnet may be asked to, so that it moves there.
    fn may_measure(
        &self,
        held: &ActiveDelegation,
        subnet: SubnetId,
        trail: &[TrailProbe],
        agent: AgentId,
    ) -> bool {
        // An agent that was asked and did not answer is not asked again. Otherwise a move would
        // wait for its measurement for ever.
        let is_unanswered = || trail.iter().any(|probe| probe.agent == agent);
        // No agent was asked about a range that is new, so there is no search to which an order can
        // be added.
        agent != held.agent
            && !trail.is_empty()
            && !is_unanswered()
            && self.receivers.can_measure(&self.predictor, agent, subnet)
            && self.may_move_to(held, subnet, agent)
    }
}
