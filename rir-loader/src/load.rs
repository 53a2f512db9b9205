//! Writes a hierarchy to Postgres as the current generation.

use std::time::Instant;

use hierarchy::{Hierarchy, Registry};
use store::generations::{Load, Source};
use store::{Store, StoreError};

use crate::progress::{Progress, Step};
use crate::read::RegistryData;
use crate::report::{LoadReport, SourceReport};
use crate::virtual_subnets::VirtualSubnets;

/// Writes the data as a new generation and makes it the current one in one transaction. Waits while
/// another process loads one. After an error the previous generation stays current. Data with far
/// fewer records than the current generation is an error, too (see
/// [`store::generations::refusal`]), unless `force` is set. `begun` is when the first byte was
/// read.
pub async fn load(
    store: &Store,
    data: &RegistryData,
    force: bool,
    begun: Instant,
    progress: Progress<'_>,
) -> Result<LoadReport, StoreError> {
    let sources: Vec<SourceReport> = data.files.iter().map(SourceReport::from).collect();
    let stored: Vec<Source> = sources.iter().filter_map(SourceReport::to_stored).collect();
    let mut load = if let Some(load) = Load::try_begin(store).await? {
        load
    } else {
        progress(Step::WaitForOtherLoad);
        Load::wait(store).await?
    };
    if !force {
        load.refuse_shrunken(&stored).await?;
    }
    let virtual_subnets = VirtualSubnets::read(store).await?;
    let (completed, parts) = virtual_subnets.add_to(&data.hierarchy, load.generation());
    let hierarchy = completed.as_ref().unwrap_or(&data.hierarchy);
    copy(&mut load, hierarchy, progress).await?;
    let (generation, took) = load.swap(begun, &stored).await?;
    progress(Step::Done);
    Ok(LoadReport {
        generation: generation.get(),
        subnets: hierarchy.len() as u64,
        companies: hierarchy.companies().len() as u64,
        build_seconds: took.as_secs_f64(),
        equal: data.build.equal,
        crossing: data.build.crossing,
        virtual_subnets: parts as u64,
        rejected: data.rejected(),
        settled: data.settled.clone(),
        missing: data.missing().into_iter().map(Registry::as_str).collect(),
        sources,
    })
}

/// Copies a hierarchy into the generation that is being written.
pub(crate) async fn copy(
    load: &mut Load,
    hierarchy: &Hierarchy,
    progress: Progress<'_>,
) -> Result<(), StoreError> {
    progress(Step::Copy { rows: (hierarchy.len() + hierarchy.companies().len()) as u64 });
    load.copy(hierarchy, &|rows| progress(Step::Copied(rows))).await
}
