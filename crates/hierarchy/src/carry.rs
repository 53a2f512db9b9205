//! Here is what was tied to the ranges of an old generation: where does it belong in the new one?
//!
//! > The hierarchy is rebuilt every few months and populated with the old hierarchy's data. (after
//! > IPMicra III.B)
//!
//! Two steps, both pure. [`place`] finds for each [`Claim`] its places in the new generation and
//! says what became of its range ([`Fate`]): the same range; else the largest subnets that it was
//! split into; else the smallest subnet that holds it. [`settle`] sees that a subnet goes to one
//! claim only: whose range it is, else who ranks first. Nothing is dropped in silence: a claim that
//! gets no place yields to a named other. An open search [follows](follow) the address that it
//! probes, and what an admin said of a range goes where that went ([`steer`]). [`Plan`] is all of
//! it together, for whoever carries it out and for whoever only shows what would happen.

mod follow;
mod place;
mod plan;
mod settle;
mod steer;

use std::fmt;

use crate::range::Range;

pub use follow::{Followed, Quest, follow};
pub use place::place;
pub use plan::Plan;
pub use settle::settle;
pub use steer::steer;

/// Something that is tied to a range, such as a delegation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim<Key> {
    /// Its name.
    pub key: Key,
    /// Its range, which an older generation had as a subnet.
    pub range: Range,
    /// Where two claims meet, the smaller rank gets the subnet.
    pub rank: u64,
    /// Whether it holds only until a search, still open, finds somebody better.
    pub provisional: bool,
}

/// What became of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fate {
    /// It is there, held by the same company.
    Same,
    /// It is there, held by another company or kept by another registry.
    Transferred,
    /// Smaller ranges lie where it was.
    Split,
    /// A larger range that was not there before holds it.
    Merged,
    /// Nobody is recorded for it; its addresses belong to what was around it.
    Vanished,
}

impl Fate {
    /// All, from the least change to the greatest.
    pub const ALL: [Self; 5] =
        [Self::Same, Self::Transferred, Self::Split, Self::Merged, Self::Vanished];

    /// The word stored and shown.
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

impl fmt::Display for Fate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A claim and its places in the new generation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed<Key> {
    /// The claim.
    pub claim: Claim<Key>,
    /// What became of its range.
    pub fate: Fate,
    /// Subnets of the new generation, in order; never empty.
    pub places: Vec<Range>,
}

/// What is to be done with a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Carried<Key> {
    /// The claim.
    pub claim: Claim<Key>,
    /// What became of its range.
    pub fate: Fate,
    /// The subnets that are its own from now on.
    pub gets: Vec<Range>,
    /// The other places of its range, each with the claim that has it.
    pub yields: Vec<(Range, Key)>,
}

impl<Key> Carried<Key> {
    /// Whether it stays where it is.
    pub fn stays(&self) -> bool {
        self.gets == [self.claim.range]
    }
}

/// How many claims met which fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Census {
    /// Claims of each fate, in the order of [`Fate::ALL`].
    pub fates: [u64; Fate::ALL.len()],
    /// Those, of any fate, that got no place because others have all of theirs.
    pub yielded: u64,
}

impl Census {
    /// Counts.
    pub fn of<Key>(carried: &[Carried<Key>]) -> Self {
        let mut census = Self::default();
        for one in carried {
            census.fates[one.fate as usize] += 1;
            census.yielded += u64::from(one.gets.is_empty());
        }
        census
    }

    /// Claims of one fate.
    pub fn count(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// All claims.
    pub fn total(&self) -> u64 {
        self.fates.iter().sum()
    }
}

/// `120 same, 3 transferred, …`
impl fmt::Display for Census {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for fate in Fate::ALL {
            write!(f, "{} {fate}, ", self.count(fate))?;
        }
        write!(f, "{} of them yielded to another", self.yielded)
    }
}
