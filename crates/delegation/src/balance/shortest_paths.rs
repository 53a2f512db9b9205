//! Dijkstra over the agents: flat rows, because a thousand agents have a million edges.

/// Shortest ways from the start, in milliseconds a page above what the prices explain.
///
/// What all agents are asked for is without branches, so that the compiler does it for several at a
/// time.
pub(super) struct Ways {
    /// Of agents reached and not settled; infinite for the others.
    open: Vec<f64>,
    /// Prices of agents not settled; infinite for the others, so that no way to them is shorter.
    prices: Vec<f64>,
    settled: Vec<Option<f64>>,
    /// As wide as the lengths, so that they are chosen together.
    before: Vec<u64>,
}

/// A way begins here.
const NOBODY: u64 = u64::MAX;
/// Agents looked at together.
const LANES: usize = 8;

impl Ways {
    /// Nothing is reached yet.
    pub(super) fn new(prices: &[f64]) -> Self {
        let agents = prices.len();
        Self {
            open: vec![f64::INFINITY; agents],
            prices: prices.to_vec(),
            settled: vec![None; agents],
            before: vec![NOBODY; agents],
        }
    }

    /// A way begins at `agent`.
    pub(super) fn begin(&mut self, agent: usize, length: f64) {
        self.open[agent] = length;
    }

    /// Settles the nearest agent that is not settled; gives it with its length.
    pub(super) fn settle_next(&mut self) -> Option<(usize, f64)> {
        let least = least(&self.open);
        if least.is_infinite() {
            return None;
        }
        let agent = first(&self.open, least)?;
        self.open[agent] = f64::INFINITY;
        self.prices[agent] = f64::INFINITY;
        self.settled[agent] = Some(least);
        Some((agent, least))
    }

    /// Goes on from an agent settled last, which has this price: `exits` is what a page costs more
    /// elsewhere.
    pub(super) fn go_on(&mut self, from: usize, length: f64, price: f64, exits: &[f64]) {
        let (shift, number) = (length - price, from as u64);
        let columns =
            self.open.iter_mut().zip(&mut self.before).zip(exits.iter().zip(&self.prices));
        for ((open, before), (extra, price)) in columns {
            let reached = shift + extra + price;
            // Rounding may make an edge a little negative.
            let reached = if reached > length { reached } else { length };
            let nearer = smaller(*open, reached);
            *before = if nearer < *open { number } else { *before };
            *open = nearer;
        }
    }

    /// How far a settled agent is.
    pub(super) fn length(&self, agent: usize) -> Option<f64> {
        self.settled[agent]
    }

    /// The pairs of agents on the way to `agent`, in order.
    pub(super) fn pairs_to(&self, agent: usize) -> Vec<(usize, usize)> {
        let step = |to: usize| {
            let from = self.before[to];
            (from != NOBODY).then_some((from as usize, to))
        };
        let mut pairs: Vec<(usize, usize)> =
            std::iter::successors(step(agent), |pair| step(pair.0)).collect();
        pairs.reverse();
        pairs
    }
}

/// [`f64::min`] would look for what is not a number, too.
fn smaller(a: f64, b: f64) -> f64 {
    if b < a { b } else { a }
}

/// The least of all; infinite when there are none.
fn least(lengths: &[f64]) -> f64 {
    let (lanes, rest) = lengths.as_chunks::<LANES>();
    let least = lanes.iter().fold([f64::INFINITY; LANES], |least, lengths| {
        std::array::from_fn(|lane| smaller(least[lane], lengths[lane]))
    });
    least.into_iter().chain(rest.iter().copied()).fold(f64::INFINITY, smaller)
}

/// Where exactly this length is for the first time.
fn first(lengths: &[f64], wanted: f64) -> Option<usize> {
    let is_wanted = |length: &f64| length.to_bits() == wanted.to_bits();
    let has =
        |lengths: &[f64]| lengths.iter().fold(false, |found, length| found | is_wanted(length));
    let chunk = lengths.chunks(LANES).position(has)?;
    let within = lengths.iter().skip(chunk * LANES).position(is_wanted)?;
    Some(chunk * LANES + within)
}
