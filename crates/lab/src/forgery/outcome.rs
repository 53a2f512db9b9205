//! The numbers of one run.

/// What became of the liar and of the honest agents.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ForgeryOutcome {
    /// Searches that were decided when the liar was paused; `None` when it never was.
    pub paused_after: Option<usize>,
    /// Searches that were decided until then, or in all.
    pub decided: usize,
    /// Those of them that the liar won although another agent was nearer.
    pub wrong: usize,
    /// Honest agents that were paused in the whole run.
    pub honest_paused: usize,
    /// Highest share of contradicted reports on homes of an honest agent.
    pub honest_share: f64,
    /// The same share of the liar.
    pub liar_share: f64,
    /// Probes of searches in the whole run, control probes among them.
    pub probes: usize,
    /// Control probes in the whole run.
    pub control_probes: usize,
    /// Searches of the whole run.
    pub searches: usize,
    /// Share of subnets whose agent is the nearest one; 0 to 1.
    pub optimal_share: f64,
}

impl ForgeryOutcome {
    /// Share of the subnets that were wrongly given to the liar until it was paused.
    pub fn wrong_share(&self) -> f64 {
        self.wrong as f64 / self.decided.max(1) as f64
    }
}
