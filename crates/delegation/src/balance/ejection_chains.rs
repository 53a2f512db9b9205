//! Ejection chains: local search that gives split subnets to one agent each and improves the plan.
//!
//! A *chain* moves a subnet to another agent, where it may eject one subnet to a third agent, and
//! so on until one fits. Chains place what is not placed, and then improve the plan until no chain
//! does, or the plan is as good as the bound. Only chains whose first moves already gain are
//! followed: of every closed chain that gains in sum, some rotation gains from the start on (S. Lin
//! and B. W. Kernighan, "An effective heuristic algorithm for the traveling-salesman problem",
//! 1973).

use super::{AssignmentProblem, Plan};

/// Share above the bound below which the plan is good enough.
const GOOD_ENOUGH: f64 = 0.000_2;
/// Moves in a chain.
const MAX_MOVES: usize = 4;
/// Moves to consider in all, which takes a second or so.
const MAX_EFFORT: u64 = 40_000_000;
/// Gains below this are rounding, in milliseconds a day.
const MIN_GAIN: f64 = 1e-9;

/// A plan that local search works on.
pub(super) struct Draft<'p> {
    problem: &'p AssignmentProblem,
    pub(super) plan: Plan,
    pub(super) room: Vec<u64>,
    /// Subnets by agent.
    held: Vec<Vec<usize>>,
    effort_left: u64,
}

/// One move of a chain.
#[derive(Clone, Copy)]
struct ChainMove {
    subnet: usize,
    from: Option<usize>,
    to: usize,
}

impl<'p> Draft<'p> {
    /// An empty plan with this much room at each agent.
    pub(super) fn new(problem: &'p AssignmentProblem, room: &[u64]) -> Self {
        Self {
            problem,
            plan: vec![None; problem.subnets().len()],
            room: room.to_vec(),
            held: vec![Vec::new(); room.len()],
            effort_left: MAX_EFFORT,
        }
    }

    /// Notes that `subnet` is at `agent`, whose room is already less by its load.
    pub(super) fn keep(&mut self, subnet: usize, agent: usize) {
        self.plan[subnet] = Some(agent);
        self.held[agent].push(subnet);
    }

    fn load(&self, subnet: usize) -> u64 {
        self.problem.subnets()[subnet].load
    }

    fn apply(&mut self, chain: &[ChainMove]) {
        // All subnets leave before any arrives: in a closed chain the last takes the room of the
        // first.
        for moved in chain {
            if let Some(from) = moved.from {
                self.held[from].retain(|subnet| *subnet != moved.subnet);
                self.room[from] += self.load(moved.subnet);
            }
        }
        for moved in chain {
            self.room[moved.to] -= self.load(moved.subnet);
            self.keep(moved.subnet, moved.to);
        }
    }

    fn cost(&self) -> f64 {
        self.problem.total_cost(&self.plan)
    }
}

/// Places the subnets in `split` and improves the plan towards `bound`.
pub(super) fn place_split(draft: &mut Draft<'_>, split: &[usize], bound: f64) {
    for subnet in split {
        let placed = (1..=MAX_MOVES).find_map(|max_moves| {
            ChainSearch::new(draft, max_moves, f64::INFINITY).best_for(*subnet)
        });
        if let Some(chain) = placed {
            draft.apply(&chain);
        }
    }
    // Short chains first: they are found fast and gain most.
    for max_moves in 1..=MAX_MOVES {
        while draft.cost() > bound * (1.0 + GOOD_ENOUGH) && improve(draft, max_moves) {}
    }
}

/// One round over all subnets; whether the plan became cheaper.
fn improve(draft: &mut Draft<'_>, max_moves: usize) -> bool {
    let mut improved = false;
    for subnet in 0..draft.plan.len() {
        if draft.effort_left == 0 {
            return false;
        }
        if let Some(chain) = ChainSearch::new(draft, max_moves, -MIN_GAIN).best_for(subnet) {
            draft.apply(&chain);
            improved = true;
        }
    }
    improved
}

/// The search for the best chain that begins with one subnet.
struct ChainSearch<'d, 'p> {
    draft: &'d mut Draft<'p>,
    max_moves: usize,
    /// The chain must add less to the cost than this.
    limit: f64,
    chain: Vec<ChainMove>,
    best: Option<Vec<ChainMove>>,
}

impl<'d, 'p> ChainSearch<'d, 'p> {
    fn new(draft: &'d mut Draft<'p>, max_moves: usize, limit: f64) -> Self {
        Self { draft, max_moves, limit, chain: Vec::new(), best: None }
    }

    fn best_for(mut self, subnet: usize) -> Option<Vec<ChainMove>> {
        let from = self.draft.plan[subnet];
        let present = from.and_then(|agent| self.draft.problem.cost(subnet, agent));
        self.extend(subnet, from, -present.unwrap_or(0.0));
        self.best
    }

    /// Tries all agents for `subnet`, which leaves `from`; `added` is what the chain adds to the
    /// cost so far, without this subnet's new cost.
    fn extend(&mut self, subnet: usize, from: Option<usize>, added: f64) {
        let problem = self.draft.problem;
        for cost in &problem.subnets()[subnet].costs {
            let to = cost.index();
            let total = added + cost.cost;
            // Costs are sorted, so all further agents are beyond the limit, too.
            if total >= self.limit || self.draft.effort_left == 0 {
                break;
            }
            self.draft.effort_left -= 1;
            if Some(to) == from || self.chain.iter().any(|moved| moved.to == to) {
                continue;
            }
            self.chain.push(ChainMove { subnet, from, to });
            let room = self.room(to);
            let load = self.draft.load(subnet);
            if room >= load {
                self.limit = total;
                self.best = Some(self.chain.clone());
            } else if self.chain.len() < self.max_moves {
                self.eject(to, load - room, total);
            }
            self.chain.pop();
        }
    }

    /// Tries all subnets of `agent` that make room for `need` when they leave.
    fn eject(&mut self, agent: usize, need: u64, added: f64) {
        for index in 0..self.draft.held[agent].len() {
            let subnet = self.draft.held[agent][index];
            if self.draft.effort_left == 0 {
                return;
            }
            self.draft.effort_left -= 1;
            let is_in_chain = self.chain.iter().any(|moved| moved.subnet == subnet);
            if self.draft.load(subnet) < need || is_in_chain {
                continue;
            }
            let present = self.draft.problem.cost(subnet, agent).unwrap_or(0.0);
            self.extend(subnet, Some(agent), added - present);
        }
    }

    /// Room at an agent to which no move of the chain leads. The agent that the first subnet leaves
    /// has room for the last one.
    fn room(&self, agent: usize) -> u64 {
        let left = self.chain.iter().filter(|moved| moved.from == Some(agent));
        self.draft.room[agent] + left.map(|moved| self.draft.load(moved.subnet)).sum::<u64>()
    }
}
