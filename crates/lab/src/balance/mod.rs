//! Balance experiment: the rules of IPMicra III.F against the optimum, on a generated problem.

mod generated;
mod online;
mod rule_comparison;

pub use generated::{GeneratedSettings, generate};
pub use online::{OnlineRun, run_online};
pub use rule_comparison::{RuleComparison, RuleResult, compare_rules};
