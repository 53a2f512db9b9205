//! One agent is over its capacity: which subnet leaves it, and where does it go?

use super::moves::REMEMBERED;
use super::{AgentCost, Alternative, AssignmentProblem, Move, RefusalReason};
use model::BalanceRule;

/// The move that makes room at `agent`, one of `held`; `loads` are the pages a day of all agents as
/// they are now. The newcomer that caused the overload is among `held`, so that "the new subnet is
/// delegated to the second-best crawler" (III.F) is one of the choices. `None` when none of them
/// can go anywhere.
///
/// By the paper's rules only a subnet's next-best agent is asked. When that is full for every
/// subnet, nobody would leave and the agent stay over its capacity; then the cheapest move is made
/// instead, whatever the rule.
pub fn relieve(
    instance: &AssignmentProblem,
    loads: &[u64],
    agent: usize,
    held: &[usize],
    rule: BalanceRule,
) -> Option<Move> {
    let desk = Desk { instance, loads, agent };
    let chosen = match rule {
        BalanceRule::Off => return None,
        BalanceRule::Variance => desk.steadiest(held),
        BalanceRule::NextBest => {
            desk.least(held.iter().filter_map(|subnet| Some((*subnet, desk.next_best(*subnet)?))))
        }
        BalanceRule::Cheapest => None,
    };
    let with_room =
        || held.iter().filter_map(|subnet| Some((*subnet, desk.best_with_room(*subnet)?)));
    let (subnet, cell) = chosen.or_else(|| desk.least(with_room()))?;
    let mut found = Move::new(instance, subnet, agent, cell);
    found.refused = desk.refused(held, &found);
    Some(found)
}

/// What lies on the table when one agent is relieved.
struct Desk<'i> {
    instance: &'i AssignmentProblem,
    loads: &'i [u64],
    agent: usize,
}

impl<'i> Desk<'i> {
    /// Everywhere else the subnet may go, the cheapest first.
    fn elsewhere(&self, subnet: usize) -> impl Iterator<Item = &'i AgentCost> + use<'i> {
        let agent = self.agent;
        self.instance.subnets()[subnet].costs.iter().filter(move |cell| cell.index() != agent)
    }

    fn room(&self, agent: usize) -> u64 {
        self.instance.capacities()[agent].saturating_sub(self.loads[agent])
    }

    fn fits(&self, subnet: usize, cell: &AgentCost) -> bool {
        self.instance.subnets()[subnet].load <= self.room(cell.index())
    }

    /// The next-best agent, if it has room.
    fn next_best(&self, subnet: usize) -> Option<&'i AgentCost> {
        self.elsewhere(subnet).next().filter(|cell| self.fits(subnet, cell))
    }

    fn best_with_room(&self, subnet: usize) -> Option<&'i AgentCost> {
        self.elsewhere(subnet).find(|cell| self.fits(subnet, cell))
    }

    fn extra(&self, subnet: usize, cell: &AgentCost) -> f64 {
        cell.cost - self.instance.cost(subnet, self.agent).unwrap_or(0.0)
    }

    fn least(
        &self,
        moves: impl Iterator<Item = (usize, &'i AgentCost)>,
    ) -> Option<(usize, &'i AgentCost)> {
        moves.min_by(|a, b| self.extra(a.0, a.1).total_cmp(&self.extra(b.0, b.1)))
    }

    fn steadiest(&self, held: &[usize]) -> Option<(usize, &'i AgentCost)> {
        let movable = held.iter().filter_map(|subnet| Some((*subnet, self.next_best(*subnet)?)));
        movable.min_by(|(a, _), (b, _)| {
            self.instance.variance(*a).total_cmp(&self.instance.variance(*b)).then(a.cmp(b))
        })
    }

    /// The cheapest places that the subnet did not go to, and the cheapest other subnets that did
    /// not go.
    fn refused(&self, held: &[usize], found: &Move) -> Vec<Alternative> {
        let own = self.elsewhere(found.subnet).filter(|cell| cell.index() != found.to);
        let own = own.map(|cell| self.refuse(found.subnet, cell, found)).take(REMEMBERED / 2);
        let others = held.iter().filter(|subnet| **subnet != found.subnet);
        let mut others: Vec<(f64, usize, &AgentCost)> = others
            .filter_map(|subnet| self.elsewhere(*subnet).next().map(|cell| (*subnet, cell)))
            .map(|(subnet, cell)| (self.extra(subnet, cell), subnet, cell))
            .collect();
        let kept = others.len().min(REMEMBERED / 2);
        if kept < others.len() {
            others.select_nth_unstable_by(kept, |a, b| a.0.total_cmp(&b.0));
        }
        others.truncate(kept);
        others.sort_by(|a, b| a.0.total_cmp(&b.0));
        own.chain(others.into_iter().map(|(_, subnet, cell)| self.refuse(subnet, cell, found)))
            .collect()
    }

    fn refuse(&self, subnet: usize, cell: &AgentCost, instead: &Move) -> Alternative {
        let by = self.extra(subnet, cell) - instead.extra();
        let why = match self.fits(subnet, cell) {
            false => RefusalReason::Full { room: self.room(cell.index()) },
            true if by >= 0.0 => RefusalReason::Dearer { by },
            true => RefusalReason::Varies,
        };
        Alternative { subnet, agent: cell.index(), cost: cell.cost, why }
    }
}
