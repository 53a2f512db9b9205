//! The normal distribution.

/// Probability that a standard normal variable is below `z`; within 1e-7 (Abramowitz and Stegun 26.2.17).
pub(crate) fn below(z: f64) -> f64 {
    const COEFFICIENTS: [f64; 5] =
        [1.330_274_429, -1.821_255_978, 1.781_477_937, -0.356_563_782, 0.319_381_530];
    let t = 1.0 / (1.0 + 0.231_641_9 * z.abs());
    let polynomial = COEFFICIENTS.iter().fold(0.0, |sum, coefficient| (sum + coefficient) * t);
    let tail = polynomial * (-z * z / 2.0).exp() / std::f64::consts::TAU.sqrt();
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
