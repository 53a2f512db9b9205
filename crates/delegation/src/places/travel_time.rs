//! Travel-time map: the usual round trip over a distance, how much a pair deviates from it, and the
//! round trip that no pair can be below.
//!
//! The constants of [`usual_ms`] were fitted to the measured matrix of 2018. They are a prior: what
//! is measured replaces them, pair by pair ([`super::cells`]).

/// Milliseconds of the usual round trip over no distance.
const AT_HOME_MS: f32 = 1.0;
/// Milliseconds per kilometre to the power of [`POWER`].
const SLOPE: f32 = 0.225;
/// Long routes make smaller detours than short ones, so that time grows more slowly than distance.
const POWER: f32 = 0.73;

/// Usual round trip of the network over a distance, without access times.
pub(super) fn usual_ms(km: f32) -> f32 {
    AT_HOME_MS + SLOPE * km.powf(POWER)
}

/// Distance over which `ms` is the usual round trip.
pub(super) fn usual_km(ms: f32) -> f32 {
    ((ms - AT_HOME_MS).max(0.05) / SLOPE).powf(1.0 / POWER)
}

/// Milliseconds per kilometre of the fastest round trip: light in fibre makes 200 km a millisecond,
/// and the positions of a city's machines differ by a few kilometres.
const LEAST_MS_PER_KM: f32 = 0.0095;

/// Round trip that no pair at this distance can be below.
pub(super) fn least_ms(km: f32) -> f32 {
    LEAST_MS_PER_KM * km
}

/// Standard deviation of the logarithm of a pair's time around the map, far away.
const FAR_DEVIATION: f32 = 0.25;
/// Further deviation of near pairs: the way through the next exchange is as long as the distance.
const NEAR_DEVIATION: f32 = 0.7;
/// Distance at which the further deviation is down to a third.
const NEAR_KM: f32 = 450.0;

/// Variance of the logarithm of a pair's time around the map.
pub(super) fn variance(km: f32) -> f32 {
    let near = NEAR_DEVIATION * (-km / NEAR_KM).exp();
    FAR_DEVIATION * FAR_DEVIATION + near * near
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_time_is_above_the_least_and_inverts() {
        for km in [10.0, 100.0, 1_000.0, 10_000.0, 20_000.0] {
            assert!(usual_ms(km) > least_ms(km), "{km} km");
            assert!((usual_km(usual_ms(km)) / km - 1.0).abs() < 0.01, "{km} km");
        }
    }

    #[test]
    fn near_pairs_deviate_more() {
        assert!(variance(0.0) > 0.5 && variance(5_000.0) < 0.07);
    }
}
