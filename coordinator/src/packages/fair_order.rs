//! Fair order: which packages of the ledger are ingested next.
//!
//! Some packages take seconds and some agents send many. Agents take turns, so that a package waits
//! for one package of each other agent and not for all that came before it. The packages of one
//! agent keep their order.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use model::{AgentId, LedgerPosition};
use store::packages::WaitingPackage;

/// Size of one batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchBounds {
    /// Most packages of all agents together.
    pub packages: usize,
    /// Most bytes of inflated bodies; the first package is taken even if it is larger.
    pub plain_bytes: u64,
}

/// Whose turn it was last, in memory: after a restart any agent may begin.
#[derive(Debug, Default)]
pub struct Turns(Mutex<Option<AgentId>>);

impl Turns {
    /// The agent of the last package of the last batch.
    pub fn last(&self) -> Option<AgentId> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes the agent of the last package of a batch.
    pub fn ended_with(&self, agent: Option<AgentId>) {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *last = agent.or(*last);
    }
}

/// The next packages in the order of turns: one of each agent, beginning after the agent that had
/// the `last` turn, then a second one of each, until a bound is reached. Those of an agent that
/// have `failed` before come after its others.
pub fn choose(
    waiting: &[WaitingPackage],
    failed: &[LedgerPosition],
    last: Option<AgentId>,
    bounds: BatchBounds,
) -> Vec<WaitingPackage> {
    let mut queues: BTreeMap<AgentId, VecDeque<WaitingPackage>> = BTreeMap::new();
    let mut waiting = waiting.to_vec();
    waiting.sort_unstable_by_key(|one| (failed.contains(&one.position), one.position));
    for package in waiting {
        queues.entry(package.agent).or_default().push_back(package);
    }
    // Agents after the last one have their turns first.
    let (before, after): (Vec<_>, Vec<_>) =
        queues.into_iter().partition(|(agent, _)| last.is_some_and(|last| *agent <= last));
    let mut turns: VecDeque<_> = after.into_iter().chain(before).map(|(_, queue)| queue).collect();
    let mut chosen: Vec<WaitingPackage> = Vec::new();
    let mut plain_bytes = 0_u64;
    while let Some(mut queue) = turns.pop_front() {
        let Some(package) = queue.pop_front() else { continue };
        plain_bytes = plain_bytes.saturating_add(package.plain_bytes);
        let is_full = chosen.len() >= bounds.packages || plain_bytes > bounds.plain_bytes;
        if is_full && !chosen.is_empty() {
            break;
        }
        chosen.push(package);
        turns.push_back(queue);
    }
    chosen
}

/// New packages before the last chosen one that were not chosen: the cursor must not pass them
/// without noting that they are still to come.
pub fn passed_over(new: &[WaitingPackage], chosen: &[WaitingPackage]) -> Vec<LedgerPosition> {
    let last = chosen.iter().map(|package| package.position).max();
    let is_passed = |package: &&WaitingPackage| {
        Some(package.position) < last && !chosen.iter().any(|one| one.position == package.position)
    };
    new.iter().filter(is_passed).map(|package| package.position).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BOUNDS: BatchBounds = BatchBounds { packages: 4, plain_bytes: 1_000 };

    fn package(position: i64, agent: i64, plain_bytes: u64) -> WaitingPackage {
        let position = LedgerPosition::new(position);
        WaitingPackage { position, agent: AgentId::new(agent), plain_bytes }
    }

    fn positions(packages: &[WaitingPackage]) -> Vec<i64> {
        packages.iter().map(|package| package.position.get()).collect()
    }

    #[test]
    fn a_flood_of_one_agent_does_not_delay_another() {
        let mut waiting: Vec<_> = (1..=100).map(|position| package(position, 1, 10)).collect();
        waiting.push(package(101, 2, 10));
        let chosen = choose(&waiting, &[], None, BOUNDS);
        assert_eq!(positions(&chosen), [1, 101, 2, 3]);
        let passed: Vec<i64> =
            passed_over(&waiting, &chosen).into_iter().map(LedgerPosition::get).collect();
        assert_eq!(passed, (4..=100).collect::<Vec<_>>());
    }

    #[test]
    fn packages_that_failed_come_after_the_others_of_their_agent() {
        let waiting: Vec<_> = (1..=6).map(|position| package(position, 1, 10)).collect();
        let failed = [1, 2, 4].map(LedgerPosition::new);
        assert_eq!(positions(&choose(&waiting, &failed, None, BOUNDS)), [3, 5, 6, 1]);
    }

    #[test]
    fn large_packages_make_small_batches() {
        let waiting = [package(1, 1, 5_000), package(2, 1, 5_000), package(3, 2, 10)];
        assert_eq!(positions(&choose(&waiting, &[], None, BOUNDS)), [1]);
        assert_eq!(positions(&choose(&waiting[1..], &[], Some(AgentId::new(1)), BOUNDS)), [3]);
    }

    #[test]
    fn the_next_turn_is_that_of_the_next_agent() {
        let waiting: Vec<_> = (1..=8).map(|position| package(position, position, 10)).collect();
        let first = choose(&waiting, &[], None, BOUNDS);
        assert_eq!(positions(&first), [1, 2, 3, 4]);
        let next = choose(&waiting, &[], Some(AgentId::new(4)), BOUNDS);
        assert_eq!(positions(&next), [5, 6, 7, 8]);
    }

    /// Whoever sent what, agents have equal shares as far as they have packages, and the packages
    /// of an agent keep their order.
    #[test]
    fn turns_are_fair() {
        let bounds = BatchBounds { packages: 16, plain_bytes: u64::MAX };
        for case in 0..500_i64 {
            let agent_of =
                |position: i64| (position * (case + 7) / 3 + position * position) % 5 + 1;
            let waiting: Vec<_> = (1..case % 60 + 2)
                .map(|position| package(position, agent_of(position), 1))
                .collect();
            let chosen = choose(&waiting, &[], Some(AgentId::new(case % 7)), bounds);
            assert_eq!(chosen.len(), waiting.len().min(16));
            let most = (1..6).map(|agent| of_agent(&chosen, agent).len()).max().unwrap_or(0);
            for agent in 1..6 {
                let all = of_agent(&waiting, agent);
                let taken = of_agent(&chosen, agent);
                assert_eq!(all[..taken.len()], taken[..]);
                assert!(taken.len() == all.len() || most <= taken.len() + 1, "{chosen:?}");
            }
        }
    }

    fn of_agent(packages: &[WaitingPackage], agent: i64) -> Vec<WaitingPackage> {
        packages.iter().filter(|one| one.agent == AgentId::new(agent)).copied().collect()
    }
}
