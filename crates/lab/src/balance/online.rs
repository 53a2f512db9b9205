//! Online rules on a whole problem: subnets arrive one after the other, each at its nearest agent,
//! and an overloaded agent is relieved by a rule.

use delegation::balance::{AssignmentProblem, Move, Plan, relieve};
use model::BalanceRule;

/// Result of an online rule.
#[derive(Debug, Clone, PartialEq)]
pub struct OnlineRun {
    /// The agent of each subnet in the end.
    pub plan: Plan,
    /// How often a subnet was moved.
    pub moves: usize,
    /// Moves with no cheaper one at that moment: the paper found more than two thirds for its rule.
    pub best_moves: usize,
}

/// Lets the subnets arrive in their order. Agents that stay overloaded because no other agent has
/// room are tried again at the end, as later moves may have made some.
pub fn run_online(problem: &AssignmentProblem, rule: BalanceRule) -> OnlineRun {
    let agents = problem.capacities().len();
    let plan = vec![None; problem.subnets().len()];
    let mut state = State {
        problem,
        held: vec![Vec::new(); agents],
        loads: vec![0; agents],
        run: OnlineRun { plan, moves: 0, best_moves: 0 },
    };
    for (subnet, nearest) in problem.nearest().into_iter().enumerate() {
        let Some(nearest) = nearest else { continue };
        state.put(subnet, nearest);
        state.relieve(nearest, rule);
    }
    // Ends, as loads are at least 1 and each move takes one from an overloaded agent to one that it
    // does not overload.
    let mut moves = None;
    while moves.replace(state.run.moves) != Some(state.run.moves) {
        (0..agents).for_each(|agent| state.relieve(agent, rule));
    }
    state.run
}

struct State<'p> {
    problem: &'p AssignmentProblem,
    held: Vec<Vec<usize>>,
    loads: Vec<u64>,
    run: OnlineRun,
}

impl State<'_> {
    /// Moves subnets until the agent is within its capacity or no other agent has room.
    fn relieve(&mut self, agent: usize, rule: BalanceRule) {
        while self.loads[agent] > self.problem.capacities()[agent] {
            let Some(made) = self.best(agent, rule) else { return };
            self.count(&made, rule);
            self.execute(&made);
        }
    }

    fn best(&self, agent: usize, rule: BalanceRule) -> Option<Move> {
        relieve(self.problem, &self.loads, agent, &self.held[agent], rule)
    }

    fn put(&mut self, subnet: usize, agent: usize) {
        self.held[agent].push(subnet);
        self.loads[agent] += self.problem.subnets()[subnet].load;
        self.run.plan[subnet] = Some(agent);
    }

    fn execute(&mut self, made: &Move) {
        self.held[made.from].retain(|subnet| *subnet != made.subnet);
        self.loads[made.from] -= self.problem.subnets()[made.subnet].load;
        self.put(made.subnet, made.to);
    }

    fn count(&mut self, made: &Move, rule: BalanceRule) {
        let cheapest = || self.best(made.from, BalanceRule::Cheapest);
        let is_best = rule == BalanceRule::Cheapest
            || cheapest().is_none_or(|best| made.added_cost() <= best.added_cost() + 1e-9);
        self.run.moves += 1;
        self.run.best_moves += usize::from(is_best);
    }
}
