//! What loading some files would do to what is tied to the generation in use; nothing is changed by
//! asking.
//!
//! It is thought out by the same functions by which the coordinator does it when it takes a
//! generation up (see [`hierarchy::remap`]).

mod moves;
mod table;

use std::collections::HashMap;

use hierarchy::{Hierarchy, SubnetSplit};
use serde::Serialize;
use store::delegations::Tied;
use store::generations::{self, Facts, Source, refusal};
use store::{Store, StoreError, cuts};

use crate::read::Nested;
use crate::report::SourceReport;

pub use moves::{Fates, Holders, Move, Moves};

/// The generation in use and what is tied to it.
#[derive(Debug)]
pub struct InUse {
    /// What is known of it.
    pub facts: Facts,
    /// Its subnets.
    pub hierarchy: Hierarchy,
    /// Delegations, open searches, pins and exclusions.
    pub tied: Tied,
    /// Subnets that searches found not to be in one place.
    pub cuts: Vec<SubnetSplit>,
}

impl InUse {
    /// Reads it; `None` before the first load.
    pub async fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(facts) = generations::live(store).await? else { return Ok(None) };
        let Some(hierarchy) = generations::read(store, facts.id).await? else { return Ok(None) };
        let tied = Tied::read(store).await?;
        let cuts = cuts::all(store).await?;
        Ok(Some(Self { facts, hierarchy, tied, cuts }))
    }
}

/// What a load would do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// Number of the generation in use; `None` when nothing is loaded yet.
    pub generation: Option<i64>,
    /// Subnets of the generation in use.
    pub subnets_before: u64,
    /// Subnets that the new one would have.
    pub subnets_after: u64,
    /// Why the load would be refused unless forced.
    pub refused: Option<String>,
    /// What would become of the delegations.
    pub delegations: Moves,
    /// What would become of the open searches.
    pub searches: Moves,
    /// What would become of pins and exclusions that are about a range.
    pub rules: Moves,
}

impl Preview {
    /// Thinks it out.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the methods are protocol's, which is not known here"
    )]
    pub fn of(in_use: Option<&InUse>, nested: &Nested) -> Self {
        let Some(in_use) = in_use else {
            return Self { subnets_after: nested.hierarchy.len() as u64, ..Self::EMPTY };
        };
        let cut = nested.hierarchy.split(nested.hierarchy.generation(), &in_use.cuts);
        let hierarchy = cut.as_ref().map_or(&nested.hierarchy, |(cut, _)| cut);
        let new: Vec<Source> =
            nested.files.iter().map(|file| SourceReport::from(file).to_stored()).collect();
        let plan = in_use.tied.plan(Some(&in_use.hierarchy), hierarchy);
        let held = in_use.tied.held.iter();
        let agents: HashMap<i64, i64> = held.map(|one| (one.id.get(), one.agent.get())).collect();
        let said = in_use.tied.rules.iter();
        let by = said.map(|(_, rule)| (rule.id, rule.agent.get())).collect();
        let holders = Holders { old: &in_use.hierarchy, new: hierarchy };
        Self {
            generation: Some(in_use.facts.id.get()),
            subnets_before: in_use.hierarchy.len() as u64,
            subnets_after: hierarchy.len() as u64,
            refused: refusal(&in_use.facts.sources, &new).map(|error| error.to_string()),
            delegations: Moves::of_delegations(
                &plan.delegations,
                |key| key.get(),
                &agents,
                &holders,
            ),
            searches: Moves::of_searches(&plan.searches, |key| key.get(), &holders),
            rules: Moves::of_delegations(&plan.constraints, |id| id, &by, &holders),
        }
    }

    const EMPTY: Self = Self {
        generation: None,
        subnets_before: 0,
        subnets_after: 0,
        refused: None,
        delegations: Moves::NONE,
        searches: Moves::NONE,
        rules: Moves::NONE,
    };
}
