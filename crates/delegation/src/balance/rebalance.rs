//! From the plan as it is to the cheapest one, in not too many moves.
//!
//! The moves between two plans hang together: one makes the room that another takes. They are made
//! in *batches*, each of which leaves nobody over capacity who was not before. Overfull agents are
//! relieved first; then the batch that gains most per move goes first, as long as moves are left
//! and the gain is worth them.

use std::collections::{BTreeMap, BTreeSet};

use super::moves::REMEMBERED;
use super::{Alternative, AssignmentProblem, Move, Optimum, Plan, RefusalReason, optimal};

/// What the administrator allows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RebalanceLimits {
    /// At most so many subnets change their agent. Each one is fetched by an agent that does not
    /// know it yet.
    pub moves: usize,
    /// A move that relieves nobody must save this much on average over its batch, in milliseconds a
    /// day.
    pub min_gain: f64,
}

/// What to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Rebalance {
    /// In this order.
    pub moves: Vec<Move>,
    /// Who crawls what afterwards.
    pub plan: Plan,
    /// Cost of the plan as it was, in milliseconds a day.
    pub before: f64,
    /// Cost afterwards. May be more where an overload was relieved.
    pub after: f64,
    /// Moves that would lead on to the optimum and were not made: no moves left, or not worth it.
    pub left: usize,
    /// The goal.
    pub optimum: Optimum,
}

/// Moves from `current` towards the optimum. Subnets without an agent stay without one: finding it
/// is the search's part.
pub fn rebalance(
    instance: &AssignmentProblem,
    current: &Plan,
    limits: RebalanceLimits,
) -> Rebalance {
    rebalance_towards(instance, current, limits, optimal(instance))
}

/// The same towards an optimum that is known already, as a [`super::MinCostFlow`] that follows the changes
/// gives it.
pub fn rebalance_towards(
    instance: &AssignmentProblem,
    current: &Plan,
    limits: RebalanceLimits,
    optimum: Optimum,
) -> Rebalance {
    let mut desk = Desk::new(instance, current, &optimum.plan);
    let mut moves = Vec::new();
    for relief in [true, false] {
        while desk.round(relief, limits, &mut moves) {}
    }
    let plan = desk.plan;
    let (before, after) = (instance.total_cost(current), instance.total_cost(&plan));
    Rebalance { moves, before, after, left: desk.pending.len(), plan, optimum }
}

/// A subnet that shall leave, with what that costs more: the largest gain first.
type Wish = (Extra, usize);

struct Desk<'i> {
    instance: &'i AssignmentProblem,
    goal: &'i Plan,
    plan: Plan,
    /// Pages a day; negative over capacity.
    room: Vec<i128>,
    pending: BTreeSet<Wish>,
    /// The same by agent.
    leaving: Vec<BTreeSet<Wish>>,
    batch: usize,
}

/// Milliseconds a day, ordered.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Extra(f64);

impl Eq for Extra {}

impl Ord for Extra {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Extra {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<'i> Desk<'i> {
    fn new(instance: &'i AssignmentProblem, current: &Plan, goal: &'i Plan) -> Self {
        let loads = instance.loads(current);
        let room = instance
            .capacities()
            .iter()
            .zip(loads)
            .map(|(most, load)| i128::from(*most) - i128::from(load));
        let (mut pending, mut leaving) =
            (BTreeSet::new(), vec![BTreeSet::new(); instance.capacities().len()]);
        for (subnet, (from, to)) in current.iter().zip(goal).enumerate() {
            let (Some(from), Some(to)) = (*from, *to) else { continue };
            if from != to {
                let wish = (Extra(extra(instance, subnet, from, to)), subnet);
                pending.insert(wish);
                leaving[from].insert(wish);
            }
        }
        Self {
            instance,
            goal,
            plan: current.clone(),
            room: room.collect(),
            pending,
            leaving,
            batch: 0,
        }
    }

    /// Makes what batches it can; whether there was one.
    fn round(&mut self, relief: bool, limits: RebalanceLimits, moves: &mut Vec<Move>) -> bool {
        let wishes: Vec<Wish> = self.pending.iter().copied().collect();
        let mut made = false;
        for wish in wishes {
            let from = self.plan[wish.1];
            let overfull = from.is_some_and(|from| self.room[from] < 0);
            if relief && !overfull || !self.pending.contains(&wish) {
                continue;
            }
            let Some(batch) = self.batch(wish, limits.moves.saturating_sub(moves.len())) else {
                continue;
            };
            let gain = -batch.iter().map(|(extra, _)| extra.0).sum::<f64>();
            if relief || gain > 0.0 && gain >= limits.min_gain * batch.len() as f64 {
                self.carry_out(&batch, moves);
                made = true;
            }
        }
        made
    }

    /// The wish with all others that must come true before it, those first; `None` where they are
    /// more than `most`.
    fn batch(&self, first: Wish, most: usize) -> Option<Vec<Wish>> {
        let mut batch = vec![first];
        let mut change: BTreeMap<usize, i128> = BTreeMap::new();
        *change.entry(self.plan[first.1]?).or_default() += self.load(first.1);
        let mut open = 0;
        while let Some((_, subnet)) = batch.get(open).copied() {
            open += 1;
            let to = self.goal[subnet]?;
            let balance = change.entry(to).or_default();
            *balance -= self.load(subnet);
            let mut tenants = self.leaving[to].iter().filter(|wish| !batch.contains(wish));
            let mut joined = Vec::new();
            while self.room[to] + *balance < 0 {
                let wish = *tenants.next()?;
                *balance += self.load(wish.1);
                joined.push(wish);
            }
            batch.extend(joined);
            if batch.len() > most {
                return None;
            }
        }
        batch.reverse();
        Some(batch)
    }

    fn load(&self, subnet: usize) -> i128 {
        i128::from(self.instance.subnets()[subnet].load)
    }

    fn carry_out(&mut self, batch: &[Wish], moves: &mut Vec<Move>) {
        for wish in batch {
            let subnet = wish.1;
            let (Some(from), Some(to)) = (self.plan[subnet], self.goal[subnet]) else { continue };
            let Some(cell) = self.instance.subnets()[subnet].cell(to) else { continue };
            let mut made = Move::new(self.instance, subnet, from, cell);
            (made.batch, made.refused) = (self.batch, self.refused(&made));
            moves.push(made);
            let load = self.load(subnet);
            self.room[from] += load;
            self.room[to] -= load;
            self.plan[subnet] = Some(to);
            self.pending.remove(wish);
            self.leaving[from].remove(wish);
        }
        self.batch += 1;
    }

    /// The agents that would have been cheaper, and staying.
    fn refused(&self, made: &Move) -> Vec<Alternative> {
        let subnet = &self.instance.subnets()[made.subnet];
        let others = subnet.costs.iter().filter(|cell| cell.index() != made.to);
        let judged = others.map(|cell| {
            let room = self.room[cell.index()];
            let why = if cell.cost >= made.after {
                RefusalReason::Dearer { by: cell.cost - made.after }
            } else if cell.index() == made.from || room >= i128::from(subnet.load) {
                RefusalReason::WorthMore
            } else {
                RefusalReason::Full { room: room.max(0) as u64 }
            };
            Alternative { subnet: made.subnet, agent: cell.index(), cost: cell.cost, why }
        });
        judged.take(REMEMBERED).collect()
    }
}

fn extra(instance: &AssignmentProblem, subnet: usize, from: usize, to: usize) -> f64 {
    instance.cost(subnet, to).unwrap_or(0.0) - instance.cost(subnet, from).unwrap_or(0.0)
}
