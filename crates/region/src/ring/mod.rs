//! The ring: identifier-seeded consistent hashing (UbiCrawler section 4).
//!
//! Each agent has `k` × weight points, its *replicas*, on a circle of 2^64 points. A host has a
//! position on the circle; the agents in the order of their nearest replica are the host's order.
//! The first living agent of the order owns the host. Because the order does not depend on which
//! agents are alive, an agent that joins or returns takes hosts only for itself (contravariance).
//!
//! Wanted properties, each with a test in `tests/ring.rs`:
//! - *Contravariance*: more living agents never move a host between two old ones.
//! - *Least movement*: replicas of a smaller weight are a prefix of those of a larger one, so that
//!   a change of weight moves hosts only to or from that agent.
//! - *Balance*: hosts in proportion to weights; `benches/ring.rs` prints the deviation.

mod order;
mod replicas;

use model::AgentId;

pub use order::Order;
pub use replicas::replicas;

/// Most agents of a ring: owners of replicas are stored in 16 bits.
pub const MAX_AGENTS: usize = 1 << 16;

/// What the ring has to know of an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// The agent whose share this is.
    pub agent: AgentId,
    /// Public key, the seed of its replicas.
    pub key: [u8; 32],
    pub replicas: u32,
}

/// Agents that cannot form a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RingError {
    /// Two replicas on one point. The agent that joined later needs another key (UbiCrawler
    /// section 4).
    #[error("{0} and {1} have a replica on the same point; one of them needs another key")]
    Collision(AgentId, AgentId),
    /// More agents than the ring can store.
    #[error("{0} agents, and a ring takes {MAX_AGENTS}")]
    TooManyAgents(usize),
}

/// Replicas of all agents, sorted, with a table that finds the place of a position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ring {
    agents: Vec<AgentId>,
    points: Vec<u64>,
    /// For each point, the index of its agent.
    owners: Vec<u16>,
    /// For each value of the leading bits, the number of points before it, and all points at last.
    starts: Vec<u32>,
    /// Bits of a position that follow the leading ones.
    shift: u32,
}

impl Ring {
    /// The ring of these agents.
    pub fn new(shares: &[Share]) -> Result<Self, RingError> {
        if shares.len() > MAX_AGENTS {
            return Err(RingError::TooManyAgents(shares.len()));
        }
        let mut placed: Vec<(u64, u16)> = Vec::new();
        for (index, share) in shares.iter().enumerate() {
            let count = share.replicas as usize;
            placed.extend(replicas(&share.key).take(count).map(|point| (point, index as u16)));
        }
        placed.sort_unstable();
        if let Some(pair) = placed.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let agent = |index: u16| shares[usize::from(index)].agent;
            return Err(RingError::Collision(agent(pair[0].1), agent(pair[1].1)));
        }
        let points: Vec<u64> = placed.iter().map(|(point, _)| *point).collect();
        let shift = shift_for(points.len());
        Ok(Self {
            agents: shares.iter().map(|share| share.agent).collect(),
            owners: placed.iter().map(|(_, owner)| *owner).collect(),
            starts: starts(&points, shift),
            points,
            shift,
        })
    }

    /// All agents with replicas, each once, in the order of their nearest replica.
    pub fn order(&self, position: u64) -> Order<'_> {
        Order::new(self, position)
    }

    /// Number of replicas of all agents.
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether no agent has a replica.
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// Share of the circle that each agent owns while all are alive.
    pub fn shares(&self) -> Vec<(AgentId, f64)> {
        let mut arcs = vec![0_u128; self.agents.len()];
        for at in 0..self.points.len() {
            let after = self.following(at);
            let arc = self.points[after].wrapping_sub(self.points[at]);
            // A lone replica is its own neighbour, and its arc is the circle.
            let arc = if after == at { 1 << 64 } else { u128::from(arc) };
            // Each half of the arc between two replicas belongs to the nearer one.
            arcs[usize::from(self.owners[at])] += arc;
            arcs[usize::from(self.owners[after])] += arc;
        }
        let circle = 2.0 * 2.0_f64.powi(64);
        self.agents.iter().zip(arcs).map(|(agent, arc)| (*agent, arc as f64 / circle)).collect()
    }

    /// Index of the first point at or after `position`, around the circle.
    fn after(&self, position: u64) -> usize {
        let bucket = (position >> self.shift) as usize;
        let mut at = self.starts[bucket] as usize;
        // Few points share their leading bits: the table has about two entries a point.
        while at < self.points.len() && self.points[at] < position {
            at += 1;
        }
        if at == self.points.len() { 0 } else { at }
    }

    fn before(&self, at: usize) -> usize {
        at.checked_sub(1).unwrap_or(self.points.len() - 1)
    }

    fn following(&self, at: usize) -> usize {
        if at + 1 == self.points.len() { 0 } else { at + 1 }
    }
}

/// Leaves leading bits for about two entries of the table a point, and at least one bit.
fn shift_for(points: usize) -> u32 {
    let leading = (usize::BITS - points.leading_zeros() + 1).clamp(1, 28);
    u64::BITS - leading
}

fn starts(points: &[u64], shift: u32) -> Vec<u32> {
    let buckets = 1_usize << (u64::BITS - shift);
    let mut starts = Vec::with_capacity(buckets + 1);
    let mut at = 0;
    for bucket in 0..buckets as u64 {
        while at < points.len() && points[at] >> shift < bucket {
            at += 1;
        }
        starts.push(at as u32);
    }
    starts.push(points.len() as u32);
    starts
}

#[cfg(test)]
mod tests;
