//! What the predictive strategy knows, kept while everything runs.
//!
//! Nothing here is the only copy: clusters come from the stored times of landmarks, prior from
//! the stored trails of searches, and what was spent today from the stored orders. A coordinator
//! that takes office thinks it out anew.

pub mod choose_landmarks;
mod findings;
pub mod fit_model;
mod knowledge;
pub mod measure_landmarks;
mod model_fit;
mod plan;
mod spending;

pub use findings::{cut_apart, findings};
pub use knowledge::{Insight, Lesson, Question};
pub use model_fit::{Basis, Sizes, know, survey};
pub use plan::{Plan, State, anycast, plan};
pub use spending::{Spending, probe_limits};
