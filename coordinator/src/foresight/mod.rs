//! What the predictive strategy knows, kept while everything runs.
//!
//! Nothing here is the only copy: places come from the stored times of landmarks, experience from
//! the stored trails of searches, and what was spent today from the stored orders. A coordinator
//! that takes office thinks it out anew.

mod findings;
mod knowledge;
mod plan;
mod spending;
mod survey;

pub use findings::{cut_apart, findings};
pub use knowledge::{Insight, Lesson, Question};
pub use plan::{Plan, State, anycast, plan};
pub use spending::{Spending, allowance};
pub use survey::{Basis, Sizes, know, survey};
