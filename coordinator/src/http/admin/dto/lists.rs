//! Counts beside lists: totals, and how many entries each value of a filter leaves.

use serde::Serialize;
use utoipa::ToSchema;

/// A count that ends at a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct BoundedCount {
    /// Number of entries that were counted.
    pub count: u64,
    /// True when there are more than that.
    pub more: bool,
}

impl From<store::bounded_count::BoundedCount> for BoundedCount {
    fn from(counted: store::bounded_count::BoundedCount) -> Self {
        Self { count: counted.count, more: counted.more }
    }
}
