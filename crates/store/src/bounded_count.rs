//! Bounded counts: lists show how many entries they have without counting millions of rows.

/// Rows that are counted at most.
pub(crate) const COUNT_MAX: i64 = 10_000;

/// A count that ends at a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BoundedCount {
    /// Number of rows that were counted.
    pub count: u64,
    /// Whether there are more.
    pub more: bool,
}

impl BoundedCount {
    /// A count that is known exactly.
    pub const fn exact(count: u64) -> Self {
        Self { count, more: false }
    }

    /// The count of at most [`COUNT_MAX`] + 1 rows.
    pub(crate) fn of_limited(rows: i64) -> Self {
        Self { count: rows.min(COUNT_MAX).unsigned_abs(), more: rows > COUNT_MAX }
    }

    /// The sum of several counts; there are more if one of them has more.
    pub fn sum(counts: impl IntoIterator<Item = Self>) -> Self {
        counts.into_iter().fold(Self::default(), |sum, each| Self {
            count: sum.count.saturating_add(each.count),
            more: sum.more || each.more,
        })
    }
}
