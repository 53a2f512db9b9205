//! Remapping: moves what is tied to the ranges of one generation to the next generation.
//!
//! > The hierarchy is rebuilt every few months and populated with the old hierarchy's data. (after
//! > IPMicra III.B)
//!
//! [`Plan`] is the whole computation. It changes nothing itself, so that the same code serves the
//! coordinator, which applies the plan, and the loader, which only shows it. Its steps:
//!
//! 1. `successors`: which subnets of the new generation replace the range of a [`Claim`], and what
//!    happened to that range ([`RangeChange`]).
//! 2. `assign`: where several claims have the same successor, one of them gets it. A claim that
//!    gets nothing names the claims that got its successors ([`Remapping::ceded`]).
//! 3. `searches`: an open delegation search moves to the subnet of the address that it probes.
//! 4. `constraints`: pins and exclusions of ranges move by rules of their own.
//!
//! Pins and exclusions of companies are no part of it: see [`successor_of_company`].

mod assign;
mod companies;
mod constraints;
mod plan;
mod searches;
mod successors;

use std::fmt;

use crate::range::Range;

pub use companies::{has_company, successor_of_company};
pub use plan::Plan;
pub use searches::{SearchClaim, SearchRemapping};

/// Something that is tied to a range, such as a delegation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<Key> {
    /// The caller's identifier of what is tied.
    pub key: Key,
    /// A subnet of an older generation.
    pub range: Range,
    /// Priority where two claims have the same successor: the smaller rank wins.
    pub rank: u64,
    /// True for a delegation that holds only until its search, still open, finds a better agent.
    pub provisional: bool,
}

/// What happened to a range between two generations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RangeChange {
    /// Still a subnet, of the same company.
    Same,
    /// Still a subnet, but of another company or registry.
    Transferred,
    /// Replaced by smaller subnets inside it.
    Split,
    /// Replaced by a larger subnet that is new.
    Merged,
    /// No longer recorded: its addresses belong to what surrounded it before.
    Vanished,
}

impl RangeChange {
    /// All variants, from the least change to the greatest.
    pub const ALL: [Self; 5] =
        [Self::Same, Self::Transferred, Self::Split, Self::Merged, Self::Vanished];

    /// The lower-case word for the database, JSON and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Transferred => "transferred",
            Self::Split => "split",
            Self::Merged => "merged",
            Self::Vanished => "vanished",
        }
    }

    /// Whether the range is a subnet of the new generation.
    pub fn stays(self) -> bool {
        matches!(self, Self::Same | Self::Transferred)
    }
}

impl fmt::Display for RangeChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// The outcome for one claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remapping<Key> {
    /// The claim as it was given.
    pub claim: Claim<Key>,
    /// What happened to the range of the claim.
    pub change: RangeChange,
    /// The subnets of the new generation that the claim gets, in order. With none here and none
    /// ceded, no subnet that may be delegated holds the range.
    pub assigned: Vec<Range>,
    /// The other successors of the range, each with the claim that got it.
    pub ceded: Vec<(Range, Key)>,
}

impl<Key> Remapping<Key> {
    /// Whether the claim keeps exactly its range.
    pub fn stays(&self) -> bool {
        self.assigned == [self.claim.range]
    }
}

/// Numbers of remapped claims by outcome.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RemapCounts {
    /// Claims by change of their range, in the order of [`RangeChange::ALL`].
    pub changes: [u64; RangeChange::ALL.len()],
    /// Claims with any change that got nothing because others have all their successors.
    pub yielded: u64,
}

impl RemapCounts {
    /// Counts the outcomes of all claims.
    pub fn of<Key>(remappings: &[Remapping<Key>]) -> Self {
        let mut counts = Self::default();
        for remapping in remappings {
            counts.changes[remapping.change as usize] += 1;
            let has_yielded = remapping.assigned.is_empty() && !remapping.ceded.is_empty();
            counts.yielded += u64::from(has_yielded);
        }
        counts
    }

    /// The number of claims whose range changed in this way.
    pub fn count(&self, change: RangeChange) -> u64 {
        self.changes[change as usize]
    }

    /// The number of all claims.
    pub fn total(&self) -> u64 {
        self.changes.iter().sum()
    }
}

/// `120 same, 3 transferred, …`
impl fmt::Display for RemapCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for change in RangeChange::ALL {
            write!(f, "{} {change}, ", self.count(change))?;
        }
        write!(f, "{} of them yielded to another", self.yielded)
    }
}
