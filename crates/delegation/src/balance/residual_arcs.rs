//! Arcs of the residual graph: the cheapest subnet to move from one agent to another.

use std::collections::BinaryHeap;

use super::AgentCost;
use super::problem::Subnet;

/// Per agent, once it is needed, the arcs to every other agent.
pub(super) struct ResidualArcs {
    outgoing: Vec<Option<Outgoing>>,
}

/// The arcs from one agent, indexed by the agent they lead to.
///
/// The top of each heap is always a subnet that is still here. Its cost and number are also kept in
/// flat rows, because the path search reads whole rows.
struct Outgoing {
    added_costs: Vec<f64>,
    subnets: Vec<u32>,
    heaps: Vec<BinaryHeap<Arc>>,
    /// Arcs that cost as much or more are not in the heap. When they would be needed, most of the
    /// subnets have left, and the heap is built again.
    ceilings: Vec<f64>,
    /// Arrivals until the heaps are full of subnets that left.
    arrivals_left: usize,
}

/// Moving a page of `subnet` costs `added_cost` more.
#[derive(Clone, Copy)]
struct Arc {
    added_cost: f64,
    subnet: u32,
}

impl Ord for Arc {
    /// The cheapest arc is the greatest, because `BinaryHeap` pops the greatest first.
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        other.added_cost.total_cmp(&self.added_cost).then(other.subnet.cmp(&self.subnet))
    }
}

impl PartialOrd for Arc {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Arc {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Arc {}

/// Marks an agent to which no subnet may move.
const NO_SUBNET: u32 = u32::MAX;

/// Least number of arrivals after which the heaps are built again.
const MIN_ARRIVALS: usize = 256;

/// A heap is built of this many arcs, or of one in [`SHARE`] if that is more.
const MIN_ARCS: usize = 64;
const SHARE: usize = 8;

impl ResidualArcs {
    pub(super) fn new(agents: usize) -> Self {
        Self { outgoing: std::iter::repeat_with(|| None).take(agents).collect() }
    }

    /// What a page of the cheapest subnet costs more at each other agent, infinite where none may
    /// go; `None` before [`Self::build`].
    pub(super) fn row(&self, agent: usize) -> Option<&[f64]> {
        self.outgoing[agent].as_ref().map(|outgoing| outgoing.added_costs.as_slice())
    }

    /// The cheapest subnet to move.
    pub(super) fn cheapest(&self, from: usize, to: usize) -> Option<usize> {
        let subnet = *self.outgoing[from].as_ref()?.subnets.get(to)?;
        (subnet != NO_SUBNET).then_some(subnet as usize)
    }

    /// Builds the arcs of an agent that holds these subnets.
    pub(super) fn build<'s>(
        &mut self,
        agent: usize,
        held: impl Iterator<Item = (u32, &'s Subnet)>,
    ) {
        let mut arcs = vec![Vec::new(); self.outgoing.len()];
        let mut count = 0;
        for (number, subnet) in held {
            count += 1;
            for (to, arc) in arcs_of(subnet, number, agent) {
                arcs[to].push(arc);
            }
        }
        let most = MIN_ARCS.max(count / SHARE);
        let ceilings = arcs.iter_mut().map(|arcs| keep_cheapest(arcs, most)).collect();
        let heaps: Vec<BinaryHeap<Arc>> = arcs.into_iter().map(BinaryHeap::from).collect();
        let (added_costs, subnets) = heaps.iter().map(top).unzip();
        let arrivals_left = MIN_ARRIVALS.max(count);
        self.outgoing[agent] =
            Some(Outgoing { added_costs, subnets, heaps, ceilings, arrivals_left });
    }

    /// Adds the arcs of a subnet that comes to an agent; returns whether they must be built again.
    pub(super) fn add(&mut self, agent: usize, number: u32, subnet: &Subnet) -> bool {
        let Some(outgoing) = &mut self.outgoing[agent] else { return false };
        for (to, arc) in arcs_of(subnet, number, agent) {
            if arc.added_cost >= outgoing.ceilings[to] {
                continue;
            }
            outgoing.heaps[to].push(arc);
            if arc.added_cost < outgoing.added_costs[to] {
                outgoing.added_costs[to] = arc.added_cost;
                outgoing.subnets[to] = number;
            }
        }
        outgoing.arrivals_left = outgoing.arrivals_left.saturating_sub(1);
        outgoing.arrivals_left == 0
    }

    /// Removes a subnet that left an agent; returns whether a heap is used up, so that the arcs
    /// must be built again. `is_here` says which subnets are still there.
    pub(super) fn remove(
        &mut self,
        agent: usize,
        number: u32,
        subnet: &Subnet,
        is_here: impl Fn(u32) -> bool,
    ) -> bool {
        let Some(outgoing) = &mut self.outgoing[agent] else { return false };
        let mut used_up = false;
        for to in subnet.costs.iter().map(AgentCost::index) {
            // A subnet deeper in a heap is skipped when it comes to the top.
            if outgoing.subnets[to] != number {
                continue;
            }
            let heap = &mut outgoing.heaps[to];
            while heap.peek().is_some_and(|arc| !is_here(arc.subnet)) {
                heap.pop();
            }
            let (added_cost, subnet) = top(heap);
            outgoing.added_costs[to] = added_cost;
            outgoing.subnets[to] = subnet;
            used_up |= heap.is_empty() && outgoing.ceilings[to] < f64::INFINITY;
        }
        used_up
    }
}

/// Keeps the `most` cheapest arcs; returns the cost of the cheapest that was dropped, infinite when
/// none was.
fn keep_cheapest(arcs: &mut Vec<Arc>, most: usize) -> f64 {
    if arcs.len() <= most {
        return f64::INFINITY;
    }
    let by_cost = |a: &Arc, b: &Arc| a.added_cost.total_cmp(&b.added_cost);
    let (_, next, _) = arcs.select_nth_unstable_by(most, by_cost);
    let ceiling = next.added_cost;
    arcs.truncate(most);
    ceiling
}

fn top(heap: &BinaryHeap<Arc>) -> (f64, u32) {
    heap.peek().map_or((f64::INFINITY, NO_SUBNET), |arc| (arc.added_cost, arc.subnet))
}

fn arcs_of(subnet: &Subnet, number: u32, agent: usize) -> impl Iterator<Item = (usize, Arc)> + '_ {
    let load = subnet.load as f64;
    let here = subnet.cost(agent).unwrap_or(f64::INFINITY);
    let others = subnet.costs.iter().filter(move |cost| cost.index() != agent);
    others.map(move |there| {
        (there.index(), Arc { added_cost: (there.cost - here) / load, subnet: number })
    })
}
