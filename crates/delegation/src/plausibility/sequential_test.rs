//! Wald's sequential test on the share of contradicted reports.

use serde::{Deserialize, Serialize};

/// The two shares that a test tells apart.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    /// Share of contradicted reports of an honest agent in an unfavourable location.
    pub honest: f64,
    /// Share of contradicted reports of an agent that forges.
    pub forged: f64,
}

impl Shares {
    /// Logarithm of the likelihood of a forged report over that of an honest one.
    pub(super) fn log_ratio(self, is_contradicted: bool) -> f64 {
        if is_contradicted {
            (self.forged / self.honest).ln()
        } else {
            ((1.0 - self.forged) / (1.0 - self.honest)).ln()
        }
    }
}

/// Probability that an honest agent with exactly [`Shares::honest`] is ever found to forge. Most
/// honest agents are far below that share.
const ERROR: f64 = 1e-5;

/// A running test (Wald 1945).
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct SequentialTest {
    /// Logarithm of the likelihood of forged reports over that of honest ones.
    pub score: f64,
    /// Reports that were judged.
    pub judged: u32,
    /// Those of them that were contradicted.
    pub contradicted: u32,
}

impl SequentialTest {
    /// Score from which forgery is accepted.
    pub fn limit() -> f64 {
        -ERROR.ln()
    }

    /// Counts one report.
    pub(super) fn observe(&mut self, log_ratio: f64, is_contradicted: bool) {
        self.score += log_ratio;
        self.judged = self.judged.saturating_add(1);
        self.contradicted = self.contradicted.saturating_add(u32::from(is_contradicted));
    }

    /// Begins again where honesty is accepted, so that an agent that begins to forge later is found
    /// as well.
    pub(super) fn restart_if_honest(&mut self) {
        if self.score <= -HONEST_LIMIT {
            self.score = 0.0;
        }
    }
}

/// Score below zero at which honesty is accepted. Less is needed than for forgery, because the test
/// goes on.
const HONEST_LIMIT: f64 = 3.0;
