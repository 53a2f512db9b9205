//! Claim test: the odds that an agent is elsewhere than it claims, by its round trips to others.
//!
//! Most claims are true; an agent with a wrong one may be at any populated place. Each round trip
//! changes the odds by how much better it fits a place than the claim. Its likelihood has heavy
//! tails, because routes make detours and because the other agent may be elsewhere itself.

use super::{Position, listed_places, travel_time};

/// Probability of a wrong claim before anything is measured.
const WRONG: f32 = 0.03;
/// Odds of a wrong claim before anything is measured. Lower odds mean that the times support the
/// claim.
pub(super) const UNTESTED: f32 = WRONG / (1.0 - WRONG);
/// Distance within which a place counts as the claimed one.
const SAME_KM: f32 = 500.0;
/// Power of the population to which the probability of a place is proportional.
const POPULATION_POWER: f32 = 0.5;
/// Part of a round trip that the access lines of both ends take, in milliseconds.
const ACCESS_MS: f32 = 3.0;
/// Least time of the network between the two, in milliseconds.
const LEAST_NETWORK_MS: f32 = 0.5;
/// Variance of a round trip's logarithm that the access lines add to that of the pair.
const ACCESS_VARIANCE: f32 = 0.1;
/// Step between the values that an agent's slowness may have, as a logarithm.
const SLOWNESS_STEP: f32 = 0.3;
/// Those values, in steps: detours make an agent slower more often than faster.
const SLOWNESS_STEPS: std::ops::RangeInclusive<i8> = -2..=3;
/// Standard deviation of the slowness, in steps.
const SLOWNESS_DEVIATION: f32 = 1.0;
/// Constant of Student's *t* with four degrees of freedom.
const CONSTANT: f32 = 0.375;
/// Density of a time that says nothing, at a logarithm.
const IRREGULAR_DENSITY: f32 = 0.25;
/// Share of times that say nothing where the other agent's claim is accepted.
const IRREGULAR: f32 = 0.01;
/// Share of times that say nothing where it is not.
const IRREGULAR_IF_UNCERTAIN: f32 = 0.1;
/// Impossible times that refute a claim: one if the other agent's claim is accepted, else two,
/// because one of two agents may be wrong itself.
const REFUTING: u32 = 2;

/// A round trip between an agent's home and another agent.
#[derive(Debug, Clone, Copy)]
pub(super) struct TimeToAgent {
    /// Where the other agent is.
    pub(super) from: Position,
    /// Shortest round trip in milliseconds.
    pub(super) ms: f32,
    /// Whether the other agent's claim is accepted.
    pub(super) is_certain: bool,
}

/// What the times of an agent say of its claim.
#[derive(Debug, Clone, Copy)]
pub(super) struct TestedClaim {
    /// Odds that the claim is wrong.
    pub(super) odds: f32,
    /// Whether times are shorter than light allows from the claimed position.
    pub(super) is_refuted: bool,
    /// The likeliest other place.
    pub(super) elsewhere: Position,
}

/// Places where an agent may be, with the probability of each if its claim is wrong.
pub(super) struct OtherPlaces(Vec<(Position, f32)>);

impl OtherPlaces {
    /// The listed places.
    pub(super) fn listed() -> Self {
        let places = listed_places();
        let weight = |population: f32| population.powf(POPULATION_POWER);
        let total: f32 = places.iter().map(|place| weight(place.population)).sum();
        let weighted = places.iter().map(|one| (one.position, weight(one.population) / total));
        Self(weighted.collect())
    }

    /// Tests a claim by the times of its agent.
    pub(super) fn test(&self, claim: Position, times: &[TimeToAgent]) -> TestedClaim {
        let claimed = likelihood(times, claim).max(f64::MIN_POSITIVE);
        let mut sum = 0.0;
        let mut best = (0.0, claim);
        for (position, probability) in &self.0 {
            if position.distance_km(claim) < SAME_KM {
                continue;
            }
            // By Bayes' rule the odds are the sum over all other places of their probability times
            // the ratio of the likelihoods.
            let ratio = f64::from(*probability) * likelihood(times, *position) / claimed;
            sum += ratio;
            if ratio > best.0 {
                best = (ratio, *position);
            }
        }
        let weight = |time: &TimeToAgent| if time.is_certain { 2 } else { 1 };
        let impossible = times
            .iter()
            .filter(|time| time.ms < travel_time::least_ms(time.from.distance_km(claim)));
        let is_refuted = impossible.map(weight).sum::<u32>() >= REFUTING;
        TestedClaim { odds: sum as f32 * UNTESTED, is_refuted, elsewhere: best.1 }
    }
}

/// Likelihood of an agent's times if it is at `position`, whatever its slowness is: the sum over a
/// grid of values of the slowness, which have a normal prior.
fn likelihood(times: &[TimeToAgent], position: Position) -> f64 {
    let fits: Vec<Fit> = times.iter().map(|time| Fit::of(time, position)).collect();
    let mut sum = 0.0;
    for step in SLOWNESS_STEPS {
        let deviations = f32::from(step) / SLOWNESS_DEVIATION;
        let weight = f64::from((-0.5 * deviations * deviations).exp());
        let slowness = f32::from(step) * SLOWNESS_STEP;
        sum += weight * fits.iter().map(|fit| f64::from(fit.density(slowness))).product::<f64>();
    }
    sum
}

/// How a time fits a position.
struct Fit {
    /// Logarithm of the network's part of the time over the usual one.
    residual: f32,
    variance: f32,
    /// Share of times that say nothing.
    irregular: f32,
    /// Whether light is fast enough.
    is_possible: bool,
}

impl Fit {
    fn of(time: &TimeToAgent, position: Position) -> Self {
        let km = time.from.distance_km(position);
        let network_ms = (time.ms - ACCESS_MS).max(LEAST_NETWORK_MS);
        let share = if time.is_certain { IRREGULAR } else { IRREGULAR_IF_UNCERTAIN };
        let is_possible = time.ms >= travel_time::least_ms(km);
        Self {
            residual: network_ms.ln() - travel_time::usual_ms(km).ln(),
            variance: travel_time::variance(km) + ACCESS_VARIANCE,
            irregular: share,
            is_possible,
        }
    }

    fn density(&self, slowness: f32) -> f32 {
        let irregular = self.irregular * IRREGULAR_DENSITY;
        if !self.is_possible {
            return irregular;
        }
        let residual = self.residual - slowness;
        let base = 1.0 + residual * residual / self.variance / 4.0;
        // The base to the power of 2.5, half of one more than the degrees of freedom.
        let regular = CONSTANT / (base * base * (base * self.variance).sqrt());
        irregular + (1.0 - self.irregular) * regular
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::places::city;

    fn at(name: &str) -> Position {
        city(name, None).unwrap().position
    }

    /// Usual times from these cities to an agent in Berlin, multiplied by `factor`.
    fn times(cities: &[&str], factor: f32) -> Vec<TimeToAgent> {
        let time = |name: &&str| {
            let from = at(name);
            let ms = factor * travel_time::usual_ms(from.distance_km(at("Berlin"))) + ACCESS_MS;
            TimeToAgent { from, ms, is_certain: true }
        };
        cities.iter().map(time).collect()
    }

    const WITNESSES: [&str; 4] = ["Warsaw", "Madrid", "New York City", "Delhi"];

    #[test]
    fn usual_times_speak_for_a_claim() {
        let tested = OtherPlaces::listed().test(at("Berlin"), &times(&WITNESSES, 1.0));
        assert!(tested.odds < UNTESTED && !tested.is_refuted, "{tested:?}");
    }

    #[test]
    fn times_near_another_place_refute_a_claim() {
        let tested = OtherPlaces::listed().test(at("Lima"), &times(&WITNESSES, 1.0));
        assert!(tested.odds > 1.0 && tested.is_refuted, "{tested:?}");
        assert!(tested.elsewhere.distance_km(at("Berlin")) < 500.0, "{tested:?}");
    }

    #[test]
    fn an_agent_that_is_slow_everywhere_is_believed() {
        let tested = OtherPlaces::listed().test(at("Berlin"), &times(&WITNESSES, 1.8));
        assert!(tested.odds < 1.0 && !tested.is_refuted, "{tested:?}");
    }

    #[test]
    fn one_agent_with_a_wrong_claim_refutes_nobody() {
        let mut times = times(&WITNESSES, 1.0);
        times[0].from = at("Tokyo");
        times[0].is_certain = false;
        let tested = OtherPlaces::listed().test(at("Berlin"), &times);
        assert!(tested.odds < 1.0 && !tested.is_refuted, "{tested:?}");
    }
}
