//! Generations of the hierarchy: written once, swapped as a whole, read back in order.
//!
//! A [`Load`] is one transaction: it copies companies and subnets under a new number, retires the
//! live generation, makes the new one live and says so on [`CHANNEL`]. Until it commits, no other
//! transaction sees any of it. If it fails or its process dies, nothing is changed. Before it
//! copies it may look whether the new data have far fewer records ([`refusal`]). [`live`] says what
//! is in use, [`read`] turns a generation back into a [`hierarchy::Hierarchy`].

mod age;
mod copy;
mod load;
mod read;
mod shrink;

use hierarchy::Generation;
use serde::{Deserialize, Serialize};

use crate::moment::Moment;
use crate::{Store, StoreError};

pub use load::Load;
pub use read::read;
pub use shrink::refusal;

/// Channel of the NOTIFY that follows a swap; the payload is the number of the new generation.
pub const CHANNEL: &str = "nearcrawl_generations";

/// A file that a generation was made from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    /// Registry that published it: afrinic, apnic, arin, lacnic or ripencc; or [`Self::ROUTES`].
    pub registry: String,
    /// Its name, without the directory.
    pub file: String,
    /// The registry's own number for this edition.
    pub serial: String,
    /// Day up to which it speaks, `YYYY-MM-DD`, or on which the file was last modified where it
    /// names none; `None` for a stream.
    pub date: Option<String>,
    /// Records in it, of every kind.
    pub records: u64,
}

impl Source {
    /// The registry of tables of routes, which no registry published.
    pub const ROUTES: &str = "routing";

    /// Whole days since `date`; since it was loaded, where there is none. 0 for a day to come. Both
    /// moments in milliseconds since 1970.
    pub fn age_days(&self, loaded_at_ms: i64, now_ms: i64) -> u64 {
        age::days(self.date.as_deref(), loaded_at_ms, now_ms)
    }
}

/// What is known of a generation without reading its subnets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Facts {
    /// Primary key of the row.
    pub id: Generation,
    /// Subnets, the two roots included.
    pub subnets: u64,
    /// Number of companies of the generation.
    pub companies: u64,
    /// Milliseconds from the first byte read to the swap.
    pub build_ms: u64,
    /// When the loader began to make it.
    pub started_at: model::UnixMillis,
    /// When it was swapped in.
    pub live_at: model::UnixMillis,
    /// When its data was loaded from files: not when parts were cut out of subnets.
    pub read_at: model::UnixMillis,
    /// What it was made from.
    pub sources: Vec<Source>,
}

impl Facts {
    /// Whether it was made of the generation before it, with parts cut out of subnets, instead of
    /// files.
    pub fn is_split(&self) -> bool {
        self.read_at < self.started_at
    }
}

/// The generation that was in use before the one in use; `None` after the first load.
pub async fn retired(store: &Store) -> Result<Option<Generation>, StoreError> {
    let id: Option<i32> =
        sqlx::query_scalar("SELECT max(id) FROM generations WHERE state = 'retired'")
            .fetch_one(&store.pool())
            .await
            .map_err(StoreError::doing("find the generation that was in use before"))?;
    Ok(id.map(|id| Generation::new(id.into())))
}

/// Stores that the delegations that held at this time were remapped to the generation.
pub async fn set_remapped(
    store: &Store,
    generation: Generation,
    at: model::UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE generations SET remapped_at = $2 WHERE id = $1")
        .bind(generation.get())
        .bind(Moment(at))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("store that delegations were remapped"))?;
    Ok(())
}

/// Whether [`set_remapped`] was called for the generation.
pub async fn is_remapped(store: &Store, generation: Generation) -> Result<bool, StoreError> {
    sqlx::query_scalar(
        "SELECT EXISTS (SELECT FROM generations WHERE id = $1 AND remapped_at IS NOT NULL)",
    )
    .bind(generation.get())
    .fetch_one(&store.pool())
    .await
    .map_err(StoreError::doing("see whether delegations were remapped"))
}

type Row = (i32, i32, i32, i64, Moment, Moment, Moment, sqlx::types::Json<Vec<Source>>);

/// The generation in use; `None` before the first load.
pub async fn live(store: &Store) -> Result<Option<Facts>, StoreError> {
    let row: Option<Row> = sqlx::query_as(
        "SELECT id, subnets, companies, build_ms, started_at, coalesce(live_at, started_at),
                coalesce(read_at, live_at, started_at), sources
         FROM generations WHERE state = 'live'",
    )
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("find the generation in use"))?;
    Ok(row.map(|(id, subnets, companies, build_ms, started_at, live_at, read_at, sources)| Facts {
        id: Generation::new(id.into()),
        subnets: u64::try_from(subnets).unwrap_or(0),
        companies: u64::try_from(companies).unwrap_or(0),
        build_ms: u64::try_from(build_ms).unwrap_or(0),
        started_at: started_at.0,
        live_at: live_at.0,
        read_at: read_at.0,
        sources: sources.0,
    }))
}
