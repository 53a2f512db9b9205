//! The cheapest plan, one subnet at a time: successive shortest paths over the agents.
//!
//! Each agent has a *price*, what a page more there costs the others; it is zero while the agent
//! has room. A plan is cheapest exactly when every subnet is where its cost plus price is least.
//! Placing a subnet keeps it so: the shortest path from the subnet over full agents, each of which
//! passes on what is cheapest to pass on, to one with room. Taking a subnet out leaves a hole that
//! has a price; most holes are filled by what is placed next, and [`MinCostFlow::settle`] lets the others
//! wander to where nobody pays for room.
//!
//! The graph has agents for nodes only. The edge from *a* to *b* is the cheapest subnet to move,
//! the top of a heap. A load is split where an agent fills up in the middle of it: the plan is the
//! optimum of the linear program, and integral for loads of 1.

use super::residual_arcs::Exits;
use super::shortest_paths::Ways;
use super::{AgentCost, AssignmentProblem};

/// A cheapest plan for the subnets placed so far. Every method takes the instance that the flow was
/// begun with; a subnet is changed in it ([`AssignmentProblem::replace`]) between [`MinCostFlow::take_out`] and
/// [`MinCostFlow::place`].
#[derive(Debug, Clone)]
pub struct MinCostFlow {
    prices: Vec<f64>,
    room: Vec<u64>,
    shares: Vec<Vec<Share>>,
    /// How often each subnet was taken out: exits of former versions lead nowhere.
    versions: Vec<u32>,
    /// Every subnet that was at an agent since its exits were opened; those that left are skipped.
    visitors: Vec<Vec<u32>>,
    exits: Exits,
}

/// A part of a subnet at an agent.
#[derive(Debug, Clone, Copy)]
struct Share {
    agent: u32,
    load: u64,
}

/// One hop of a path: `subnet` moves from one agent to another.
#[derive(Debug, Clone, Copy)]
struct Hop {
    subnet: usize,
    from: usize,
    to: usize,
}

/// Prices below this are rounding, in milliseconds a day for a page.
const NOTHING: f64 = 1e-9;

impl MinCostFlow {
    /// Nothing is placed yet.
    pub fn new(instance: &AssignmentProblem) -> Self {
        let (agents, subnets) = (instance.capacities().len(), instance.subnets().len());
        Self {
            prices: vec![0.0; agents],
            room: instance.capacities().to_vec(),
            shares: vec![Vec::new(); subnets],
            versions: vec![0; subnets],
            visitors: vec![Vec::new(); agents],
            exits: Exits::new(agents),
        }
    }

    /// Everything is placed that finds room.
    pub fn of(instance: &AssignmentProblem) -> Self {
        let mut flow = Self::new(instance);
        for subnet in 0..instance.subnets().len() {
            flow.place(instance, subnet);
        }
        flow
    }

    /// Clusters a subnet that is not placed; returns how much of its load found no room anywhere.
    pub fn place(&mut self, instance: &AssignmentProblem, subnet: usize) -> u64 {
        let mut left = instance.subnets()[subnet].load;
        while left > 0 {
            let Some((hops, last)) = self.shortest_path(instance, subnet) else { return left };
            let moved = self.smallest(&hops, left.min(self.room[last]));
            self.shift(instance, &hops, moved);
            self.add(instance, subnet, hops.first().map_or(last, |hop| hop.from), moved);
            self.room[last] -= moved;
            left -= moved;
        }
        0
    }

    /// Takes a subnet out. The plan is within the capacities, but perhaps not the cheapest before
    /// [`Self::settle`].
    pub fn take_out(&mut self, instance: &AssignmentProblem, subnet: usize) {
        for share in std::mem::take(&mut self.shares[subnet]) {
            self.room[share.agent as usize] += share.load;
            self.leave(instance, subnet, share.agent as usize);
        }
        self.versions[subnet] = self.versions[subnet].wrapping_add(1);
    }

    /// Fills the holes that are worth it: afterwards the plan is the cheapest again.
    pub fn settle(&mut self, instance: &AssignmentProblem) {
        while let Some((hops, last)) = self.path_to_hole(instance) {
            let Some(first) = hops.first() else { continue };
            let moved = self.smallest(&hops, self.room[last]);
            self.shift(instance, &hops, moved);
            self.room[first.from] += moved;
            self.room[last] -= moved;
        }
    }

    /// Agents of a subnet with the load each has of it; more than one where it is split.
    pub fn shares(&self, subnet: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.shares[subnet].iter().map(|share| (share.agent as usize, share.load))
    }

    /// Cost of the plan, split loads in proportion: no plan that respects the capacities is
    /// cheaper.
    pub fn cost(&self, instance: &AssignmentProblem) -> f64 {
        let of = |(number, shares): (usize, &Vec<Share>)| {
            let subnet = &instance.subnets()[number];
            let cost = |share: &Share| {
                subnet.cost(share.agent as usize).unwrap_or(0.0) * share.load as f64
            };
            shares.iter().map(cost).sum::<f64>() / subnet.load as f64
        };
        self.shares.iter().enumerate().map(of).sum()
    }

    /// What a page more at each agent would cost the others, in milliseconds a day: 0 where there
    /// is room.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Room left at each agent.
    pub(crate) fn room(&self) -> &[u64] {
        &self.room
    }

    /// Dijkstra from the subnet; the first settled agent with room ends it, and the prices rise to
    /// where the path costs nothing more.
    fn shortest_path(
        &mut self,
        instance: &AssignmentProblem,
        number: usize,
    ) -> Option<(Vec<Hop>, usize)> {
        let subnet = &instance.subnets()[number];
        let nearest = subnet.costs.first().map(AgentCost::index)?;
        if self.room[nearest] > 0 && self.prices[nearest] <= 0.0 {
            return Some((Vec::new(), nearest));
        }
        let mut ways = Ways::new(&self.prices);
        for cell in &subnet.costs {
            ways.begin(cell.index(), cell.cost / subnet.load as f64 + self.prices[cell.index()]);
        }
        loop {
            let (agent, length) = ways.settle_next()?;
            if self.room[agent] > 0 {
                for (other, price) in self.prices.iter_mut().enumerate() {
                    *price += ways.length(other).map_or(0.0, |other| length - other);
                }
                return Some((self.hops(&ways, agent), agent));
            }
            self.go_on(instance, &mut ways, agent, length);
        }
    }

    /// Dijkstra from room that costs nothing, or as much as its price, to a hole that has a price;
    /// prices fall to where the path costs nothing more. `None` when there is no such hole.
    fn path_to_hole(&mut self, instance: &AssignmentProblem) -> Option<(Vec<Hop>, usize)> {
        let hole = |flow: &Self, agent: usize| flow.room[agent] > 0 && flow.prices[agent] > NOTHING;
        (0..self.prices.len()).find(|agent| hole(self, *agent))?;
        let mut ways = Ways::new(&self.prices);
        for (agent, price) in self.prices.iter().enumerate() {
            ways.begin(agent, *price);
        }
        loop {
            let (agent, length) = ways.settle_next()?;
            if hole(self, agent) {
                for (other, price) in self.prices.iter_mut().enumerate() {
                    *price -= ways.length(other).unwrap_or(length);
                    if *price < NOTHING {
                        *price = 0.0;
                    }
                }
                return Some((self.hops(&ways, agent), agent));
            }
            self.go_on(instance, &mut ways, agent, length);
        }
    }

    fn go_on(&mut self, instance: &AssignmentProblem, ways: &mut Ways, agent: usize, length: f64) {
        if self.exits.row(agent).is_none() {
            self.open_exits(instance, agent);
        }
        if let Some(row) = self.exits.row(agent) {
            ways.go_on(agent, length, self.prices[agent], row);
        }
    }

    fn hops(&self, ways: &Ways, last: usize) -> Vec<Hop> {
        let hop = |(from, to)| Some(Hop { subnet: self.exits.cheapest(from, to)?, from, to });
        ways.pairs_to(last).into_iter().filter_map(hop).collect()
    }

    /// How much can go along the hops.
    fn smallest(&self, hops: &[Hop], most: u64) -> u64 {
        hops.iter().map(|hop| self.load_at(hop.subnet, hop.from)).fold(most, u64::min)
    }

    fn shift(&mut self, instance: &AssignmentProblem, hops: &[Hop], load: u64) {
        for hop in hops {
            let shares = &mut self.shares[hop.subnet];
            if let Some(place) = shares.iter().position(|share| share.agent as usize == hop.from) {
                shares[place].load -= load;
                if shares[place].load == 0 {
                    shares.swap_remove(place);
                    self.leave(instance, hop.subnet, hop.from);
                }
            }
            self.add(instance, hop.subnet, hop.to, load);
        }
    }

    fn leave(&mut self, instance: &AssignmentProblem, subnet: usize, agent: usize) {
        let (shares, versions) = (&self.shares, &self.versions);
        let at = |number: u32| {
            let here = shares[number as usize].iter().any(|share| share.agent as usize == agent);
            here.then(|| versions[number as usize])
        };
        if self.exits.leave(agent, subnet as u32, &instance.subnets()[subnet], at) {
            self.open_exits(instance, agent);
        }
    }

    fn add(&mut self, instance: &AssignmentProblem, subnet: usize, agent: usize, load: u64) {
        if let Some(share) =
            self.shares[subnet].iter_mut().find(|share| share.agent as usize == agent)
        {
            share.load += load;
            return;
        }
        self.shares[subnet].push(Share { agent: agent as u32, load });
        self.visitors[agent].push(subnet as u32);
        if self.exits.come(agent, subnet as u32, self.versions[subnet], &instance.subnets()[subnet])
        {
            self.open_exits(instance, agent);
        }
    }

    fn load_at(&self, subnet: usize, agent: usize) -> u64 {
        self.shares(subnet).find(|(at, _)| *at == agent).map_or(0, |(_, load)| load)
    }

    fn open_exits(&mut self, instance: &AssignmentProblem, agent: usize) {
        let mut here = std::mem::take(&mut self.visitors[agent]);
        here.sort_unstable();
        here.dedup();
        here.retain(|subnet| self.load_at(*subnet as usize, agent) > 0);
        let versions = &self.versions;
        let costs = |number: &u32| {
            (*number, versions[*number as usize], &instance.subnets()[*number as usize])
        };
        self.exits.open(agent, here.iter().map(costs));
        self.visitors[agent] = here;
    }
}
