//! The normal distribution.

/// Probability that a standard normal variable is below `z`, within 3e-4 (Abramowitz and Stegun
/// 7.1.27, which needs no exponential function).
pub(crate) fn below(z: f32) -> f32 {
    const COEFFICIENTS: [f32; 4] = [0.078_108, 0.000_972, 0.230_389, 0.278_393];
    let x = z.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let polynomial =
        1.0 + COEFFICIENTS.iter().fold(0.0, |sum, coefficient| (sum + coefficient) * x);
    let squared = polynomial * polynomial;
    let tail = 0.5 / (squared * squared);
    if z > 0.0 { 1.0 - tail } else { tail }
}

#[cfg(test)]
mod tests {
    use super::below;

    #[test]
    fn known_values() {
        for (z, probability) in
            [(0.0, 0.5), (1.0, 0.841_345), (-1.96, 0.024_998), (3.0, 0.998_650_1), (-40.0, 0.0)]
        {
            assert!((below(z) - probability).abs() < 3e-4, "{z}");
        }
    }
}
