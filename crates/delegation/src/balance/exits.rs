//! The edges of the graph of agents: the cheapest subnet to move from here to there.

use std::collections::BinaryHeap;

use super::instance::Subnet;

/// Per agent, once it is needed: per other agent, its subnets by what moving them there costs a page.
#[derive(Debug, Clone)]
pub(super) struct Exits {
    of: Vec<Option<Vec<BinaryHeap<Exit>>>>,
    /// How many subnets may arrive before an agent's heaps, full of subnets that left, are made anew.
    patience: Vec<usize>,
}

/// Moving a page of `subnet` costs `extra` more, as long as its costs are those of `version`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Exit {
    pub(super) extra: f64,
    pub(super) subnet: u32,
    pub(super) version: u32,
}

impl Ord for Exit {
    /// The cheapest exit is the greatest, because `BinaryHeap` gives the greatest first.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.extra.total_cmp(&self.extra).then(other.subnet.cmp(&self.subnet))
    }
}

impl PartialOrd for Exit {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Exit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Exit {}

/// Arrivals after which heaps are made anew, at least.
const LEAST_PATIENCE: usize = 256;

impl Exits {
    pub(super) fn new(agents: usize) -> Self {
        Self { of: vec![None; agents], patience: vec![0; agents] }
    }

    pub(super) fn are_known(&self, agent: usize) -> bool {
        self.of[agent].is_some()
    }

    /// Opens the exits of an agent that holds these subnets.
    pub(super) fn open<'s>(&mut self, agent: usize, held: impl Iterator<Item = (u32, u32, &'s Subnet)>) {
        let mut exits = vec![Vec::new(); self.of.len()];
        let mut count = 0;
        for (number, version, subnet) in held {
            count += 1;
            for (to, exit) in exits_of(subnet, number, version, agent) {
                exits[to].push(exit);
            }
        }
        self.of[agent] = Some(exits.into_iter().map(BinaryHeap::from).collect());
        self.patience[agent] = LEAST_PATIENCE.max(count);
    }

    /// A subnet arrives at an agent.
    pub(super) fn arrive(&mut self, agent: usize, number: u32, version: u32, subnet: &Subnet) {
        let Some(exits) = &mut self.of[agent] else { return };
        if self.patience[agent] == 0 {
            self.of[agent] = None;
            return;
        }
        self.patience[agent] -= 1;
        for (to, exit) in exits_of(subnet, number, version, agent) {
            exits[to].push(exit);
        }
    }

    /// The cheapest exit that is still `valid`; those that are not are dropped.
    pub(super) fn cheapest(&mut self, from: usize, to: usize, valid: impl Fn(&Exit) -> bool) -> Option<Exit> {
        let heap = self.of[from].as_mut()?.get_mut(to)?;
        while let Some(exit) = heap.peek() {
            if valid(exit) {
                return Some(*exit);
            }
            heap.pop();
        }
        None
    }
}

fn exits_of(
    subnet: &Subnet,
    number: u32,
    version: u32,
    agent: usize,
) -> impl Iterator<Item = (usize, Exit)> + '_ {
    let load = subnet.load as f64;
    let here = subnet.cost(agent).unwrap_or(f64::INFINITY);
    let elsewhere = subnet.cells.iter().filter(move |cell| cell.at() != agent);
    elsewhere.map(move |cell| (cell.at(), Exit { extra: (cell.cost - here) / load, subnet: number, version }))
}
