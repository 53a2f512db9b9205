//! The edges of the graph of agents: the cheapest subnet to move from here to there.

use std::collections::BinaryHeap;

use super::problem::Subnet;

/// Per agent, once it is needed: per other agent, its subnets by what moving them there costs a
/// page.
#[derive(Debug, Clone)]
pub(super) struct Exits {
    desks: Vec<Option<Desk>>,
}

/// The cheapest exit of each heap is always valid; what it costs and which subnet it is stand in
/// flat rows, too.
#[derive(Debug, Clone)]
struct Desk {
    extras: Vec<f64>,
    cheapest: Vec<u32>,
    heaps: Vec<BinaryHeap<Exit>>,
    /// Exits that cost as much or more are left out of the heap: before their turn comes most of
    /// the subnets are gone.
    ceilings: Vec<f64>,
    /// After so many arrivals the heaps are full of subnets that left.
    patience: usize,
}

/// Moving a page of `subnet` costs `extra` more, as long as its costs are those of `version`.
#[derive(Debug, Clone, Copy)]
struct Exit {
    extra: f64,
    subnet: u32,
    version: u32,
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

/// Nobody may go there.
const NOBODY: u32 = u32::MAX;

/// Arrivals after which heaps are made anew, at least.
const LEAST_PATIENCE: usize = 256;

/// Of the exits to an agent a heap begins with so many, or with one in [`SHARE`] if that is more.
const LEAST_EXITS: usize = 64;
/// See [`LEAST_EXITS`].
const SHARE: usize = 8;

impl Exits {
    pub(super) fn new(agents: usize) -> Self {
        Self { desks: vec![None; agents] }
    }

    /// What a page of the cheapest subnet costs more at each other agent, infinite where none may
    /// go; `None` before [`Self::open`].
    pub(super) fn row(&self, agent: usize) -> Option<&[f64]> {
        self.desks[agent].as_ref().map(|desk| desk.extras.as_slice())
    }

    /// The cheapest subnet to move.
    pub(super) fn cheapest(&self, from: usize, to: usize) -> Option<usize> {
        let desk = self.desks[from].as_ref()?;
        desk.cheapest.get(to).filter(|subnet| **subnet != NOBODY).map(|subnet| *subnet as usize)
    }

    /// Opens the exits of an agent that holds these subnets: number, version of the costs, costs.
    pub(super) fn open<'s>(
        &mut self,
        agent: usize,
        held: impl Iterator<Item = (u32, u32, &'s Subnet)>,
    ) {
        let mut exits = vec![Vec::new(); self.desks.len()];
        let mut count = 0;
        for (number, version, subnet) in held {
            count += 1;
            for (to, exit) in exits_of(subnet, number, version, agent) {
                exits[to].push(exit);
            }
        }
        let most = LEAST_EXITS.max(count / SHARE);
        let ceilings = exits.iter_mut().map(|exits| keep_cheapest(exits, most)).collect();
        let heaps: Vec<BinaryHeap<Exit>> = exits.into_iter().map(BinaryHeap::from).collect();
        let (extras, cheapest) = heaps.iter().map(top).unzip();
        let patience = LEAST_PATIENCE.max(count);
        self.desks[agent] = Some(Desk { extras, cheapest, heaps, ceilings, patience });
    }

    /// A subnet comes to an agent; whether its exits are so worn that they shall be opened anew.
    pub(super) fn come(
        &mut self,
        agent: usize,
        number: u32,
        version: u32,
        subnet: &Subnet,
    ) -> bool {
        let Some(desk) = &mut self.desks[agent] else { return false };
        for (to, exit) in exits_of(subnet, number, version, agent) {
            if exit.extra >= desk.ceilings[to] {
                continue;
            }
            desk.heaps[to].push(exit);
            if exit.extra < desk.extras[to] {
                (desk.extras[to], desk.cheapest[to]) = (exit.extra, number);
            }
        }
        desk.patience = desk.patience.saturating_sub(1);
        desk.patience == 0
    }

    /// A subnet left an agent; whether some exits are used up and shall be opened anew. `at` gives
    /// the version of the costs of those who are still there.
    pub(super) fn leave(
        &mut self,
        agent: usize,
        number: u32,
        subnet: &Subnet,
        at: impl Fn(u32) -> Option<u32>,
    ) -> bool {
        let Some(desk) = &mut self.desks[agent] else { return false };
        let mut used_up = false;
        for to in subnet.costs.iter().map(super::AgentCost::index) {
            if desk.cheapest[to] != number {
                continue;
            }
            let heap = &mut desk.heaps[to];
            while heap.peek().is_some_and(|exit| at(exit.subnet) != Some(exit.version)) {
                heap.pop();
            }
            (desk.extras[to], desk.cheapest[to]) = top(heap);
            used_up |= heap.is_empty() && desk.ceilings[to] < f64::INFINITY;
        }
        used_up
    }
}

/// Keeps so many exits, and tells what the cheapest of the others costs; infinite when there are no
/// others.
fn keep_cheapest(exits: &mut Vec<Exit>, most: usize) -> f64 {
    if exits.len() <= most {
        return f64::INFINITY;
    }
    let (_, next, _) = exits.select_nth_unstable_by(most, |a, b| a.extra.total_cmp(&b.extra));
    let ceiling = next.extra;
    exits.truncate(most);
    ceiling
}

fn top(heap: &BinaryHeap<Exit>) -> (f64, u32) {
    heap.peek().map_or((f64::INFINITY, NOBODY), |exit| (exit.extra, exit.subnet))
}

fn exits_of(
    subnet: &Subnet,
    number: u32,
    version: u32,
    agent: usize,
) -> impl Iterator<Item = (usize, Exit)> + '_ {
    let load = subnet.load as f64;
    let here = subnet.cost(agent).unwrap_or(f64::INFINITY);
    let elsewhere = subnet.costs.iter().filter(move |cell| cell.index() != agent);
    elsewhere.map(move |cell| {
        (cell.index(), Exit { extra: (cell.cost - here) / load, subnet: number, version })
    })
}
