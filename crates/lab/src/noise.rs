//! Seeded random numbers that do not depend on the order of drawing: each is a function of a seed
//! and of keys.

/// A source of seeded random numbers, one independent stream per `keys`.
///
/// Two callers that ask for the same keys get the same number, whatever else was drawn before, so
/// that "the route from agent 3 to company 17" stays what it is through a whole experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Noise {
    seed: u64,
}

impl Noise {
    /// The source of one experiment.
    pub fn new(seed: u64) -> Self {
        Self { seed }
    }

    /// Uniform in [0, 1).
    pub fn uniform(self, keys: &[u64]) -> f64 {
        unit(self.hash(keys))
    }

    /// Standard normal (Box and Muller's transform of two uniforms).
    pub fn normal(self, keys: &[u64]) -> f64 {
        let first = self.hash(keys);
        let radius = (-2.0 * (1.0 - unit(first)).ln()).sqrt();
        radius * (std::f64::consts::TAU * unit(mix(first ^ SECOND_DRAW))).cos()
    }

    /// Lognormal with median 1: `exp(sigma × normal)`.
    pub fn lognormal(self, sigma: f64, keys: &[u64]) -> f64 {
        (sigma * self.normal(keys)).exp()
    }

    /// 64 random-looking bits, for orders and circles.
    pub fn hash(self, keys: &[u64]) -> u64 {
        keys.iter().fold(mix(self.seed), |state, key| mix(state ^ mix(*key)))
    }
}

const SECOND_DRAW: u64 = 0xD1B5_4A32_D192_ED03;

/// 53 high bits as a fraction.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

/// SplitMix64's finalizer (Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
/// 2014).
fn mix(state: u64) -> u64 {
    let mut bits = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_keys_give_the_same_draw() {
        let noise = Noise::new(7);
        assert_eq!(noise.normal(&[1, 2]).to_bits(), noise.normal(&[1, 2]).to_bits());
        assert_ne!(noise.normal(&[1, 2]).to_bits(), noise.normal(&[2, 1]).to_bits());
        assert_ne!(noise.normal(&[1, 2]).to_bits(), Noise::new(8).normal(&[1, 2]).to_bits());
    }

    #[test]
    fn normal_has_mean_zero_and_variance_one() {
        let scenarios: Vec<f64> = (0..20_000).map(|key| Noise::new(1).normal(&[key])).collect();
        let mean = scenarios.iter().sum::<f64>() / 20_000.0;
        let variance = scenarios.iter().map(|scenario| scenario * scenario).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03, "mean {mean}");
        assert!((variance - 1.0).abs() < 0.05, "variance {variance}");
    }
}
