//! Preview of a load: what it would change for delegations, open searches and constraints.
//!
//! The plan comes from the functions that the coordinator applies when it takes over a generation
//! (see [`hierarchy::remap`]). Nothing is changed.

mod changes;
mod table;

use std::collections::HashMap;

use hierarchy::{Hierarchy, Range, SubnetSplit};
use serde::Serialize;
use store::delegations::RemapInput;
use store::generations::{self, Facts, Source, refusal};
use store::{Store, StoreError, subnet_splits, unregistered_subnets};

use crate::read::RegistryData;
use crate::report::SourceReport;

pub use changes::{CededRange, Change, Changes};

/// The current generation and what is tied to it.
#[derive(Debug)]
pub struct CurrentState {
    /// Number, sources and age of the generation.
    pub facts: Facts,
    /// Subnets of the generation.
    pub hierarchy: Hierarchy,
    /// Delegations, open searches, pins and exclusions.
    pub tied: RemapInput,
    /// Virtual subnets that searches found.
    pub splits: Vec<SubnetSplit>,
    /// Ranges of unregistered space that are virtual subnets.
    pub unregistered: Vec<Range>,
}

impl CurrentState {
    /// Reads the state from the database; `None` before the first load.
    pub async fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(facts) = generations::live(store).await? else { return Ok(None) };
        let Some(hierarchy) = generations::read(store, facts.id).await? else { return Ok(None) };
        let tied = RemapInput::read(store).await?;
        let splits = subnet_splits::all(store).await?;
        let unregistered = unregistered_subnets::all(store).await?;
        let completed = hierarchy.with_unregistered(facts.id, &unregistered);
        let hierarchy = completed.unwrap_or(hierarchy);
        Ok(Some(Self { facts, hierarchy, tied, splits, unregistered }))
    }
}

/// What a load would change.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Preview {
    /// Number of the current generation; `None` when nothing is loaded yet.
    pub generation: Option<i64>,
    /// Subnets of the current generation.
    pub subnets_before: u64,
    /// Subnets of the new generation.
    pub subnets_after: u64,
    /// Why the load would be refused without `--force`.
    pub refused: Option<String>,
    /// Changes of delegations.
    pub delegations: Changes,
    /// Changes of open searches.
    pub searches: Changes,
    /// Changes of pins and exclusions of a range.
    pub constraints: Changes,
}

impl Preview {
    /// Compares the current state with the data that would be loaded.
    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "the methods are of a crate that is not a dependency"
    )]
    pub fn of(current: Option<&CurrentState>, data: &RegistryData) -> Self {
        let Some(current) = current else {
            return Self { subnets_after: data.hierarchy.len() as u64, ..Self::default() };
        };
        // A load adds all virtual subnets, so the preview does, too.
        let generation = data.hierarchy.generation();
        let split = data.hierarchy.split(generation, &current.splits);
        let after = split.as_ref().map_or(&data.hierarchy, |(split, _)| split);
        let completed = after.with_unregistered(generation, &current.unregistered);
        let after = completed.as_ref().unwrap_or(after);
        let sources: Vec<Source> =
            data.files.iter().map(|file| SourceReport::from(file).to_stored()).collect();
        let plan = current.tied.plan(Some(&current.hierarchy), after);
        let held = current.tied.held.iter();
        let agents: HashMap<i64, i64> = held.map(|one| (one.id.get(), one.agent.get())).collect();
        let rules = current.tied.rules.iter();
        let constraint_agents = rules.map(|(_, rule)| (rule.id, rule.agent.get())).collect();
        let hierarchies = [&current.hierarchy, after];
        Self {
            generation: Some(current.facts.id.get()),
            subnets_before: current.hierarchy.len() as u64,
            subnets_after: after.len() as u64,
            refused: refusal(&current.facts.sources, &sources).map(|error| error.to_string()),
            delegations: Changes::of_claims(&plan.delegations, |id| id.get(), &agents, hierarchies),
            searches: Changes::of_searches(&plan.searches, |id| id.get(), hierarchies),
            constraints: Changes::of_claims(
                &plan.constraints,
                |id| id,
                &constraint_agents,
                hierarchies,
            ),
        }
    }
}
