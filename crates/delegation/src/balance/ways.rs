//! Dijkstra over the agents: flat rows, because a thousand agents have a million edges.

/// Shortest ways from the start, in milliseconds a page above what the prices explain.
pub(super) struct Ways {
    /// Of agents not settled yet, infinite before they are reached; settled ones are below everything.
    open: Vec<f64>,
    settled: Vec<Option<f64>>,
    before: Vec<Option<u32>>,
}

impl Ways {
    /// Nothing is reached yet.
    pub(super) fn new(agents: usize) -> Self {
        Self { open: vec![f64::INFINITY; agents], settled: vec![None; agents], before: vec![None; agents] }
    }

    /// A way begins at `agent`.
    pub(super) fn begin(&mut self, agent: usize, length: f64) {
        self.open[agent] = length;
    }

    /// Settles the nearest agent that is not settled; gives it with its length.
    pub(super) fn settle_next(&mut self) -> Option<(usize, f64)> {
        let (mut nearest, mut least) = (None, f64::INFINITY);
        for (agent, length) in self.open.iter().enumerate() {
            if *length < least && *length > f64::NEG_INFINITY {
                (nearest, least) = (Some(agent), *length);
            }
        }
        let agent = nearest?;
        self.open[agent] = f64::NEG_INFINITY;
        self.settled[agent] = Some(least);
        Some((agent, least))
    }

    /// Goes on from a settled agent: `exits` is what a page costs more elsewhere.
    pub(super) fn go_on(&mut self, from: usize, length: f64, exits: &[f64], prices: &[f64]) {
        let shift = length - prices[from];
        let columns = self.open.iter_mut().zip(&mut self.before).zip(exits.iter().zip(prices));
        for ((open, before), (extra, price)) in columns {
            // Rounding may make an edge a little negative.
            let reached = (shift + extra + price).max(length);
            if reached < *open {
                (*open, *before) = (reached, Some(from as u32));
            }
        }
    }

    /// How far a settled agent is.
    pub(super) fn length(&self, agent: usize) -> Option<f64> {
        self.settled[agent]
    }

    /// The pairs of agents on the way to `agent`, in order.
    pub(super) fn pairs_to(&self, agent: usize) -> Vec<(usize, usize)> {
        let step = |to: usize| self.before[to].map(|from| (from as usize, to));
        let mut pairs: Vec<(usize, usize)> =
            std::iter::successors(step(agent), |pair| step(pair.0)).collect();
        pairs.reverse();
        pairs
    }
}
