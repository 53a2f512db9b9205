//! Which agents are probably nearest to a place, for the first probe of a search.

use super::cells::Expected;
use super::distance_table::Column;
use crate::normal;

/// Agents that are compared: with more, the others are nearest in one case in a thousand.
const MOST: usize = 14;
/// Steps of the numerical integration.
const STEPS: usize = 24;
/// Standard deviations to both sides that the integration covers.
const REACH: f32 = 3.0;
/// Standard deviations below the mean by which the compared agents are chosen: an uncertain agent
/// may be nearer than its mean says.
const OPTIMISM: f32 = 0.7;

/// An agent with the probability that it is the nearest of all.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Nearest {
    pub(super) column: Column,
    pub(super) chance: f32,
}

/// The agents that may be nearest, in the order of their expected times.
pub(super) fn nearest(expected: &[Expected], route_variance: f32) -> Vec<Nearest> {
    let mut times: Vec<(Column, f32, f32)> = expected
        .iter()
        .enumerate()
        .map(|(column, time)| (column, time.log, (time.variance + route_variance).sqrt()))
        .collect();
    let optimistic = |time: &(Column, f32, f32)| time.1 - OPTIMISM * time.2;
    if times.len() > MOST {
        times.select_nth_unstable_by(MOST - 1, |a, b| optimistic(a).total_cmp(&optimistic(b)));
        times.truncate(MOST);
    }
    times.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let chances = chances(&times);
    let agents = times.iter().zip(chances);
    agents.map(|(time, chance)| Nearest { column: time.0, chance }).collect()
}

/// Probability of each time to be the smallest: the sum, over small steps of time, of the
/// probability that it is within the step and all others are beyond it.
fn chances(times: &[(Column, f32, f32)]) -> Vec<f32> {
    let mut won = vec![0.0; times.len()];
    let from = times.iter().map(|(_, log, deviation)| log - REACH * deviation);
    let to = times.iter().map(|(_, log, deviation)| log + REACH * deviation);
    let from = from.fold(f32::INFINITY, f32::min);
    // The integration ends at the smallest upper end. The agent with that end is almost certainly
    // nearer than any time beyond it, so that hardly any probability is left there.
    let step = (to.fold(f32::INFINITY, f32::min) - from) / STEPS as f32;
    let below = |at: f32| times.iter().map(move |(_, log, sd)| normal::below((at - log) / sd));
    let mut before: Vec<f32> = below(from).collect();
    for number in 1..=STEPS {
        let after: Vec<f32> = below(from + step * number as f32).collect();
        // Never zero, because the product of all is divided by each.
        let beyond: Vec<f32> =
            before.iter().zip(&after).map(|(a, b)| (1.0 - 0.5 * (a + b)).max(1e-6)).collect();
        let all: f32 = beyond.iter().product();
        for (index, chance) in won.iter_mut().enumerate() {
            *chance += (after[index] - before[index]) * all / beyond[index];
        }
        before = after;
    }
    won
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expected(ms: f32, deviation: f32) -> Expected {
        Expected { log: ms.ln(), variance: deviation * deviation }
    }

    #[test]
    fn equal_agents_share_and_a_far_one_has_nothing() {
        let agents = [expected(20.0, 0.2), expected(100.0, 0.2), expected(20.0, 0.2)];
        let nearest = nearest(&agents, 0.0);
        assert_eq!(nearest.iter().map(|one| one.column).collect::<Vec<_>>(), [0, 2, 1]);
        assert!((nearest[0].chance - 0.5).abs() < 0.01 && nearest[2].chance < 1e-3);
    }

    #[test]
    fn an_uncertain_agent_may_be_nearer_than_its_mean() {
        let nearest = nearest(&[expected(20.0, 0.1), expected(26.0, 0.6)], 0.01);
        assert!((0.25..0.4).contains(&nearest[1].chance), "{nearest:?}");
    }

    #[test]
    fn of_many_agents_the_nearest_are_compared() {
        let agents: Vec<Expected> = (1..200).map(|n| expected(400.0 - n as f32, 0.1)).collect();
        let nearest = nearest(&agents, 0.01);
        assert_eq!((nearest.len(), nearest[0].column), (MOST, 198));
    }
}
