//! What can be wrong with an object.

use super::address::RangeFault;

/// Why an object was left out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A line that is no attribute, no continuation and no comment.
    #[error("no `key: value` on this line")]
    NoAttribute,
    /// Longer than any attribute of a registry.
    #[error("longer than 65,536 bytes")]
    LongLine,
    /// More lines than any object of a registry.
    #[error("an object of more than 100,000 lines")]
    TooManyLines,
    /// NUL bytes where text should be.
    #[error("NUL bytes in a value")]
    Nul,
    /// A net without addresses.
    #[error("no range of addresses")]
    NoRange,
    /// Addresses that cannot be read.
    #[error("the range `{text}` {fault}")]
    Range {
        /// What is there, cut.
        text: String,
        /// What is wrong with it.
        fault: RangeFault,
    },
    /// Nothing says which registry speaks.
    #[error("`source: {0}` names none of the five registries")]
    Source(String),
    /// An organisation that nothing can refer to.
    #[error("an organisation without a handle")]
    NoHandle,
}
