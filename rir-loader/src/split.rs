//! Adds virtual subnets to the current generation where searches found that the addresses of one
//! subnet are in different places.

use std::fmt;
use std::time::Instant;

use serde::Serialize;
use store::generations::{self, Load};
use store::{Store, StoreError};

use crate::load::copy;
use crate::progress::{Progress, Step};
use crate::virtual_subnets::VirtualSubnets;

/// Result of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct SplitReport {
    /// Number of the current generation.
    pub generation: i64,
    /// Parts of split subnets that were added.
    pub virtual_subnets: u64,
}

impl fmt::Display for SplitReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { generation, virtual_subnets } = self;
        match virtual_subnets {
            0 => writeln!(
                f,
                "Nothing to split: generation {generation} has all virtual subnets that were found \
                 and cross no registry's ranges."
            ),
            _ => writeln!(
                f,
                "Generation {generation} is in use: the previous one with {virtual_subnets} more \
                 virtual subnets."
            ),
        }
    }
}

/// Writes the current generation with the virtual subnets that searches found as a new one. Nothing
/// is written where there are none. `None` where nothing is loaded. Waits while another process
/// loads, and then splits what it loaded.
pub async fn split(
    store: &Store,
    begun: Instant,
    progress: Progress<'_>,
) -> Result<Option<SplitReport>, StoreError> {
    let mut load = Load::wait(store).await?;
    let Some(current) = generations::live(store).await? else { return Ok(None) };
    let Some(hierarchy) = generations::read(store, current.id).await? else { return Ok(None) };
    let virtual_subnets = VirtualSubnets::read(store).await?;
    let (Some(hierarchy), added @ 1..) = virtual_subnets.add_to(&hierarchy, load.generation())
    else {
        return Ok(Some(SplitReport { generation: current.id.get(), virtual_subnets: 0 }));
    };
    copy(&mut load, &hierarchy, progress).await?;
    let generation = load.swap_same_data(begun).await?;
    progress(Step::Done);
    Ok(Some(SplitReport { generation: generation.get(), virtual_subnets: added as u64 }))
}
