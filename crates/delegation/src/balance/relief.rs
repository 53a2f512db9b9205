//! Relief of one agent that is over its capacity: which subnet it releases, and to which agent
//! (IPMicra III.F, the online rules).

use model::BalanceRule;

use super::moves::MAX_ALTERNATIVES;
use super::{AgentCost, Alternative, AssignmentProblem, CostSource, Move, RefusalReason};

/// The move that relieves `agent` of one of the subnets in `held`; `loads` are the pages a day of
/// all agents at present. The new subnet that caused the overload is among `held`, so that "the new
/// subnet is delegated to the second-best crawler" (III.F) is one of the choices. `None` when none
/// of them can go anywhere.
///
/// [`BalanceRule::Variance`] is the paper's:
///
/// > This is the subnet with the smallest variance in its probing results. The crawler takes this
/// > subnet and checks if the next-best crawler for it (if any), according to the probing results,
/// > is available and can accept the subnet […]. If not, we retry the approach with the next best
/// > subnet. (III.F)
///
/// [`BalanceRule::NextBest`] is the paper's "simpler heuristic that finds the best URL to
/// re-delegate by comparing the next-best time for all the URLs in the overloaded crawler".
///
/// By these rules only a subnet's next-best agent is considered, by the paper's only among agents
/// that measured the subnet. When that is full for every subnet, the agent would stay over its
/// capacity; then the cheapest move is made instead, under either rule.
pub fn relieve(
    problem: &AssignmentProblem,
    loads: &[u64],
    agent: usize,
    held: &[usize],
    rule: BalanceRule,
) -> Option<Move> {
    let relief = Relief { problem, loads, agent };
    let measured = held.iter().filter_map(|one| Some((*one, relief.next_best_measured(*one)?)));
    let next_best = held.iter().filter_map(|one| Some((*one, relief.next_best(*one)?)));
    let chosen = match rule {
        BalanceRule::Off => return None,
        BalanceRule::Variance => relief.least_variance(measured),
        BalanceRule::NextBest => relief.cheapest(next_best),
        BalanceRule::Cheapest => None,
    };
    let with_room =
        held.iter().filter_map(|subnet| Some((*subnet, relief.best_with_room(*subnet)?)));
    let (subnet, target) = chosen.or_else(|| relief.cheapest(with_room))?;
    let mut made = Move::new(problem, subnet, agent, target);
    made.refused = relief.alternatives(held, &made);
    Some(made)
}

/// One agent to relieve, at the present loads.
struct Relief<'p> {
    problem: &'p AssignmentProblem,
    loads: &'p [u64],
    agent: usize,
}

/// A subnet with the agent that may get it.
type Candidate<'p> = (usize, &'p AgentCost);

impl<'p> Relief<'p> {
    /// The other agents that may crawl the subnet, cheapest first.
    fn others(&self, subnet: usize) -> impl Iterator<Item = &'p AgentCost> + use<'p> {
        let agent = self.agent;
        self.problem.subnets()[subnet].costs.iter().filter(move |cost| cost.index() != agent)
    }

    fn room(&self, agent: usize) -> u64 {
        self.problem.capacities()[agent].saturating_sub(self.loads[agent])
    }

    fn fits(&self, subnet: usize, target: &AgentCost) -> bool {
        self.problem.subnets()[subnet].load <= self.room(target.index())
    }

    /// The next-best agent, if it has room.
    fn next_best(&self, subnet: usize) -> Option<&'p AgentCost> {
        self.others(subnet).next().filter(|target| self.fits(subnet, target))
    }

    /// The next-best agent "according to the probing results" (III.F), if it has room.
    fn next_best_measured(&self, subnet: usize) -> Option<&'p AgentCost> {
        let mut measured = self.others(subnet).filter(|cost| cost.source == CostSource::Measured);
        measured.next().filter(|target| self.fits(subnet, target))
    }

    fn best_with_room(&self, subnet: usize) -> Option<&'p AgentCost> {
        self.others(subnet).find(|target| self.fits(subnet, target))
    }

    fn added_cost(&self, subnet: usize, target: &AgentCost) -> f64 {
        target.cost - self.problem.cost(subnet, self.agent).unwrap_or(0.0)
    }

    fn cheapest(&self, moves: impl Iterator<Item = Candidate<'p>>) -> Option<Candidate<'p>> {
        moves.min_by(|a, b| self.added_cost(a.0, a.1).total_cmp(&self.added_cost(b.0, b.1)))
    }

    fn least_variance(&self, moves: impl Iterator<Item = Candidate<'p>>) -> Option<Candidate<'p>> {
        moves.min_by(|(a, _), (b, _)| {
            self.problem.variance(*a).total_cmp(&self.problem.variance(*b)).then(a.cmp(b))
        })
    }

    /// The cheapest other agents for the moved subnet, then the cheapest other subnets to move.
    fn alternatives(&self, held: &[usize], made: &Move) -> Vec<Alternative> {
        let same = self.others(made.subnet).filter(|target| target.index() != made.to);
        let same = same.map(|target| (made.subnet, target)).take(MAX_ALTERNATIVES / 2);
        let others = held.iter().filter(|subnet| **subnet != made.subnet);
        let mut others: Vec<(f64, Candidate<'_>)> = others
            .filter_map(|subnet| Some((*subnet, self.others(*subnet).next()?)))
            .map(|(subnet, target)| (self.added_cost(subnet, target), (subnet, target)))
            .collect();
        // An agent may hold many thousands of subnets, of which only a few are listed: select them
        // before they are sorted.
        let listed = others.len().min(MAX_ALTERNATIVES / 2);
        if listed < others.len() {
            others.select_nth_unstable_by(listed, |a, b| a.0.total_cmp(&b.0));
        }
        others.truncate(listed);
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        let all = same.chain(others.into_iter().map(|(_, candidate)| candidate));
        all.map(|(subnet, target)| self.refuse(subnet, target, made)).collect()
    }

    fn refuse(&self, subnet: usize, target: &AgentCost, made: &Move) -> Alternative {
        let by = self.added_cost(subnet, target) - made.added_cost();
        let why = if !self.fits(subnet, target) {
            RefusalReason::Full { room: self.room(target.index()) }
        } else if by >= 0.0 {
            RefusalReason::Dearer { by }
        } else {
            RefusalReason::Varies
        };
        Alternative { subnet, agent: target.index(), cost: target.cost, why }
    }
}
