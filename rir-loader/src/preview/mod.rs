//! Preview of a load: what it would change for delegations, open searches and constraints.
//!
//! The plan comes from the functions that the coordinator applies when it takes over a generation
//! (see [`hierarchy::remap`]). Nothing is changed.

mod changes;
mod table;

use std::collections::HashMap;

use hierarchy::Hierarchy;
use serde::Serialize;
use store::delegations::RemapInput;
use store::generations::{self, Facts, Source, refusal};
use store::{Store, StoreError, unregistered_subnets};

use crate::read::RegistryData;
use crate::report::SourceReport;
use crate::virtual_subnets::VirtualSubnets;

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
    /// Virtual subnets that a load adds.
    pub virtual_subnets: VirtualSubnets,
}

impl CurrentState {
    /// Reads the state from the database; `None` before the first load.
    pub async fn read(store: &Store) -> Result<Option<Self>, StoreError> {
        let Some(facts) = generations::live(store).await? else { return Ok(None) };
        let Some(hierarchy) = generations::read(store, facts.id).await? else { return Ok(None) };
        let tied = RemapInput::read(store).await?;
        let virtual_subnets = VirtualSubnets::read(store).await?;
        let unregistered = unregistered_subnets::all(store).await?;
        let completed = hierarchy.with_unregistered(facts.id, &unregistered);
        let hierarchy = completed.unwrap_or(hierarchy);
        Ok(Some(Self { facts, hierarchy, tied, virtual_subnets }))
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
        let generation = data.hierarchy.generation();
        let (completed, _) = current.virtual_subnets.add_to(&data.hierarchy, generation);
        let after = completed.as_ref().unwrap_or(&data.hierarchy);
        let sources: Vec<Source> =
            data.files.iter().filter_map(|file| SourceReport::from(file).to_stored()).collect();
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
