//! The generation in use, with the parts of subnets that turned out to be in different places.

use std::fmt;
use std::time::Instant;

use serde::Serialize;
use store::generations::{self, Load};
use store::{Store, StoreError, cuts};

use crate::load::copy;
use crate::watch::{Step, Watch};

/// What was cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CutReport {
    /// The generation in use now.
    pub generation: i64,
    /// Parts that it has and the one before had not.
    pub parts: u64,
}

impl fmt::Display for CutReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { generation, parts } = self;
        match parts {
            0 => writeln!(
                f,
                "Nothing to cut: generation {generation} has all parts that were found and cross no registry's ranges."
            ),
            _ => writeln!(
                f,
                "Generation {generation} is in use: that before, with {parts} more parts of subnets."
            ),
        }
    }
}

/// Makes a generation out of the one in use and the parts that searches found, and swaps it in;
/// nothing is done where there are none. `None` where nothing is loaded. While another process
/// loads, this waits and takes what it loaded.
pub async fn cut(
    store: &Store,
    begun: Instant,
    watch: Watch<'_>,
) -> Result<Option<CutReport>, StoreError> {
    let mut load = Load::wait(store).await?;
    let Some(live) = generations::live(store).await? else { return Ok(None) };
    let Some(hierarchy) = generations::read(store, live.id).await? else { return Ok(None) };
    let Some((hierarchy, parts)) = hierarchy.split(load.generation(), &cuts::all(store).await?)
    else {
        return Ok(Some(CutReport { generation: live.id.get(), parts: 0 }));
    };
    copy(&mut load, &hierarchy, watch).await?;
    let generation = load.swap_same_data(begun).await?;
    watch(Step::Done);
    Ok(Some(CutReport { generation: generation.get(), parts: parts as u64 }))
}
