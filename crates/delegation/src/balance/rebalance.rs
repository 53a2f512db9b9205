//! Rebalance: moves from the present plan towards the cheapest one, limited in number.
//!
//! The moves between two plans depend on each other: one makes the room that another takes. They
//! are made in *batches*, each of which leaves no agent over its capacity that was not before.
//! Overloaded agents are relieved first; then the batch that gains most per move goes first, as
//! long as moves are left and the gain is worth them.

use std::collections::{BTreeMap, BTreeSet};

use super::moves::MAX_ALTERNATIVES;
use super::{Alternative, AssignmentProblem, Move, Optimum, Plan, RefusalReason, optimal};

/// Limits of the administrator.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RebalanceLimits {
    /// Subnets that may change their agent; each is fetched by an agent that does not know it yet.
    pub moves: usize,
    /// Milliseconds a day that a move must save on average over its batch, unless it relieves an
    /// overloaded agent.
    pub min_gain: f64,
}

/// A rebalance and what it gains.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebalance {
    /// The moves in the order in which they are carried out.
    pub moves: Vec<Move>,
    /// The plan afterwards.
    pub plan: Plan,
    /// Cost of the present plan, in milliseconds a day.
    pub before: f64,
    /// Cost of the plan afterwards; may be more where an overload is relieved.
    pub after: f64,
    /// Moves that would lead on to the optimum and are not made: no moves left, or not worth it.
    pub left: usize,
    /// The cheapest plan, towards which the moves lead.
    pub optimum: Optimum,
}

/// The rebalance from `current` towards the optimum. Subnets without an agent stay without one:
/// finding it is the search's part.
pub fn rebalance(
    problem: &AssignmentProblem,
    current: &Plan,
    limits: RebalanceLimits,
) -> Rebalance {
    let optimum = optimal(problem);
    let mut state = State::new(problem, current, &optimum.plan);
    let mut moves = Vec::new();
    for relief in [true, false] {
        // A batch may make the room that a batch refused before needs.
        while state.round(relief, limits, &mut moves) {}
    }
    let plan = state.plan;
    let left = state.pending.len();
    let before = problem.total_cost(current);
    let after = problem.total_cost(&plan);
    Rebalance { moves, plan, before, after, left, optimum }
}

/// A subnet that is not yet where the optimum has it; the one that gains most comes first.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PendingMove {
    /// Milliseconds a day.
    added_cost: f64,
    subnet: usize,
}

impl Eq for PendingMove {}

impl Ord for PendingMove {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.added_cost.total_cmp(&other.added_cost).then(self.subnet.cmp(&other.subnet))
    }
}

impl PartialOrd for PendingMove {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The plan so far, between the present one and the goal.
struct State<'p> {
    problem: &'p AssignmentProblem,
    goal: &'p Plan,
    plan: Plan,
    /// Pages a day; negative over capacity.
    room: Vec<i128>,
    pending: BTreeSet<PendingMove>,
    /// The pending moves by the agent they leave.
    leaving: Vec<BTreeSet<PendingMove>>,
    batches: usize,
}

impl<'p> State<'p> {
    fn new(problem: &'p AssignmentProblem, current: &Plan, goal: &'p Plan) -> Self {
        let loads = problem.loads(current);
        let pairs = problem.capacities().iter().zip(loads);
        let room = pairs.map(|(capacity, load)| i128::from(*capacity) - i128::from(load));
        let mut pending = BTreeSet::new();
        let mut leaving = vec![BTreeSet::new(); problem.capacities().len()];
        for (subnet, (from, to)) in current.iter().zip(goal).enumerate() {
            let (Some(from), Some(to)) = (*from, *to) else { continue };
            if from != to {
                let cost = |agent| problem.cost(subnet, agent).unwrap_or(0.0);
                let candidate = PendingMove { added_cost: cost(to) - cost(from), subnet };
                pending.insert(candidate);
                leaving[from].insert(candidate);
            }
        }
        let room = room.collect();
        Self { problem, goal, plan: current.clone(), room, pending, leaving, batches: 0 }
    }

    /// Makes the batches that are allowed, those that gain most first; whether there was one.
    fn round(&mut self, relief: bool, limits: RebalanceLimits, moves: &mut Vec<Move>) -> bool {
        let candidates: Vec<PendingMove> = self.pending.iter().copied().collect();
        let mut made = false;
        for candidate in candidates {
            let from = self.plan[candidate.subnet];
            let is_overloaded = from.is_some_and(|from| self.room[from] < 0);
            if relief && !is_overloaded || !self.pending.contains(&candidate) {
                continue;
            }
            let moves_left = limits.moves.saturating_sub(moves.len());
            let Some(batch) = self.batch(candidate, moves_left) else { continue };
            let gain = -batch.iter().map(|pending| pending.added_cost).sum::<f64>();
            if relief || gain > 0.0 && gain >= limits.min_gain * batch.len() as f64 {
                self.execute(&batch, moves);
                made = true;
            }
        }
        made
    }

    /// The move with all others that must be made before it, those first; `None` where they are
    /// more than `most`.
    fn batch(&self, first: PendingMove, most: usize) -> Option<Vec<PendingMove>> {
        let mut batch = vec![first];
        // Room that the batch makes at each agent, less the room that it takes.
        let mut change: BTreeMap<usize, i128> = BTreeMap::new();
        *change.entry(self.plan[first.subnet]?).or_default() += self.load(first.subnet);
        let mut next = 0;
        while let Some(PendingMove { subnet, .. }) = batch.get(next).copied() {
            next += 1;
            let to = self.goal[subnet]?;
            let balance = change.entry(to).or_default();
            *balance -= self.load(subnet);
            // Those that gain most make room first, so that the batch costs as little as possible.
            let mut leaving = self.leaving[to].iter().filter(|other| !batch.contains(other));
            let mut joined = Vec::new();
            while self.room[to] + *balance < 0 {
                let other = *leaving.next()?;
                *balance += self.load(other.subnet);
                joined.push(other);
            }
            batch.extend(joined);
            if batch.len() > most {
                return None;
            }
        }
        // A move comes after those that make room for it.
        batch.reverse();
        Some(batch)
    }

    fn load(&self, subnet: usize) -> i128 {
        i128::from(self.problem.subnets()[subnet].load)
    }

    fn execute(&mut self, batch: &[PendingMove], moves: &mut Vec<Move>) {
        for candidate in batch {
            let subnet = candidate.subnet;
            let (Some(from), Some(to)) = (self.plan[subnet], self.goal[subnet]) else { continue };
            let Some(target) = self.problem.subnets()[subnet].at(to) else { continue };
            let mut made = Move::new(self.problem, subnet, from, target);
            made.batch = self.batches;
            made.refused = self.alternatives(&made);
            moves.push(made);
            let load = self.load(subnet);
            self.room[from] += load;
            self.room[to] -= load;
            self.plan[subnet] = Some(to);
            self.pending.remove(candidate);
            self.leaving[from].remove(candidate);
        }
        self.batches += 1;
    }

    /// The other agents for the moved subnet, its present one included, cheapest first.
    fn alternatives(&self, made: &Move) -> Vec<Alternative> {
        let subnet = &self.problem.subnets()[made.subnet];
        let others = subnet.costs.iter().filter(|cost| cost.index() != made.to);
        let refused = others.map(|other| {
            let room = self.room[other.index()];
            let why = if other.cost >= made.after {
                RefusalReason::Dearer { by: other.cost - made.after }
            } else if other.index() == made.from || room >= i128::from(subnet.load) {
                RefusalReason::WorthMore
            } else {
                RefusalReason::Full { room: room.max(0) as u64 }
            };
            Alternative { subnet: made.subnet, agent: other.index(), cost: other.cost, why }
        });
        refused.take(MAX_ALTERNATIVES).collect()
    }
}
