//! Counts, and a few of the moves in words.

use std::collections::HashMap;

use hierarchy::remap::{RangeChange, Remapping, SearchRemapping};
use hierarchy::{Hierarchy, Range};
use serde::Serialize;

use crate::inspect::company_name;

/// Examples of each fate.
const EXAMPLES: usize = 5;

/// How many met each fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[expect(missing_docs, reason = "the fates of ranges, counted; see hierarchy::remap::RangeChange")]
pub struct Fates {
    pub same: u64,
    pub transferred: u64,
    pub split: u64,
    pub merged: u64,
    pub vanished: u64,
}

impl Fates {
    const NONE: Self = Self { same: 0, transferred: 0, split: 0, merged: 0, vanished: 0 };

    fn count(&mut self, fate: RangeChange) -> u64 {
        let count = match fate {
            RangeChange::Same => &mut self.same,
            RangeChange::Transferred => &mut self.transferred,
            RangeChange::Split => &mut self.split,
            RangeChange::Merged => &mut self.merged,
            RangeChange::Vanished => &mut self.vanished,
        };
        *count += 1;
        *count
    }

    /// Those of one fate.
    pub fn of(&self, fate: RangeChange) -> u64 {
        match fate {
            RangeChange::Same => self.same,
            RangeChange::Transferred => self.transferred,
            RangeChange::Split => self.split,
            RangeChange::Merged => self.merged,
            RangeChange::Vanished => self.vanished,
        }
    }
}

/// What would become of all things of a kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Moves {
    /// How many there are.
    pub total: u64,
    /// What becomes of their ranges.
    pub fates: Fates,
    /// Those, of any fate, that end because another has their place.
    pub ended: u64,
    /// The first few of each fate but `same`.
    pub examples: Vec<Move>,
}

/// One of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Move {
    /// Number of the delegation or search.
    pub id: i64,
    /// The agent that has it; `None` for a search.
    pub agent: Option<i64>,
    /// Its range.
    pub from: String,
    /// What becomes of the range: transferred, split, merged or vanished.
    pub why: &'static str,
    /// Where it goes; empty when it ends.
    pub to: Vec<String>,
    /// Places that it would have if no other delegation had them, and which has; none for a search.
    pub yields: Vec<Yield>,
    /// Who holds the range, and who would.
    pub holders: [Option<String>; 2],
}

/// A place that goes to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Yield {
    /// The place.
    pub range: String,
    /// Number of the delegation that has it.
    pub to: i64,
}

/// Says who holds a range in both generations.
#[derive(Debug)]
pub struct Holders<'h> {
    /// The generation in use.
    pub old: &'h Hierarchy,
    /// The one that would be loaded.
    pub new: &'h Hierarchy,
}

impl Holders<'_> {
    fn of(&self, range: &Range) -> [Option<String>; 2] {
        [self.old, self.new].map(|hierarchy| {
            let id = hierarchy.smallest_holding(range);
            company_name(hierarchy, &hierarchy.subnet(id))
        })
    }
}

impl Moves {
    pub(super) const NONE: Self = Self { total: 0, fates: Fates::NONE, ended: 0, examples: vec![] };

    /// Of delegations, or of pins and exclusions. `number` is that of one; `agents` has the agent
    /// of each.
    pub(super) fn of_delegations<Key: Copy>(
        carried: &[Remapping<Key>],
        number: impl Fn(Key) -> i64,
        agents: &HashMap<i64, i64>,
        holders: &Holders<'_>,
    ) -> Self {
        let mut moves = Self::NONE;
        for one in carried {
            let id = number(one.claim.key);
            let yields = one.ceded.iter().map(|(range, to)| (range.to_string(), number(*to)));
            moves.count(one.change, one.assigned.is_empty(), || Move {
                id,
                agent: agents.get(&id).copied(),
                from: one.claim.range.to_string(),
                why: one.change.as_str(),
                to: one.assigned.iter().map(Range::to_string).collect(),
                yields: yields.map(|(range, to)| Yield { range, to }).collect(),
                holders: holders.of(&one.claim.range),
            });
        }
        moves
    }

    /// `number` is that of a search.
    pub(super) fn of_searches<Key: Copy>(
        followed: &[SearchRemapping<Key>],
        number: impl Fn(Key) -> i64,
        holders: &Holders<'_>,
    ) -> Self {
        let mut moves = Self::NONE;
        for one in followed {
            let place = (!one.redundant).then(|| one.subnet.to_string());
            moves.count(one.change, one.redundant, || Move {
                id: number(one.search.key),
                agent: None,
                from: one.search.range.to_string(),
                why: one.change.as_str(),
                to: place.into_iter().collect(),
                yields: vec![],
                holders: holders.of(&one.search.range),
            });
        }
        moves
    }

    fn count(&mut self, fate: RangeChange, ends: bool, example: impl FnOnce() -> Move) {
        self.total += 1;
        self.ended += u64::from(ends);
        if self.fates.count(fate) <= EXAMPLES as u64 && fate != RangeChange::Same {
            self.examples.push(example());
        }
    }
}
