//! Plausibility of reports: whether an agent can be as near to a target as it reports.
//!
//! An agent that reports round trips that are too short wins searches that it should lose. Two
//! bounds follow from what *other* agents measured. Both are the triangle inequality, `B` is any
//! other agent, `T` the target, and `A` the agent that reports:
//!
//! - `d(A,T) ≥ d(B,T) − d(A,B)`, where `d(A,B)` is at most the path over the home of an agent;
//! - `d(A,T) ≥ d(A,B) − d(B,T)`, where `d(A,B)` is what `B` measured to the home address of `A`.
//!
//! Routes in the Internet violate the inequality. Each bound therefore divides the longer time by
//! [`DETOUR`] and subtracts [`SLACK_MS`]; several witnesses must agree; and only the share of an
//! agent's contradicted reports counts, by a sequential test. In reading order:
//!
//! 1. [`ReferenceTimes`]: what is known of the distances between agents.
//! 2. [`Judgement`]: one report against the reports of other agents on the same target.
//! 3. [`HomeReports`]: what an agent reported of the homes of others.
//! 4. [`SequentialTest`]: Wald's test on the share of contradicted reports in searches.
//! 5. [`Trust`]: all that is held against one agent and what follows from it.
//! 6. [`Review`]: the trail of a search without implausible times, the control probe that a search
//!    needs before it decides, and the examination of a doubted agent.
//!
//! Wanted: no honest agent is paused, regardless of its line and its home address; an agent that
//! forges times is paused before it has won many subnets.

mod home_reports;
mod judgement;
mod reference_times;
mod review;
mod sequential_test;
mod trust;

pub use home_reports::HomeReports;
pub use judgement::{Judgement, Verdict, WitnessTime};
pub use reference_times::{HomeMeasurement, HomeTimes, ReferenceTimes, Relation};
pub use review::{Admission, JudgedReport, Review};
pub use sequential_test::SequentialTest;
pub use trust::{ReportKind, SearchReports, Trust, TrustLevel};

/// How many times as long a direct route may be as a detour over a third place. Chosen on one half
/// of the cities of a measured matrix and judged on the other half (decision record 0034).
pub const DETOUR: f64 = 1.2;

/// Difference that access lines and neighbouring machines explain, in milliseconds.
pub const SLACK_MS: f64 = 5.0;

/// No network stack answers within this time, in milliseconds: a shorter report is contradicted
/// without a witness.
pub const LEAST_MS: f64 = 0.01;
