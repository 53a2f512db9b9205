//! Deviation of routes: how much the way from one agent to one subnet differs from what is usual
//! between their places. It differs between networks, and is learned.
//!
//! Each finished search is judged by several deviations before it is learned from. The deviation
//! that explained the searches best is used.

/// Deviations that compete, as standard deviations of a logarithm.
pub(super) const CANDIDATES: [f32; 7] = [0.03, 0.05, 0.08, 0.125, 0.18, 0.25, 0.35];
/// The one that is used before anything is learned.
const USUAL: usize = 3;
/// Logarithm of the likelihood by which the usual deviation leads at the beginning, over its
/// neighbours.
const LEAD: f64 = 4.0;
/// Searches after which a score counts half.
const MEMORY: f64 = 3_000.0;

/// Scores of the deviations.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct RouteDeviation {
    scores: [f64; CANDIDATES.len()],
    used: usize,
}

impl Default for RouteDeviation {
    fn default() -> Self {
        let scores = std::array::from_fn(|index| -LEAD * index.abs_diff(USUAL) as f64);
        Self { scores, used: USUAL }
    }
}

impl RouteDeviation {
    /// Variance of a route's logarithm.
    pub(super) fn variance(&self) -> f32 {
        CANDIDATES[self.used] * CANDIDATES[self.used]
    }

    /// Adds how well each candidate explained a search, as the logarithm of a likelihood.
    pub(super) fn judge(&mut self, evidence: [f64; CANDIDATES.len()]) {
        let kept = (-std::f64::consts::LN_2 / MEMORY).exp();
        for (score, evidence) in self.scores.iter_mut().zip(evidence) {
            *score = *score * kept + evidence;
        }
    }

    /// Changes to the candidate with the best score. Expectations that depend on the deviation must
    /// be computed again.
    pub(super) fn refresh(&mut self) {
        let scores = self.scores.iter().enumerate();
        let best = scores.max_by(|(_, a), (_, b)| a.total_cmp(b));
        self.used = best.map_or(USUAL, |(index, _)| index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deviation_that_explains_most_is_used() {
        let mut route = RouteDeviation::default();
        assert!((route.variance().sqrt() - 0.125).abs() < 1e-6);
        let evidence = std::array::from_fn(|index| if index == 5 { -1.0 } else { -1.5 });
        for _ in 0..10 {
            route.judge(evidence);
        }
        route.refresh();
        assert!((route.variance().sqrt() - 0.125).abs() < 1e-6, "ten searches prove little");
        for _ in 0..30 {
            route.judge(evidence);
        }
        route.refresh();
        assert!((route.variance().sqrt() - 0.25).abs() < 1e-6);
    }
}
