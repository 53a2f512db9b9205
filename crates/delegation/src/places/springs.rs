//! Springs: a map from round trips alone, for agents without positions.
//!
//! The agents measure some of each other. Springs between them find points in three dimensions,
//! each with a height for the access line, whose distances explain the round trips (Dabek, Cox,
//! Kaashoek and Morris, "Vivaldi: a decentralized network coordinate system", 2004). Points between
//! the agents are the places where subnets may be.

use model::AgentId;

use super::{MutualTimes, travel_time};

/// Dimensions without the height.
const DIMENSIONS: usize = 3;
/// Others that an agent measures at first, spread over all agents.
const PARTNERS: usize = 12;
/// Others that seem to be nearest, which it measures then: only near agents compete for a subnet,
/// so that only their times must be known exactly.
const NEAREST: usize = 12;
/// Places in addition to the homes of the agents.
const POINTS: usize = 200;
const STEPS: usize = 600;
/// Share of the error by which a spring moves its ends at the beginning.
const FIRST_RATE: f32 = 0.25;
const LEAST_RATE: f32 = 0.01;
/// Times below this, in milliseconds, count as this much, so that a relative error is defined.
const LEAST_MS: f32 = 0.3;
/// Largest relative error in one step, as a logarithm.
const MAX_ERROR: f32 = 1.0;
/// A spring is pulled as if it were longer than the measured time by this many milliseconds at
/// most, so that one that is far too long does not move its ends far in one step.
const MAX_EXCESS_MS: f32 = 5.0;
/// Share of the force that moves the position of an end.
const POSITION_SHARE: f32 = 0.8;
/// Share of the force that changes the height of an end. It is small, because the height changes
/// all times of the agent at once.
const HEIGHT_SHARE: f32 = 0.1;
/// Least height of a point, in milliseconds.
const MIN_HEIGHT_MS: f32 = 0.1;
/// Largest height of a point, in milliseconds.
const MAX_HEIGHT_MS: f32 = 60.0;

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

/// The pairs of agents that must measure each other for [`embed`] and have not: partners, then the
/// nearest by what is known so far.
pub(super) fn pairs_to_measure(agents: &[AgentId], times: &MutualTimes) -> Vec<(AgentId, AgentId)> {
    let count = agents.len();
    let mut wanted = Vec::new();
    // Partners at growing distances in the ring of agents, which is in no geographic order; with
    // few agents these are all others.
    for step in 0..PARTNERS / 2 {
        let distance = 1 + step * (count / 2) / (PARTNERS / 2);
        let partner = |index: usize| agents[(index + distance) % count];
        wanted.extend((0..count).map(|index| (agents[index], partner(index))));
    }
    wanted.retain(|(a, b)| a != b);
    let mut missing = times.unmeasured(wanted);
    if missing.is_empty() && count > PARTNERS {
        missing = times.unmeasured(nearest_pairs(agents, times));
    }
    missing
}

/// Each agent with those that are nearest, by their times where they are known, else by the points.
fn nearest_pairs(agents: &[AgentId], times: &MutualTimes) -> Vec<(AgentId, AgentId)> {
    let points = points(agents, times, &mut Draws::new());
    let mut pairs = Vec::new();
    for (index, agent) in agents.iter().enumerate() {
        let others = (0..agents.len()).filter(|other| *other != index);
        let mut by_time: Vec<(f32, AgentId)> = others
            .map(|other| {
                let guess = points[index].ms_to(&points[other]);
                (times.ms(*agent, agents[other]).unwrap_or(guess), agents[other])
            })
            .collect();
        by_time.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        pairs.extend(by_time.into_iter().take(NEAREST).map(|(_, other)| (*agent, other)));
    }
    pairs
}

/// Places and distances that explain the round trips between the agents.
pub(super) fn embed(agents: &[AgentId], times: &MutualTimes) -> Embedding {
    let mut draws = Draws::new();
    let points = points(agents, times, &mut draws);
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

/// Points of the agents that explain their times best.
fn points(agents: &[AgentId], times: &MutualTimes, draws: &mut Draws) -> Vec<Point> {
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
        // Large moves find the arrangement, small ones at the end the exact distances.
        let rate = FIRST_RATE * (1.0 - step as f32 / STEPS as f32) + LEAST_RATE;
        for (a, b, ms) in &springs {
            pull(&mut points, *a, *b, *ms, rate);
        }
    }
    points
}

/// Moves both ends of a spring towards the measured time, by a share of the relative error. Each
/// end makes half of the correction.
fn pull(points: &mut [Point], a: usize, b: usize, ms: f32, rate: f32) {
    let guess = points[a].ms_to(&points[b]);
    let error = (ms.max(LEAST_MS) / guess.max(LEAST_MS)).ln().clamp(-MAX_ERROR, MAX_ERROR);
    let force = 0.5 * rate * error * guess.min(ms + MAX_EXCESS_MS);
    let apart = points[a].apart(&points[b]).max(0.1);
    for dimension in 0..DIMENSIONS {
        let direction = (points[a].at[dimension] - points[b].at[dimension]) / apart;
        points[a].at[dimension] += POSITION_SHARE * force * direction;
        points[b].at[dimension] -= POSITION_SHARE * force * direction;
    }
    for end in [a, b] {
        let height = points[end].height + HEIGHT_SHARE * force;
        points[end].height = height.clamp(MIN_HEIGHT_MS, MAX_HEIGHT_MS);
    }
}

/// A point between two agents, more often of near ones: subnets may be where no agent is.
fn between(points: &[Point], draws: &mut Draws) -> Point {
    let first = draws.below(points.len());
    let mut others: Vec<usize> = (0..points.len()).filter(|other| *other != first).collect();
    let ms = |other: &usize| points[*other].ms_to(&points[first]);
    others.sort_by(|a, b| ms(a).total_cmp(&ms(b)));
    // A product of two uniform numbers is small more often than large.
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
    fn new() -> Self {
        Self(0x9E37_79B9_7F4A_7C15)
    }

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
    fn near_agents_are_measured_where_not_all_are() {
        let agents: Vec<AgentId> = (0..40).map(AgentId::new).collect();
        // Neighbours on the line are far apart in the list.
        let at = |agent: AgentId| (agent.get() * 7 % 40) as f32;
        let mut times = MutualTimes::default();
        loop {
            let missing = pairs_to_measure(&agents, &times);
            if missing.is_empty() {
                break;
            }
            for (a, b) in missing {
                times.insert(a, b, Some(5.0 * (at(a) - at(b)).abs() + 4.0));
            }
        }
        assert!(times.len() < 40 * 39 * 3 / 4, "{}", times.len());
        for agent in &agents {
            let others = agents.iter().filter(|other| *other != agent);
            let near = others.filter(|other| (at(**other) - at(*agent)).abs() < 1.5);
            assert!(near.into_iter().all(|other| times.has(*agent, *other)), "{agent:?}");
        }
    }

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
