//! Shortest paths over the agents, by Dijkstra's algorithm on flat rows: a thousand agents have a
//! million arcs, so that a heap of open nodes would gain nothing.

/// Shortest paths from a subnet. Lengths are reduced costs, in milliseconds a page.
pub(super) struct ShortestPaths {
    /// Lengths of agents reached and not settled; infinite for the others.
    open: Vec<f64>,
    /// Prices of agents not settled; infinite for the others, so that no path to them is shorter.
    prices: Vec<f64>,
    settled: Vec<Option<f64>>,
    /// The agent before each one on its path.
    previous: Vec<u64>,
}

/// Marks the first agent of a path.
const NO_AGENT: u64 = u64::MAX;

impl ShortestPaths {
    /// Paths with no beginning yet.
    pub(super) fn new(prices: &[f64]) -> Self {
        let agents = prices.len();
        Self {
            open: vec![f64::INFINITY; agents],
            prices: prices.to_vec(),
            settled: vec![None; agents],
            previous: vec![NO_AGENT; agents],
        }
    }

    /// Lets a path begin at `agent`.
    pub(super) fn begin(&mut self, agent: usize, length: f64) {
        self.open[agent] = length;
    }

    /// Settles the nearest open agent; returns it with its length.
    pub(super) fn settle_next(&mut self) -> Option<(usize, f64)> {
        let mut agent = None;
        let mut least = f64::INFINITY;
        for (number, length) in self.open.iter().enumerate() {
            if *length < least {
                least = *length;
                agent = Some(number);
            }
        }
        let agent = agent?;
        self.open[agent] = f64::INFINITY;
        self.prices[agent] = f64::INFINITY;
        self.settled[agent] = Some(least);
        Some((agent, least))
    }

    /// Shortens paths over the agent settled last, which has this price; `row` has its arcs: what a
    /// page costs more at each other agent.
    pub(super) fn relax(&mut self, from: usize, length: f64, price: f64, row: &[f64]) {
        let shift = length - price;
        let targets =
            self.open.iter_mut().zip(&mut self.previous).zip(row.iter().zip(&self.prices));
        // Without branches, so that the compiler computes several agents at a time: the optimum
        // spends most of its time here.
        for ((open, previous), (added_cost, price)) in targets {
            let reached = shift + added_cost + price;
            // Rounding may make a reduced cost a little negative.
            let reached = if reached > length { reached } else { length };
            let is_nearer = reached < *open;
            *previous = if is_nearer { from as u64 } else { *previous };
            *open = if is_nearer { reached } else { *open };
        }
    }

    /// Length of the path to a settled agent.
    pub(super) fn length(&self, agent: usize) -> Option<f64> {
        self.settled[agent]
    }

    /// The pairs of agents on the path to `agent`, in order.
    pub(super) fn pairs_to(&self, agent: usize) -> Vec<(usize, usize)> {
        let pair = |to: usize| {
            let from = self.previous[to];
            (from != NO_AGENT).then_some((from as usize, to))
        };
        let mut pairs: Vec<(usize, usize)> =
            std::iter::successors(pair(agent), |(from, _)| pair(*from)).collect();
        pairs.reverse();
        pairs
    }
}
