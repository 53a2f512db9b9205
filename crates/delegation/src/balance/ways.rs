//! Dijkstra's book-keeping over the agents.

/// One hop of a path: `subnet` moves from one agent to another.
#[derive(Debug, Clone, Copy)]
pub(super) struct Hop {
    pub(super) subnet: usize,
    pub(super) from: usize,
    pub(super) to: usize,
}

/// Shortest ways found so far.
pub(super) struct Ways {
    pub(super) length: Vec<f64>,
    pub(super) settled: Vec<bool>,
    hop: Vec<Option<Hop>>,
}

impl Ways {
    pub(super) fn new(agents: usize) -> Self {
        Self { length: vec![f64::INFINITY; agents], settled: vec![false; agents], hop: vec![None; agents] }
    }

    /// The nearest agent that is not settled.
    pub(super) fn settle_next(&mut self) -> Option<usize> {
        let open =
            (0..self.length.len()).filter(|agent| !self.settled[*agent] && self.length[*agent].is_finite());
        let nearest = open.min_by(|a, b| self.length[*a].total_cmp(&self.length[*b]))?;
        self.settled[nearest] = true;
        Some(nearest)
    }

    pub(super) fn reach(&mut self, hop: Hop, agent: usize, length: f64) {
        if !self.settled[agent] && length < self.length[agent] {
            self.length[agent] = length;
            self.hop[agent] = Some(hop);
        }
    }

    /// The hops that end at `agent`, in order.
    pub(super) fn back_from(&self, agent: usize) -> Vec<Hop> {
        let mut hops: Vec<Hop> = std::iter::successors(self.hop[agent], |hop| self.hop[hop.from]).collect();
        hops.reverse();
        hops
    }

    /// The hops that begin at `agent`, when the ways were found against the edges.
    pub(super) fn out_to(&self, agent: usize) -> Vec<Hop> {
        std::iter::successors(self.hop[agent], |hop| self.hop[hop.to]).collect()
    }
}
