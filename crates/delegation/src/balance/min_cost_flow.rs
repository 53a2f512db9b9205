//! Minimum-cost flow: the cheapest fractional plan, by successive shortest paths over the agents.
//!
//! Each agent has a *price* (its dual variable): what one page more there costs the others, zero
//! while the agent has room. A plan is cheapest exactly when every subnet is at the agent with the
//! least cost plus price. Placing a subnet keeps it so: the load goes along the shortest path from
//! the subnet over full agents, each of which passes on what is cheapest to pass on, to an agent
//! with room.
//!
//! The residual graph has agents for nodes only. The arc from *a* to *b* is the cheapest subnet to
//! move from *a* to *b*. A load is split where an agent fills up in the middle of it, so the plan
//! is the optimum of the linear program, and integral for loads of 1.

use super::residual_arcs::ResidualArcs;
use super::shortest_paths::ShortestPaths;
use super::{AgentCost, AssignmentProblem};

/// A cheapest fractional plan.
pub(super) struct MinCostFlow<'p> {
    problem: &'p AssignmentProblem,
    prices: Vec<f64>,
    room: Vec<u64>,
    shares: Vec<Vec<Share>>,
    /// By agent, every subnet that has been there since its arcs were built; those that left are
    /// skipped.
    visitors: Vec<Vec<u32>>,
    arcs: ResidualArcs,
}

/// A part of a subnet's load at an agent.
#[derive(Clone, Copy)]
struct Share {
    agent: usize,
    load: u64,
}

/// One arc of a path: `subnet` moves from one agent to another.
struct Arc {
    subnet: usize,
    from: usize,
    to: usize,
}

impl<'p> MinCostFlow<'p> {
    /// The plan of all subnets, as far as they find room.
    pub(super) fn of(problem: &'p AssignmentProblem) -> Self {
        let agents = problem.capacities().len();
        let subnets = problem.subnets().len();
        let mut flow = Self {
            problem,
            prices: vec![0.0; agents],
            room: problem.capacities().to_vec(),
            shares: vec![Vec::new(); subnets],
            visitors: vec![Vec::new(); agents],
            arcs: ResidualArcs::new(agents),
        };
        for subnet in 0..subnets {
            flow.place(subnet);
        }
        flow
    }

    /// Agents of a subnet with the load each has of it; more than one where it is split.
    pub(super) fn shares(&self, subnet: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.shares[subnet].iter().map(|share| (share.agent, share.load))
    }

    /// Cost of the plan, split loads in proportion: no plan that respects the capacities is
    /// cheaper.
    pub(super) fn cost(&self) -> f64 {
        let of = |(number, shares): (usize, &Vec<Share>)| {
            let subnet = &self.problem.subnets()[number];
            let cost = |share: &Share| subnet.cost(share.agent).unwrap_or(0.0) * share.load as f64;
            shares.iter().map(cost).sum::<f64>() / subnet.load as f64
        };
        self.shares.iter().enumerate().map(of).sum()
    }

    /// Room left at each agent.
    pub(super) fn room(&self) -> &[u64] {
        &self.room
    }

    /// Places as much of a subnet's load as finds room.
    fn place(&mut self, subnet: usize) {
        let mut left = self.problem.subnets()[subnet].load;
        while left > 0 {
            let Some((path, last)) = self.shortest_path(subnet) else { return };
            // The load along a path is limited by the smallest load that an arc of it can move.
            let shares = path.iter().map(|arc| self.load_at(arc.subnet, arc.from));
            let moved = shares.fold(left.min(self.room[last]), u64::min);
            self.shift(&path, moved);
            self.add(subnet, path.first().map_or(last, |arc| arc.from), moved);
            self.room[last] -= moved;
            left -= moved;
        }
    }

    /// The shortest path from the subnet to an agent with room. Prices rise until the path has no
    /// reduced cost, which keeps the plan the cheapest.
    fn shortest_path(&mut self, number: usize) -> Option<(Vec<Arc>, usize)> {
        let subnet = &self.problem.subnets()[number];
        let nearest = subnet.costs.first().map(AgentCost::index)?;
        // Most subnets find room at their nearest agent, which needs no search.
        if self.room[nearest] > 0 && self.prices[nearest] <= 0.0 {
            return Some((Vec::new(), nearest));
        }
        let mut paths = ShortestPaths::new(&self.prices);
        for cost in &subnet.costs {
            let agent = cost.index();
            paths.begin(agent, cost.cost / subnet.load as f64 + self.prices[agent]);
        }
        loop {
            let (agent, length) = paths.settle_next()?;
            if self.room[agent] > 0 {
                // The price of each agent that is nearer than the end of the path rises by the
                // difference. So no reduced cost becomes negative, and those along the path are 0.
                for (other, price) in self.prices.iter_mut().enumerate() {
                    *price += paths.length(other).map_or(0.0, |other| length - other);
                }
                return Some((self.arcs_to(&paths, agent), agent));
            }
            if self.arcs.row(agent).is_none() {
                self.build_arcs(agent);
            }
            if let Some(row) = self.arcs.row(agent) {
                paths.relax(agent, length, self.prices[agent], row);
            }
        }
    }

    fn arcs_to(&self, paths: &ShortestPaths, last: usize) -> Vec<Arc> {
        let arc = |(from, to)| Some(Arc { subnet: self.arcs.cheapest(from, to)?, from, to });
        paths.pairs_to(last).into_iter().filter_map(arc).collect()
    }

    /// Moves `load` of each arc's subnet along the path.
    fn shift(&mut self, path: &[Arc], load: u64) {
        for arc in path {
            let shares = &mut self.shares[arc.subnet];
            if let Some(index) = shares.iter().position(|share| share.agent == arc.from) {
                shares[index].load -= load;
                if shares[index].load == 0 {
                    shares.swap_remove(index);
                    self.remove_arcs(arc.subnet, arc.from);
                }
            }
            self.add(arc.subnet, arc.to, load);
        }
    }

    fn add(&mut self, subnet: usize, agent: usize, load: u64) {
        let shares = &mut self.shares[subnet];
        if let Some(share) = shares.iter_mut().find(|share| share.agent == agent) {
            share.load += load;
            return;
        }
        shares.push(Share { agent, load });
        self.visitors[agent].push(subnet as u32);
        if self.arcs.add(agent, subnet as u32, &self.problem.subnets()[subnet]) {
            self.build_arcs(agent);
        }
    }

    fn remove_arcs(&mut self, subnet: usize, agent: usize) {
        let shares = &self.shares;
        let is_here = |number: u32| shares[number as usize].iter().any(|at| at.agent == agent);
        let left = &self.problem.subnets()[subnet];
        if self.arcs.remove(agent, subnet as u32, left, is_here) {
            self.build_arcs(agent);
        }
    }

    fn load_at(&self, subnet: usize, agent: usize) -> u64 {
        self.shares(subnet).find(|(at, _)| *at == agent).map_or(0, |(_, load)| load)
    }

    fn build_arcs(&mut self, agent: usize) {
        let mut here = std::mem::take(&mut self.visitors[agent]);
        here.sort_unstable();
        here.dedup();
        here.retain(|subnet| self.load_at(*subnet as usize, agent) > 0);
        let subnet = |number: &u32| (*number, &self.problem.subnets()[*number as usize]);
        self.arcs.build(agent, here.iter().map(subnet));
        self.visitors[agent] = here;
    }
}
