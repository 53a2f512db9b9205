//! Balance experiment: the rules of IPMicra III.F against the optimum, on a problem from a file or
//! a generated one.

mod generated;
mod online;
mod problem_file;
mod rule_comparison;

pub use generated::{GeneratedSettings, generate};
pub use online::{OnlineRun, run_online};
pub use problem_file::{ProblemFileError, read_problem};
pub use rule_comparison::{RuleComparison, RuleResult, compare_rules};
