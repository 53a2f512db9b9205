//! Counts of delegated subnets by agent, in the order in which the search asks the agents.

use std::cmp::Reverse;

use model::AgentId;

/// Distinct agents, most subnets first, equal ones by age (lowest id first).
///
/// The paper does not say which of several siblings is asked first. The agent with most of them is
/// the likeliest to be near, and the count is known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentCounts {
    /// In the order of asking.
    counts: Vec<(u32, AgentId)>,
}

impl AgentCounts {
    /// The agents in the order of asking.
    pub fn agents(&self) -> impl Iterator<Item = AgentId> + '_ {
        self.counts.iter().map(|(_, agent)| *agent)
    }

    /// Whether no agent has a subnet.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Counts one subnet more for `agent`.
    pub(crate) fn add(&mut self, agent: AgentId) {
        let count = self.take(agent);
        self.put(count + 1, agent);
    }

    /// Counts one subnet less for `agent`.
    pub(crate) fn remove(&mut self, agent: AgentId) {
        let count = self.take(agent);
        if count > 1 {
            self.put(count - 1, agent);
        }
    }

    fn take(&mut self, agent: AgentId) -> u32 {
        let index = self.counts.iter().position(|(_, other)| *other == agent);
        index.map_or(0, |index| self.counts.remove(index).0)
    }

    fn put(&mut self, count: u32, agent: AgentId) {
        let is_before =
            |other: &(u32, AgentId)| (Reverse(other.0), other.1) < (Reverse(count), agent);
        let index = self.counts.partition_point(is_before);
        self.counts.insert(index, (count, agent));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(counts: &AgentCounts) -> Vec<i64> {
        counts.agents().map(AgentId::get).collect()
    }

    #[test]
    fn most_subnets_first_then_the_oldest() {
        let mut counts = AgentCounts::default();
        for agent in [3, 1, 2, 2] {
            counts.add(AgentId::new(agent));
        }
        assert_eq!(order(&counts), [2, 1, 3]);
        counts.remove(AgentId::new(2));
        assert_eq!(order(&counts), [1, 2, 3]);
        counts.remove(AgentId::new(1));
        counts.remove(AgentId::new(9));
        assert_eq!(order(&counts), [2, 3]);
    }
}
