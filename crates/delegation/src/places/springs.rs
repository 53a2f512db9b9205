//! Springs: a map of nothing but round trips, where nobody has a position.
//!
//! The agents measure some of each other. Springs between them find points in three dimensions,
//! each with a height for the access line, whose distances explain the round trips (Dabek, Cox,
//! Kaashoek and Morris, "Vivaldi: a decentralized network coordinate system", 2004). Points between
//! the agents stand for the places where subnets may be.

use model::AgentId;

use super::{MutualTimes, travel_time};

/// Dimensions besides the height.
const DIMENSIONS: usize = 3;
/// Up to so many agents all pairs are measured.
const ALL_PAIRS: usize = 60;
/// Others that an agent measures beyond that.
const PARTNERS: usize = 24;
/// Places besides the homes of the agents.
const POINTS: usize = 200;
const STEPS: usize = 600;
/// Share of the error by which a spring moves its ends at the beginning.
const FIRST_RATE: f32 = 0.25;
const LEAST_RATE: f32 = 0.01;

/// Distances between places and agents.
#[derive(Debug, Clone, PartialEq)]
pub struct Embedding {
    /// Kilometres of the travel-time map, by place, then by agent; the first places are the homes
    /// of the agents.
    pub(super) km: Vec<f32>,
}

/// A point with its height, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: [f32; DIMENSIONS],
    height: f32,
}

impl Point {
    fn ms_to(&self, other: &Point) -> f32 {
        self.apart(other) + self.height + other.height
    }

    fn apart(&self, other: &Point) -> f32 {
        let squares = self.at.iter().zip(other.at).map(|(a, b)| (a - b) * (a - b));
        squares.sum::<f32>().sqrt()
    }
}

/// The pairs of agents that must measure each other for [`embed`] and have not.
pub(super) fn pairs_to_measure(agents: &[AgentId], times: &MutualTimes) -> Vec<(AgentId, AgentId)> {
    let mut wanted = Vec::new();
    for (index, a) in agents.iter().enumerate() {
        let others = agents.len() - 1;
        let all = agents.len() <= ALL_PAIRS;
        // Otherwise partners at growing distances in the list, which is in no geographic order.
        let step = if all { 1 } else { others.div_ceil(PARTNERS) };
        for ahead in (1..=others).step_by(step.max(1)) {
            let b = agents[(index + ahead) % agents.len()];
            wanted.push((*a.min(&b), *a.max(&b)));
        }
    }
    wanted.sort_unstable();
    wanted.dedup();
    wanted.retain(|(a, b)| !times.has(*a, *b));
    wanted
}

/// Places and distances that explain the round trips between the agents.
pub(super) fn embed(agents: &[AgentId], times: &MutualTimes) -> Embedding {
    let mut draws = Draws(0x9E37_79B9_7F4A_7C15);
    let mut points: Vec<Point> = agents
        .iter()
        .map(|_| Point { at: std::array::from_fn(|_| 40.0 * draws.normal()), height: 2.0 })
        .collect();
    let column = |agent| agents.binary_search(&agent).ok();
    let springs: Vec<(usize, usize, f32)> = times
        .pairs()
        .filter_map(|((a, b), ms)| Some((column(a)?, column(b)?, ms)))
        .filter(|(_, _, ms)| ms.is_finite() && *ms > 0.0)
        .collect();
    for step in 0..STEPS {
        let rate = FIRST_RATE * (1.0 - step as f32 / STEPS as f32) + LEAST_RATE;
        for (a, b, ms) in &springs {
            pull(&mut points, *a, *b, *ms, rate);
        }
    }
    let mut km = Vec::new();
    for (index, home) in points.iter().enumerate() {
        for (other, point) in points.iter().enumerate() {
            let measured = times.ms(agents[index], agents[other]);
            let ms = measured.filter(|ms| ms.is_finite()).unwrap_or_else(|| home.ms_to(point));
            km.push(if index == other { 0.0 } else { travel_time::usual_km(ms) });
        }
    }
    if agents.len() > 1 {
        for _ in 0..POINTS {
            let place = between(&points, &mut draws);
            km.extend(points.iter().map(|agent| travel_time::usual_km(place.ms_to(agent))));
        }
    }
    Embedding { km }
}

/// Moves both ends of a spring towards the measured time, by a share of the relative error.
fn pull(points: &mut [Point], a: usize, b: usize, ms: f32, rate: f32) {
    let guess = points[a].ms_to(&points[b]);
    let error = (ms.max(0.3) / guess.max(0.3)).ln().clamp(-1.0, 1.0);
    let force = 0.5 * rate * error * guess.min(ms + 5.0);
    let apart = points[a].apart(&points[b]).max(0.1);
    for dimension in 0..DIMENSIONS {
        let direction = (points[a].at[dimension] - points[b].at[dimension]) / apart;
        points[a].at[dimension] += 0.8 * force * direction;
        points[b].at[dimension] -= 0.8 * force * direction;
    }
    for end in [a, b] {
        points[end].height = (points[end].height + 0.1 * force).clamp(0.1, 60.0);
    }
}

/// A point between two agents, more often of near ones: subnets may be where no agent is.
fn between(points: &[Point], draws: &mut Draws) -> Point {
    let first = draws.below(points.len());
    let mut others: Vec<usize> = (0..points.len()).filter(|other| *other != first).collect();
    let ms = |other: &usize| points[*other].ms_to(&points[first]);
    others.sort_by(|a, b| ms(a).total_cmp(&ms(b)));
    let rank = draws.unit() * draws.unit() * others.len() as f32;
    let second = others[(rank as usize).min(others.len() - 1)];
    let share = draws.unit();
    let apart = points[first].ms_to(&points[second]);
    let at = std::array::from_fn(|dimension| {
        let middle =
            share * points[first].at[dimension] + (1.0 - share) * points[second].at[dimension];
        middle + 0.2 * apart * draws.normal()
    });
    Point { at, height: 2.0 }
}

/// Numbers that look random and are the same every time: the same times give the same map.
/// Marsaglia's xorshift generator.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Uniform in [0, 1).
    fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    fn below(&mut self, count: usize) -> usize {
        (self.next() % count.max(1) as u64) as usize
    }

    /// Standard normal, by Box and Muller's transform.
    fn normal(&mut self) -> f32 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f32::consts::TAU * self.unit()).cos()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agents_on_a_line_are_found_on_a_line() {
        let agents: Vec<AgentId> = (1..9).map(AgentId::new).collect();
        let mut times = MutualTimes::default();
        for (a, b) in pairs_to_measure(&agents, &times.clone()) {
            times.insert(a, b, Some(20.0 * (b.get() - a.get()) as f32 + 4.0));
        }
        assert_eq!(times.len(), 28);
        assert!(pairs_to_measure(&agents, &times).is_empty());
        let embedding = embed(&agents, &times);
        assert_eq!(embedding.km.len(), (agents.len() + POINTS) * agents.len());
        // A place near the first agent is far from the last: the points lie between the agents.
        let rows = embedding.km.chunks(agents.len()).skip(agents.len());
        let near_first = rows.min_by(|a, b| a[0].total_cmp(&b[0])).unwrap();
        assert!(near_first[0] < near_first[7], "{near_first:?}");
    }
}
