//! The cheapest plan, one subnet at a time: successive shortest paths over the agents.
//!
//! Each agent has a *price*, what a page more there costs the others; it is zero while the agent has room. A plan is
//! cheapest exactly when every subnet is where its cost plus price is least. Placing a subnet keeps it so: the
//! shortest path from the subnet over full agents, each of which passes on what is cheapest to pass on, to one with
//! room. Taking a subnet out keeps it so as well: the hole wanders to where nobody pays for room.
//!
//! The graph has agents for nodes only. The edge from *a* to *b* is the cheapest subnet to move, the top of a heap.
//! A load is split where an agent fills up in the middle of it: the plan is the optimum of the linear program,
//! and integral for loads of 1.

use super::Instance;
use super::exits::{Exit, Exits};
use super::ways::{Hop, Ways};

/// A cheapest plan for the subnets placed so far. Every method takes the instance that the flow was begun with; a subnet
/// is changed in it ([`Instance::replace`]) between [`Flow::take_out`] and [`Flow::place`].
#[derive(Debug, Clone)]
pub struct Flow {
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

impl Flow {
    /// Nothing is placed yet.
    pub fn new(instance: &Instance) -> Self {
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

    /// Places a subnet that is not placed; returns how much of its load found no room anywhere.
    pub fn place(&mut self, instance: &Instance, subnet: usize) -> u64 {
        let mut left = instance.subnets()[subnet].load;
        while left > 0 {
            let Some((hops, last)) = self.shortest_path(instance, subnet) else { return left };
            left -= self.push(instance, subnet, &hops, last, left);
        }
        0
    }

    /// Takes a subnet out.
    pub fn take_out(&mut self, instance: &Instance, subnet: usize) {
        self.versions[subnet] = self.versions[subnet].wrapping_add(1);
        for share in std::mem::take(&mut self.shares[subnet]) {
            let mut hole = share.load;
            while hole > 0 {
                let (hops, last) = self.cheapest_hole(instance, share.agent as usize);
                let moved = hops.iter().map(|hop| self.load_at(hop.subnet, hop.from)).fold(hole, u64::min);
                for hop in hops {
                    self.shift(instance, hop, moved);
                }
                self.room[last] += moved;
                hole -= moved;
            }
        }
    }

    /// Agents of a subnet with the load each has of it; more than one where it is split.
    pub fn shares(&self, subnet: usize) -> impl Iterator<Item = (usize, u64)> + '_ {
        self.shares[subnet].iter().map(|share| (share.agent as usize, share.load))
    }

    /// Cost of the plan, split loads in proportion: no plan that respects the capacities is cheaper.
    pub fn cost(&self, instance: &Instance) -> f64 {
        let of = |(number, shares): (usize, &Vec<Share>)| {
            let subnet = &instance.subnets()[number];
            let cost = |share: &Share| subnet.cost(share.agent as usize).unwrap_or(0.0) * share.load as f64;
            shares.iter().map(cost).sum::<f64>() / subnet.load as f64
        };
        self.shares.iter().enumerate().map(of).sum()
    }

    /// What a page more at each agent would cost the others, in milliseconds a day: 0 where there is room.
    pub fn prices(&self) -> &[f64] {
        &self.prices
    }

    /// Room left at each agent.
    pub(crate) fn room(&self) -> &[u64] {
        &self.room
    }

    /// Dijkstra from the subnet; the first settled agent with room ends it, and the prices rise to where the path
    /// costs nothing more.
    fn shortest_path(&mut self, instance: &Instance, number: usize) -> Option<(Vec<Hop>, usize)> {
        let subnet = &instance.subnets()[number];
        if let Some(cheapest) = subnet.cells.first().map(super::Cell::at)
            && self.room[cheapest] > 0
            && self.prices[cheapest] <= 0.0
        {
            return Some((Vec::new(), cheapest));
        }
        let mut ways = Ways::new(self.prices.len());
        for cell in &subnet.cells {
            ways.length[cell.at()] = cell.cost / subnet.load as f64 + self.prices[cell.at()];
        }
        loop {
            let agent = ways.settle_next()?;
            if self.room[agent] > 0 {
                for other in (0..self.prices.len()).filter(|other| ways.settled[*other]) {
                    self.prices[other] += ways.length[agent] - ways.length[other];
                }
                return Some((ways.back_from(agent), agent));
            }
            for next in 0..self.prices.len() {
                if ways.settled[next] {
                    continue;
                }
                if let Some(exit) = self.exit(instance, agent, next) {
                    let extra = (exit.extra + self.prices[next] - self.prices[agent]).max(0.0);
                    let hop = Hop { subnet: exit.subnet as usize, from: agent, to: next };
                    ways.reach(hop, next, ways.length[agent] + extra);
                }
            }
        }
    }

    /// Dijkstra against the edges from an agent that gets room: where room is worth least it stays, and prices fall.
    fn cheapest_hole(&mut self, instance: &Instance, start: usize) -> (Vec<Hop>, usize) {
        let mut ways = Ways::new(self.prices.len());
        ways.length[start] = 0.0;
        let (mut best, mut least) = (start, self.prices[start]);
        while let Some(agent) = ways.settle_next().filter(|agent| ways.length[*agent] < least) {
            if ways.length[agent] + self.prices[agent] < least {
                (best, least) = (agent, ways.length[agent] + self.prices[agent]);
            }
            for before in 0..self.prices.len() {
                if ways.settled[before] {
                    continue;
                }
                if let Some(exit) = self.exit(instance, before, agent) {
                    let extra = (exit.extra + self.prices[agent] - self.prices[before]).max(0.0);
                    let hop = Hop { subnet: exit.subnet as usize, from: before, to: agent };
                    ways.reach(hop, before, ways.length[agent] + extra);
                }
            }
        }
        for (price, length) in self.prices.iter_mut().zip(&ways.length) {
            *price = (*price - (least - length).max(0.0)).max(0.0);
        }
        (ways.out_to(best), best)
    }

    /// Pushes as much of `subnet` along the path as fits; returns how much that is.
    fn push(&mut self, instance: &Instance, subnet: usize, hops: &[Hop], last: usize, left: u64) -> u64 {
        let most = left.min(self.room[last]);
        let moved = hops.iter().map(|hop| self.load_at(hop.subnet, hop.from)).fold(most, u64::min);
        for hop in hops {
            self.shift(instance, *hop, moved);
        }
        self.add(instance, subnet, hops.first().map_or(last, |hop| hop.from), moved);
        self.room[last] -= moved;
        moved
    }

    fn shift(&mut self, instance: &Instance, hop: Hop, load: u64) {
        let shares = &mut self.shares[hop.subnet];
        if let Some(place) = shares.iter().position(|share| share.agent as usize == hop.from) {
            shares[place].load -= load;
            if shares[place].load == 0 {
                shares.swap_remove(place);
            }
        }
        self.add(instance, hop.subnet, hop.to, load);
    }

    fn add(&mut self, instance: &Instance, subnet: usize, agent: usize, load: u64) {
        if let Some(share) = self.shares[subnet].iter_mut().find(|share| share.agent as usize == agent) {
            share.load += load;
            return;
        }
        self.shares[subnet].push(Share { agent: agent as u32, load });
        self.visitors[agent].push(subnet as u32);
        self.exits.arrive(agent, subnet as u32, self.versions[subnet], &instance.subnets()[subnet]);
    }

    fn load_at(&self, subnet: usize, agent: usize) -> u64 {
        self.shares(subnet).find(|(at, _)| *at == agent).map_or(0, |(_, load)| load)
    }

    /// The cheapest subnet to move from one agent to another.
    fn exit(&mut self, instance: &Instance, from: usize, to: usize) -> Option<Exit> {
        if !self.exits.are_known(from) {
            self.open_exits(instance, from);
        }
        let (shares, versions) = (&self.shares, &self.versions);
        self.exits.cheapest(from, to, |exit| {
            let number = exit.subnet as usize;
            versions[number] == exit.version
                && shares[number].iter().any(|share| share.agent as usize == from)
        })
    }

    fn open_exits(&mut self, instance: &Instance, agent: usize) {
        let mut here = std::mem::take(&mut self.visitors[agent]);
        here.sort_unstable();
        here.dedup();
        here.retain(|subnet| self.load_at(*subnet as usize, agent) > 0);
        let versions = &self.versions;
        let held = here
            .iter()
            .map(|number| (*number, versions[*number as usize], &instance.subnets()[*number as usize]));
        self.exits.open(agent, held);
        self.visitors[agent] = here;
    }
}
