//! Agents with capacities, subnets with loads, and what each costs where.

/// Agents and subnets to be matched. Both are numbered from 0.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AssignmentProblem {
    capacities: Vec<u64>,
    subnets: Vec<Subnet>,
    variances: Vec<f64>,
}

/// A subnet of an instance.
#[derive(Debug, Clone, PartialEq)]
pub struct Subnet {
    /// Pages a day; at least 1.
    pub load: u64,
    /// Agents that may crawl it, at most one cell each; an instance keeps them cheapest first. Who
    /// is not listed may not: a cost that nobody measured or predicted is not guessed.
    pub costs: Vec<AgentCost>,
}

/// What a subnet costs at one agent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentCost {
    /// Whose.
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
    /// From landmarks and other agents' probes. A move there wants a probe first.
    Predicted,
}

/// Who crawls each subnet; `None` where nobody can.
pub type Plan = Vec<Option<usize>>;

/// Why an instance makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum InvalidProblem {
    /// Loads are counted in pages.
    #[error("subnet {0} has no load; give it at least 1 page a day")]
    NoLoad(usize),
    /// A cost names an agent that has no capacity listed.
    #[error("subnet {subnet} has a cost at agent {agent}, but there are only {agents} agents")]
    UnknownAgent {
        /// The subnet.
        subnet: usize,
        /// The agent it names.
        agent: usize,
        /// How many there are.
        agents: usize,
    },
    /// Costs are times.
    #[error("subnet {subnet} costs {cost} at agent {agent}; costs are finite and not negative")]
    Cost {
        /// The subnet.
        subnet: usize,
        /// The agent.
        agent: usize,
        /// The cost.
        cost: f64,
    },
    /// An agent is listed twice.
    #[error("subnet {subnet} has two costs at agent {agent}")]
    Twice {
        /// The subnet.
        subnet: usize,
        /// The agent.
        agent: usize,
    },
}

impl AssignmentProblem {
    /// Checks and keeps what was given; costs may come in any order.
    pub fn new(capacities: Vec<u64>, mut subnets: Vec<Subnet>) -> Result<Self, InvalidProblem> {
        for (index, subnet) in subnets.iter_mut().enumerate() {
            subnet.settle(index, capacities.len())?;
        }
        let variances = subnets.iter().map(Subnet::variance).collect();
        Ok(Self { capacities, subnets, variances })
    }

    /// Puts other loads and costs in the place of those of subnet number `index`. A [`super::MinCostFlow`]
    /// must have it taken out at that moment.
    pub fn replace(&mut self, index: usize, mut subnet: Subnet) -> Result<(), InvalidProblem> {
        subnet.settle(index, self.capacities.len())?;
        if let (Some(place), Some(variance)) =
            (self.subnets.get_mut(index), self.variances.get_mut(index))
        {
            *variance = subnet.variance();
            *place = subnet;
        }
        Ok(())
    }

    /// Pages a day that each agent can crawl.
    pub fn capacities(&self) -> &[u64] {
        &self.capacities
    }

    /// The subnets.
    pub fn subnets(&self) -> &[Subnet] {
        &self.subnets
    }

    /// What `subnet` costs at `agent`; `None` when it may not go there.
    pub fn cost(&self, subnet: usize, agent: usize) -> Option<f64> {
        self.subnets.get(subnet)?.cost(agent)
    }

    /// Variance of a page's time from `subnet` over the agents that are known for it, in square
    /// milliseconds.
    pub fn variance(&self, subnet: usize) -> f64 {
        self.variances[subnet]
    }

    /// Sum of the costs of a plan; subnets without an agent cost nothing.
    pub fn total_cost(&self, plan: &[Option<usize>]) -> f64 {
        plan.iter().enumerate().filter_map(|(subnet, agent)| self.cost(subnet, (*agent)?)).sum()
    }

    /// Pages a day per agent under a plan.
    pub fn loads(&self, plan: &[Option<usize>]) -> Vec<u64> {
        let mut loads = vec![0; self.capacities.len()];
        for (subnet, agent) in self.subnets.iter().zip(plan) {
            if let Some(agent) = agent {
                loads[*agent] += subnet.load;
            }
        }
        loads
    }

    /// Pages a day beyond the capacities under a plan.
    pub fn overload(&self, plan: &[Option<usize>]) -> u64 {
        let loads = self.loads(plan);
        loads
            .iter()
            .zip(&self.capacities)
            .map(|(load, capacity)| load.saturating_sub(*capacity))
            .sum()
    }

    /// Every subnet at its cheapest agent, whatever the capacities.
    pub fn nearest(&self) -> Plan {
        self.subnets.iter().map(|subnet| subnet.costs.first().map(AgentCost::index)).collect()
    }
}

impl Subnet {
    /// The cost at `agent`; `None` when it may not go there.
    pub fn cost(&self, agent: usize) -> Option<f64> {
        self.cell(agent).map(|cell| cell.cost)
    }

    /// What is known of `agent`; `None` when it may not go there.
    pub fn cell(&self, agent: usize) -> Option<&AgentCost> {
        self.costs.iter().find(|cell| cell.index() == agent)
    }

    fn variance(&self) -> f64 {
        let count = self.costs.len().max(1) as f64;
        let times = || self.costs.iter().map(|cell| cell.cost / self.load as f64);
        let mean = times().sum::<f64>() / count;
        times().map(|time| (time - mean).powi(2)).sum::<f64>() / count
    }

    fn settle(&mut self, index: usize, agents: usize) -> Result<(), InvalidProblem> {
        if self.load == 0 {
            return Err(InvalidProblem::NoLoad(index));
        }
        self.costs.sort_unstable_by_key(|cell| cell.agent);
        if let Some(pair) = self.costs.windows(2).find(|pair| pair[0].agent == pair[1].agent) {
            return Err(InvalidProblem::Twice { subnet: index, agent: pair[0].index() });
        }
        if let Some(last) = self.costs.last().filter(|last| last.index() >= agents) {
            return Err(InvalidProblem::UnknownAgent {
                subnet: index,
                agent: last.index(),
                agents,
            });
        }
        if let Some(cell) =
            self.costs.iter().find(|cell| !(cell.cost.is_finite() && cell.cost >= 0.0))
        {
            return Err(InvalidProblem::Cost {
                subnet: index,
                agent: cell.index(),
                cost: cell.cost,
            });
        }
        self.costs.sort_unstable_by(|a, b| a.cost.total_cmp(&b.cost).then(a.agent.cmp(&b.agent)));
        Ok(())
    }
}

impl AgentCost {
    /// A cost that was measured.
    pub fn measured(agent: u32, cost: f64) -> Self {
        Self { agent, source: CostSource::Measured, cost }
    }

    /// A cost that was predicted.
    pub fn predicted(agent: u32, cost: f64) -> Self {
        Self { agent, source: CostSource::Predicted, cost }
    }

    /// Number of the agent.
    pub fn index(&self) -> usize {
        self.agent as usize
    }
}
