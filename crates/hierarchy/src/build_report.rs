//! Report on the construction of a hierarchy.

/// Conflicts that the builder resolved.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Records that were added, including the blocks of [`crate::Builder::group`].
    pub records: u64,
    /// Records that were dropped because another record had exactly their range. A block with the
    /// range of a record is not counted.
    pub equal: u64,
    /// Records that overlapped another one without containing it or lying in it; each was split.
    pub crossing: u64,
}
