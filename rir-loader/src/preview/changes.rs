//! Counts of changes, with a few examples.

use std::collections::{BTreeMap, HashMap};

use hierarchy::remap::{RangeChange, Remapping, SearchRemapping};
use hierarchy::{Hierarchy, Range};
use serde::Serialize;

use crate::inspect::company_name;

/// Examples of each kind of change.
const MAX_EXAMPLES: u64 = 5;

/// Changes of all delegations, searches or constraints.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Number of delegations, searches or constraints.
    pub total: u64,
    /// Their number by the change of their range: same, transferred, split, merged, vanished.
    pub changes: BTreeMap<&'static str, u64>,
    /// Those with any change that end because another one has their place.
    pub ended: u64,
    /// The first few of each change but `same`.
    pub examples: Vec<Change>,
}

/// Change of one delegation, search or constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Change {
    /// Number of the delegation, search or constraint.
    pub id: i64,
    /// Agent of it; `None` for a search.
    pub agent: Option<i64>,
    /// Range in the current generation.
    pub from: String,
    /// Change of the range: transferred, split, merged or vanished.
    pub change: &'static str,
    /// New ranges; empty when it ends.
    pub to: Vec<String>,
    /// Ranges that go to another delegation or constraint; empty for a search.
    pub ceded: Vec<CededRange>,
    /// Holders of the range, before and after.
    pub holders: [Option<String>; 2],
}

/// A range that goes to another delegation or constraint.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CededRange {
    /// The range in the new generation.
    pub range: String,
    /// Number of the delegation or constraint that gets it.
    pub to: i64,
}

/// No changes: every count is present and 0.
impl Default for Changes {
    fn default() -> Self {
        let changes = RangeChange::ALL.map(|change| (change.as_str(), 0)).into();
        Self { total: 0, changes, ended: 0, examples: vec![] }
    }
}

impl Changes {
    /// Changes of delegations, or of pins and exclusions. `number` is the number behind a key,
    /// `agents` the agent by number, `hierarchies` the current and the new generation.
    pub(super) fn of_claims<Key: Copy>(
        remappings: &[Remapping<Key>],
        number: impl Fn(Key) -> i64,
        agents: &HashMap<i64, i64>,
        hierarchies: [&Hierarchy; 2],
    ) -> Self {
        let mut changes = Self::default();
        for one in remappings {
            let id = number(one.claim.key);
            let ceded = one.ceded.iter();
            changes.add(one.change, one.assigned.is_empty(), || Change {
                id,
                agent: agents.get(&id).copied(),
                from: one.claim.range.to_string(),
                change: one.change.as_str(),
                to: one.assigned.iter().map(Range::to_string).collect(),
                ceded: ceded
                    .map(|(range, to)| CededRange { range: range.to_string(), to: number(*to) })
                    .collect(),
                holders: holders_of(&one.claim.range, hierarchies),
            });
        }
        changes
    }

    /// Changes of open searches; see [`Self::of_claims`] for the parameters.
    pub(super) fn of_searches<Key: Copy>(
        remappings: &[SearchRemapping<Key>],
        number: impl Fn(Key) -> i64,
        hierarchies: [&Hierarchy; 2],
    ) -> Self {
        let mut changes = Self::default();
        for one in remappings {
            changes.add(one.change, one.redundant, || Change {
                id: number(one.search.key),
                agent: None,
                from: one.search.range.to_string(),
                change: one.change.as_str(),
                to: if one.redundant { vec![] } else { vec![one.subnet.to_string()] },
                ceded: vec![],
                holders: holders_of(&one.search.range, hierarchies),
            });
        }
        changes
    }

    pub(super) fn count(&self, change: RangeChange) -> u64 {
        self.changes.get(change.as_str()).copied().unwrap_or(0)
    }

    fn add(&mut self, change: RangeChange, ends: bool, example: impl FnOnce() -> Change) {
        self.total += 1;
        self.ended += u64::from(ends);
        *self.changes.entry(change.as_str()).or_default() += 1;
        if self.count(change) <= MAX_EXAMPLES && change != RangeChange::Same {
            self.examples.push(example());
        }
    }
}

fn holders_of(range: &Range, hierarchies: [&Hierarchy; 2]) -> [Option<String>; 2] {
    hierarchies.map(|hierarchy| {
        let id = hierarchy.smallest_holding(range);
        company_name(hierarchy, &hierarchy.subnet(id))
    })
}
