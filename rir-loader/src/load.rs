//! A hierarchy into Postgres, as the generation in use.

use std::time::Instant;

use hierarchy::Hierarchy;
use store::generations::{Load, Source};
use store::{Store, StoreError, cuts};

use crate::read::Nested;
use crate::report::{LoadReport, SourceReport};
use crate::watch::{Step, Watch};

/// [`load_with`], where data that shrank are refused.
pub async fn load(
    store: &Store,
    nested: &Nested,
    begun: Instant,
    watch: Watch<'_>,
) -> Result<LoadReport, StoreError> {
    load_with(store, nested, false, begun, watch).await
}

/// Writes a hierarchy as a new generation and swaps it in. While another process loads one, this
/// waits. When anything goes wrong the old generation stays in use, and also when the data shrank
/// (see [`store::generations::shrunken`]) and nobody insists by `force`. `begun` is when the first
/// byte was read.
pub async fn load_with(
    store: &Store,
    nested: &Nested,
    force: bool,
    begun: Instant,
    watch: Watch<'_>,
) -> Result<LoadReport, StoreError> {
    let sources: Vec<SourceReport> = nested.files.iter().map(SourceReport::from).collect();
    let stored: Vec<Source> = sources.iter().map(SourceReport::to_stored).collect();
    let mut load = if let Some(load) = Load::try_begin(store).await? {
        load
    } else {
        watch(Step::WaitForOther);
        Load::wait(store).await?
    };
    if !force {
        load.refuse_shrunken(&stored).await?;
    }
    let cut = nested.hierarchy.split(load.generation(), &cuts::all(store).await?);
    let (hierarchy, parts) =
        cut.as_ref().map_or((&nested.hierarchy, 0), |(cut, parts)| (cut, *parts));
    copy(&mut load, hierarchy, watch).await?;
    let (generation, took) = load.swap(begun, &stored).await?;
    watch(Step::Done);
    Ok(LoadReport::new(generation, nested, parts as u64, took, sources))
}

/// Copies a hierarchy into the generation that is being written.
pub(crate) async fn copy(
    load: &mut Load,
    hierarchy: &Hierarchy,
    watch: Watch<'_>,
) -> Result<(), StoreError> {
    watch(Step::Copy { rows: (hierarchy.len() + hierarchy.companies().len()) as u64 });
    load.copy(hierarchy, &|rows| watch(Step::Copied(rows))).await
}
