//! Landmarks: subnets that every agent measures from time to time.

mod due;
mod times;

use std::net::IpAddr;

use hierarchy::Range;
use model::{LandmarkId, UnixMillis};

pub use due::{DueMeasurement, OrderAllowance, due, order};
pub use times::{
    LandmarkReport, Outcome, ReportCounts, Stamp, count_reports, oldest, stamp, times,
};

use crate::columns::range;
use crate::moment::Moment;
use crate::probes::Target;
use crate::{Store, StoreError};

/// A subnet with an address in it that can be probed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LandmarkSite {
    /// The subnet that it is about.
    pub subnet: Range,
    /// What to probe.
    pub target: Target,
}

type SiteRow = (IpAddr, IpAddr, IpAddr, String, i32);

fn spot((first, last, address, host, port): SiteRow) -> Result<LandmarkSite, StoreError> {
    let port = u16::try_from(port).unwrap_or(80);
    Ok(LandmarkSite { subnet: range(first, last)?, target: Target { address, host, port } })
}

/// Subnets whose address answered in one of the newest `limit` decided searches. Left out are
/// subnets in several places and those whose landmark was retired after `retired_since`.
pub async fn answering(
    store: &Store,
    retired_since: UnixMillis,
    limit: u32,
) -> Result<Vec<LandmarkSite>, StoreError> {
    let rows: Vec<SiteRow> = sqlx::query_as(include_str!("answering.sql"))
        .bind(Moment(retired_since))
        .bind(i64::from(limit))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("list the subnets that answered"))?;
    rows.into_iter().map(spot).collect()
}

/// Makes subnets landmarks, unless they are. Returns how many are new.
pub async fn choose(
    store: &Store,
    spots: &[LandmarkSite],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let chosen = sqlx::query(include_str!("choose.sql"))
        .bind(spots.iter().map(|spot| spot.subnet.first()).collect::<Vec<_>>())
        .bind(spots.iter().map(|spot| spot.subnet.last()).collect::<Vec<_>>())
        .bind(spots.iter().map(|spot| spot.target.address).collect::<Vec<_>>())
        .bind(spots.iter().map(|spot| spot.target.host.as_str()).collect::<Vec<_>>())
        .bind(spots.iter().map(|spot| i32::from(spot.target.port)).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("choose landmarks"))?;
    Ok(chosen.rows_affected())
}

/// Retires landmarks for the reasons beside them and ends their unanswered orders. Returns their
/// number.
pub async fn retire(
    store: &Store,
    landmarks: &[(LandmarkId, &str)],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let retired: i64 = sqlx::query_scalar(include_str!("retire.sql"))
        .bind(landmarks.iter().map(|(id, _)| id.get()).collect::<Vec<_>>())
        .bind(landmarks.iter().map(|(_, reason)| *reason).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_one(store.pool())
        .await
        .map_err(StoreError::doing("retire landmarks"))?;
    Ok(retired.unsigned_abs())
}

/// Deletes ended orders for landmarks made before `before`; their measurements are in
/// `landmark_times`. Returns their number.
pub async fn forget(store: &Store, before: UnixMillis) -> Result<u64, StoreError> {
    let forgotten = sqlx::query(
        "DELETE FROM probes
         WHERE purpose IN ('landmark', 'home') AND state <> 'asked' AND asked_at < $1",
    )
    .bind(Moment(before))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("forget old measurements of landmarks"))?;
    Ok(forgotten.rows_affected())
}

/// A landmark in use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Landmark {
    /// Primary key of the row.
    pub id: LandmarkId,
    /// Its subnet, and what is probed.
    pub spot: LandmarkSite,
    /// When it was chosen.
    pub chosen_at: UnixMillis,
    /// Agents that may work and last measured a time from where they live.
    pub measured: u32,
    /// Such agents that last got no answer.
    pub unanswered: u32,
    /// The latest report; none before the first.
    pub measured_at: Option<UnixMillis>,
}

type Row = (i64, IpAddr, IpAddr, IpAddr, String, i32, Moment, i64, i64, Option<Moment>);

/// The landmarks in use, with a number above `after`, in order.
pub async fn live(
    store: &Store,
    after: LandmarkId,
    limit: i64,
) -> Result<Vec<Landmark>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("live.sql"))
        .bind(after.get())
        .bind(limit)
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("list the landmarks"))?;
    rows.into_iter().map(landmark).collect()
}

fn landmark(row: Row) -> Result<Landmark, StoreError> {
    let (id, first, last, address, host, port, chosen_at, measured, unanswered, measured_at) = row;
    Ok(Landmark {
        id: LandmarkId::new(id),
        spot: spot((first, last, address, host, port))?,
        chosen_at: chosen_at.0,
        measured: u32::try_from(measured).unwrap_or(u32::MAX),
        unanswered: u32::try_from(unanswered).unwrap_or(u32::MAX),
        measured_at: measured_at.map(|at| at.0),
    })
}

/// How many landmarks are in use.
pub async fn count(store: &Store) -> Result<u64, StoreError> {
    let live: i64 = sqlx::query_scalar("SELECT count(*) FROM landmarks WHERE state = 'live'")
        .fetch_one(store.pool())
        .await
        .map_err(StoreError::doing("count the landmarks"))?;
    Ok(live.unsigned_abs())
}
