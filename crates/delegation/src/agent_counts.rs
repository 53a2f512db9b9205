//! Agents with the number of subnets each holds somewhere, kept in the order in which they are
//! asked.

use std::cmp::Reverse;

use model::AgentId;

/// Distinct agents, most subnets first, equal ones by age (lowest id first).
///
/// The paper does not say which of several siblings is asked first. Whoever holds most of them is
/// the likeliest to be near, and the count is at hand.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentCounts {
    ranks: Vec<(u32, AgentId)>,
}

impl AgentCounts {
    /// The agents in the order of asking.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.ranks.iter().map(|(_, agent)| *agent)
    }

    /// Distinct agents.
    pub fn len(&self) -> usize {
        self.ranks.len()
    }

    /// Whether nobody is here.
    pub fn is_empty(&self) -> bool {
        self.ranks.is_empty()
    }

    /// One subnet more for `agent`.
    pub(crate) fn join(&mut self, agent: AgentId) {
        let count = self.take(agent);
        self.place(count + 1, agent);
    }

    /// One subnet less for `agent`.
    pub(crate) fn leave(&mut self, agent: AgentId) {
        let count = self.take(agent);
        if count > 1 {
            self.place(count - 1, agent);
        }
    }

    fn take(&mut self, agent: AgentId) -> u32 {
        let rank = self.ranks.iter().position(|(_, other)| *other == agent);
        rank.map_or(0, |rank| self.ranks.remove(rank).0)
    }

    fn place(&mut self, count: u32, agent: AgentId) {
        let rank = self
            .ranks
            .partition_point(|other| (Reverse(other.0), other.1) < (Reverse(count), agent));
        self.ranks.insert(rank, (count, agent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(crowd: &AgentCounts) -> Vec<i64> {
        crowd.agents().map(AgentId::get).collect()
    }

    #[test]
    fn most_subnets_first_then_the_oldest() {
        let mut crowd = AgentCounts::default();
        for agent in [3, 1, 2, 2] {
            crowd.join(AgentId::new(agent));
        }
        assert_eq!(order(&crowd), [2, 1, 3]);
        crowd.leave(AgentId::new(2));
        assert_eq!(order(&crowd), [1, 2, 3]);
        crowd.leave(AgentId::new(1));
        crowd.leave(AgentId::new(9));
        assert_eq!(order(&crowd), [2, 3]);
    }
}
