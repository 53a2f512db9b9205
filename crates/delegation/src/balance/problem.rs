//! The assignment problem: agents with capacities, subnets with loads, and the cost of each subnet
//! at each agent.

/// Agents and subnets to be matched, both numbered from 0 (a generalized assignment problem).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AssignmentProblem {
    capacities: Vec<u64>,
    subnets: Vec<Subnet>,
    variances: Vec<f64>,
}

/// A subnet of an assignment problem.
#[derive(Debug, Clone, PartialEq)]
pub struct Subnet {
    /// Pages a day; at least 1.
    pub load: u64,
    /// Agents that may crawl it, at most one cost each; [`AssignmentProblem::new`] sorts them,
    /// cheapest first. An agent that is not listed may not crawl it: an unknown cost is not
    /// guessed.
    pub costs: Vec<AgentCost>,
}

/// The cost of a subnet at one agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentCost {
    /// Number of the agent.
    pub agent: u32,
    /// How the cost is known.
    pub source: CostSource,
    /// Milliseconds a day for the whole subnet.
    pub cost: f64,
}

/// How a cost is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CostSource {
    /// The agent probed or fetched.
    Measured,
    /// From places and other agents' probes: a move to this agent needs a probe first.
    Predicted,
}

/// The agent of each subnet; `None` for a subnet without an agent.
pub type Plan = Vec<Option<usize>>;

/// Why numbers are not an assignment problem.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidProblem {
    /// A load is zero, though loads are counted in pages.
    #[error("subnet {0} has no load; give it at least 1 page a day")]
    NoLoad(usize),
    /// A cost names an agent without a capacity.
    #[error("subnet {subnet} has a cost at agent {agent}, but there are only {agents} agents")]
    UnknownAgent {
        /// Number of the subnet.
        subnet: usize,
        /// The number that names no agent.
        agent: usize,
        /// Number of agents with a capacity.
        agents: usize,
    },
    /// A cost is negative or not finite.
    #[error("subnet {subnet} costs {cost} at agent {agent}; costs are finite and not negative")]
    Cost {
        /// Number of the subnet.
        subnet: usize,
        /// Number of the agent.
        agent: usize,
        /// The refused cost.
        cost: f64,
    },
    /// A subnet lists an agent more than once.
    #[error("subnet {subnet} has two costs at agent {agent}")]
    Twice {
        /// Number of the subnet.
        subnet: usize,
        /// Number of the agent.
        agent: usize,
    },
}

impl AssignmentProblem {
    /// Checks the numbers; the costs of a subnet may come in any order.
    pub fn new(capacities: Vec<u64>, mut subnets: Vec<Subnet>) -> Result<Self, InvalidProblem> {
        for (number, subnet) in subnets.iter_mut().enumerate() {
            subnet.check_and_sort(number, capacities.len())?;
        }
        let variances = subnets.iter().map(Subnet::variance).collect();
        Ok(Self { capacities, subnets, variances })
    }

    /// Pages a day that each agent can crawl.
    pub fn capacities(&self) -> &[u64] {
        &self.capacities
    }

    pub fn subnets(&self) -> &[Subnet] {
        &self.subnets
    }

    /// Cost of `subnet` at `agent`; `None` when the agent may not crawl it.
    pub fn cost(&self, subnet: usize, agent: usize) -> Option<f64> {
        self.subnets.get(subnet)?.cost(agent)
    }

    /// Variance of the time of a page of `subnet` over the agents that measured it, in square
    /// milliseconds. Infinite where fewer than two did: one time says nothing about the others.
    pub fn variance(&self, subnet: usize) -> f64 {
        self.variances[subnet]
    }

    /// Sum of the costs of a plan; subnets without an agent cost nothing.
    pub fn total_cost(&self, plan: &[Option<usize>]) -> f64 {
        plan.iter().enumerate().filter_map(|(subnet, agent)| self.cost(subnet, (*agent)?)).sum()
    }

    /// Pages a day of each agent under a plan.
    pub fn loads(&self, plan: &[Option<usize>]) -> Vec<u64> {
        let mut loads = vec![0; self.capacities.len()];
        for (subnet, agent) in self.subnets.iter().zip(plan) {
            if let Some(agent) = agent {
                loads[*agent] += subnet.load;
            }
        }
        loads
    }

    /// Pages a day beyond the capacities under a plan, summed over the agents.
    pub fn overload(&self, plan: &[Option<usize>]) -> u64 {
        let loads = self.loads(plan);
        let pairs = loads.iter().zip(&self.capacities);
        pairs.map(|(load, capacity)| load.saturating_sub(*capacity)).sum()
    }

    /// The plan with every subnet at its cheapest agent, without regard to capacities.
    pub fn nearest(&self) -> Plan {
        self.subnets.iter().map(|subnet| subnet.costs.first().map(AgentCost::index)).collect()
    }
}

impl Subnet {
    /// Cost at `agent`; `None` when the agent may not crawl the subnet.
    pub fn cost(&self, agent: usize) -> Option<f64> {
        self.at(agent).map(|cost| cost.cost)
    }

    /// Cost and its source at `agent`; `None` when the agent may not crawl the subnet.
    pub fn at(&self, agent: usize) -> Option<&AgentCost> {
        self.costs.iter().find(|cost| cost.index() == agent)
    }

    /// "The smallest variance in its probing results" (III.F): predicted costs are no results.
    fn variance(&self) -> f64 {
        let measured = self.costs.iter().filter(|cost| cost.source == CostSource::Measured);
        let times: Vec<f64> = measured.map(|cost| cost.cost / self.load as f64).collect();
        if times.len() < 2 {
            return f64::INFINITY;
        }
        let count = times.len() as f64;
        let mean = times.iter().sum::<f64>() / count;
        times.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / count
    }

    fn check_and_sort(&mut self, subnet: usize, agents: usize) -> Result<(), InvalidProblem> {
        if self.load == 0 {
            return Err(InvalidProblem::NoLoad(subnet));
        }
        // Sorted by agent: equal agents are neighbours, and the greatest agent is the last.
        self.costs.sort_unstable_by_key(|cost| cost.agent);
        if let Some(pair) = self.costs.windows(2).find(|pair| pair[0].agent == pair[1].agent) {
            return Err(InvalidProblem::Twice { subnet, agent: pair[0].index() });
        }
        if let Some(last) = self.costs.last().filter(|last| last.index() >= agents) {
            return Err(InvalidProblem::UnknownAgent { subnet, agent: last.index(), agents });
        }
        let is_invalid = |cost: &&AgentCost| !(cost.cost.is_finite() && cost.cost >= 0.0);
        if let Some(cost) = self.costs.iter().find(is_invalid) {
            return Err(InvalidProblem::Cost { subnet, agent: cost.index(), cost: cost.cost });
        }
        self.costs.sort_unstable_by(|a, b| a.cost.total_cmp(&b.cost).then(a.agent.cmp(&b.agent)));
        Ok(())
    }
}

impl AgentCost {
    pub fn measured(agent: u32, cost: f64) -> Self {
        Self { agent, source: CostSource::Measured, cost }
    }

    pub fn predicted(agent: u32, cost: f64) -> Self {
        Self { agent, source: CostSource::Predicted, cost }
    }

    /// Number of the agent, as an index.
    pub fn index(&self) -> usize {
        self.agent as usize
    }
}
