//! The normal distribution.

/// Probability that a standard normal variable is below `z`; within 2e-7 (Abramowitz and Stegun 7.1.28, which needs no
/// exponential).
pub(crate) fn below(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 6] = [
        0.000_043_063_8,
        0.000_276_567_2,
        0.000_152_014_3,
        0.009_270_527_2,
        0.042_282_012_3,
        0.070_523_078_4,
    ];
    let x = z.abs() * std::f64::consts::FRAC_1_SQRT_2;
    let polynomial = 1.0 + COEFFICIENTS.iter().fold(0.0, |sum, coefficient| (sum + coefficient) * x);
    let squared = polynomial * polynomial;
    let fourth = squared * squared;
    let eighth = fourth * fourth;
    let tail = 0.5 / (eighth * eighth);
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn known_values() {
        for (z, probability) in [(0.0, 0.5), (1.0, 0.841_344_75), (-1.96, 0.024_997_90), (3.0, 0.998_650_1)] {
            assert!((below(z) - probability).abs() < 1e-6, "{z}");
        }
    }
}
