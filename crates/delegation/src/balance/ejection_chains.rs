//! From split subnets to whole ones.
//!
//! A *chain* moves a subnet to another agent, where it may push one tenant out to a third, and so
//! on until one fits. Chains place what is not placed, and then improve the plan until none does,
//! or the plan is as good as the bound. Only chains whose first hops already gain are followed: of
//! every closed chain that gains in sum, some rotation gains from the start on (S. Lin and B. W.
//! Kernighan, "An effective heuristic algorithm for the traveling-salesman problem", 1973).

use super::{AssignmentProblem, Plan};

/// Stop when the plan costs less than this share above the bound.
const GOOD: f64 = 0.000_2;
/// Agents in a chain: one that takes, and up to three that pass on.
const LONGEST: usize = 4;
/// Hops to look at in all; a second or so.
const EFFORT: u64 = 40_000_000;
/// Gains below this are rounding, in milliseconds a day.
const LEAST: f64 = 1e-9;

/// A plan in the making.
pub(super) struct Desk<'i> {
    instance: &'i AssignmentProblem,
    pub(super) plan: Plan,
    pub(super) room: Vec<u64>,
    tenants: Vec<Vec<usize>>,
    effort: u64,
}

/// One hop of a chain.
#[derive(Clone, Copy)]
struct Hop {
    subnet: usize,
    from: Option<usize>,
    to: usize,
}

impl<'i> Desk<'i> {
    /// An empty plan with this much room.
    pub(super) fn new(instance: &'i AssignmentProblem, room: &[u64]) -> Self {
        let plan = vec![None; instance.subnets().len()];
        Self {
            instance,
            plan,
            room: room.to_vec(),
            tenants: vec![Vec::new(); room.len()],
            effort: EFFORT,
        }
    }

    /// Notes that `subnet` is at `agent`, which has accounted for it.
    pub(super) fn keep(&mut self, subnet: usize, agent: usize) {
        self.plan[subnet] = Some(agent);
        self.tenants[agent].push(subnet);
    }

    fn load(&self, subnet: usize) -> u64 {
        self.instance.subnets()[subnet].load
    }

    fn apply(&mut self, chain: &[Hop]) {
        for hop in chain {
            let load = self.load(hop.subnet);
            if let Some(from) = hop.from {
                self.tenants[from].retain(|tenant| *tenant != hop.subnet);
                self.room[from] += load;
            }
        }
        for hop in chain {
            self.room[hop.to] -= self.load(hop.subnet);
            self.keep(hop.subnet, hop.to);
        }
    }

    fn cost(&self) -> f64 {
        self.instance.total_cost(&self.plan)
    }
}

/// Clusters `split` and improves the plan towards `bound`.
pub(super) fn polish(desk: &mut Desk<'_>, split: &[usize], bound: f64) {
    for subnet in split {
        let placed = (1..=LONGEST)
            .find_map(|longest| Quest::new(desk, longest, f64::INFINITY).best_for(*subnet));
        if let Some(chain) = placed {
            desk.apply(&chain);
        }
    }
    for longest in 1..=LONGEST {
        while desk.cost() > bound * (1.0 + GOOD) && improve(desk, longest) {}
    }
}

/// One round over all subnets; whether anything became cheaper.
fn improve(desk: &mut Desk<'_>, longest: usize) -> bool {
    let mut improved = false;
    for subnet in 0..desk.plan.len() {
        if desk.effort == 0 {
            return false;
        }
        if let Some(chain) = Quest::new(desk, longest, -LEAST).best_for(subnet) {
            desk.apply(&chain);
            improved = true;
        }
    }
    improved
}

/// The search for the best chain that begins with one subnet.
struct Quest<'d, 'i> {
    desk: &'d mut Desk<'i>,
    longest: usize,
    /// The chain must cost less than this.
    limit: f64,
    chain: Vec<Hop>,
    best: Option<Vec<Hop>>,
}

impl<'d, 'i> Quest<'d, 'i> {
    fn new(desk: &'d mut Desk<'i>, longest: usize, limit: f64) -> Self {
        Self { desk, longest, limit, chain: Vec::new(), best: None }
    }

    fn best_for(mut self, subnet: usize) -> Option<Vec<Hop>> {
        let from = self.desk.plan[subnet];
        let now = from.and_then(|agent| self.desk.instance.cost(subnet, agent)).unwrap_or(0.0);
        self.hop(subnet, from, -now);
        self.best
    }

    /// Tries all places for `subnet`, which leaves `from`; `spent` is what the chain costs more so
    /// far, without it.
    fn hop(&mut self, subnet: usize, from: Option<usize>, spent: f64) {
        let instance = self.desk.instance;
        for cell in &instance.subnets()[subnet].costs {
            let (to, total) = (cell.index(), spent + cell.cost);
            if total >= self.limit || self.desk.effort == 0 {
                break; // costs are sorted by cost
            }
            self.desk.effort -= 1;
            if Some(to) == from || self.chain.iter().any(|hop| hop.to == to) {
                continue;
            }
            self.chain.push(Hop { subnet, from, to });
            let room = self.room(to);
            let load = self.desk.load(subnet);
            if room >= load {
                self.limit = total;
                self.best = Some(self.chain.clone());
            } else if self.chain.len() < self.longest {
                self.push_out(to, load - room, total);
            }
            self.chain.pop();
        }
    }

    /// Tries all tenants of `agent` that make room for `need` when they leave.
    fn push_out(&mut self, agent: usize, need: u64, spent: f64) {
        for index in 0..self.desk.tenants[agent].len() {
            let tenant = self.desk.tenants[agent][index];
            if self.desk.effort == 0 {
                return;
            }
            self.desk.effort -= 1;
            if self.desk.load(tenant) < need || self.chain.iter().any(|hop| hop.subnet == tenant) {
                continue;
            }
            let now = self.desk.instance.cost(tenant, agent).unwrap_or(0.0);
            self.hop(tenant, Some(agent), spent - now);
        }
    }

    /// Room at an agent that the chain has not come to: where the first subnet left, there is room
    /// for the last.
    fn room(&self, agent: usize) -> u64 {
        let left = self.chain.iter().filter(|hop| hop.from == Some(agent));
        self.desk.room[agent] + left.map(|hop| self.desk.load(hop.subnet)).sum::<u64>()
    }
}
