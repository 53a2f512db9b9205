//! Subnets come one after the other, each to its nearest agent, and whoever is overfull is relieved
//! by a rule: what the online rules make of a whole instance.

use super::{AssignmentProblem, Move, Plan, relieve};
use model::BalanceRule;

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Arrivals {
    /// Who crawls what in the end.
    pub plan: Plan,
    /// How often a subnet was moved on.
    pub moves: usize,
    /// Moves than which none was cheaper at that moment: the paper found more than two thirds for
    /// its rule.
    pub best_moves: usize,
}

/// Lets the subnets arrive in their order. Whoever stays overfull because nobody has room is tried
/// again at the end, as later moves may have made some.
pub fn arrivals(instance: &AssignmentProblem, rule: BalanceRule) -> Arrivals {
    let agents = instance.capacities().len();
    let mut desk = Desk {
        instance,
        held: vec![Vec::new(); agents],
        loads: vec![0; agents],
        result: Arrivals { plan: vec![None; instance.subnets().len()], moves: 0, best_moves: 0 },
    };
    for (subnet, nearest) in instance.nearest().into_iter().enumerate() {
        let Some(nearest) = nearest else { continue };
        desk.put(subnet, nearest);
        desk.relieve(nearest, rule);
    }
    // Ends, as loads are at least 1 and each move takes one from somebody overfull to somebody whom
    // it does not overfill.
    let mut moves = None;
    while moves.replace(desk.result.moves) != Some(desk.result.moves) {
        (0..agents).for_each(|agent| desk.relieve(agent, rule));
    }
    desk.result
}

struct Desk<'i> {
    instance: &'i AssignmentProblem,
    held: Vec<Vec<usize>>,
    loads: Vec<u64>,
    result: Arrivals,
}

impl Desk<'_> {
    /// Until the agent is within its capacity or nobody has room.
    fn relieve(&mut self, agent: usize, rule: BalanceRule) {
        while self.loads[agent] > self.instance.capacities()[agent] {
            let Some(found) = relieve(self.instance, &self.loads, agent, &self.held[agent], rule)
            else {
                return;
            };
            self.count(&found, rule);
            self.carry_out(&found);
        }
    }

    fn put(&mut self, subnet: usize, agent: usize) {
        self.held[agent].push(subnet);
        self.loads[agent] += self.instance.subnets()[subnet].load;
        self.result.plan[subnet] = Some(agent);
    }

    fn carry_out(&mut self, found: &Move) {
        self.held[found.from].retain(|subnet| *subnet != found.subnet);
        self.loads[found.from] -= self.instance.subnets()[found.subnet].load;
        self.put(found.subnet, found.to);
    }

    fn count(&mut self, found: &Move, rule: BalanceRule) {
        let cheapest =
            |rule| relieve(self.instance, &self.loads, found.from, &self.held[found.from], rule);
        let is_best = rule == BalanceRule::Cheapest
            || cheapest(BalanceRule::Cheapest)
                .is_none_or(|best| found.extra() <= best.extra() + 1e-9);
        self.result.moves += 1;
        self.result.best_moves += usize::from(is_best);
    }
}
