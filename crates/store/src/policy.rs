//! The operator's settings that apply at once.

mod calibration;

use protocol::{CrawlPolicy, UnixMillis};

use crate::moment::Moment;
use crate::{Store, StoreError};

pub use calibration::Calibration;

/// The policy as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Probing threshold, in microseconds (IPMicra III.D); 1 to 60,000,000.
    pub threshold_us: u32,
    /// How long a URL waits for the search before it goes to the best agent so far, in milliseconds; 1,000 to
    /// 86,400,000.
    pub patience_ms: u32,
    /// What agents are told; how often they visit pages again and when a page is slower is the calibration's to say.
    pub crawl: CrawlPolicy,
    /// What is done about slow pages.
    pub calibration: Calibration,
}

impl Policy {
    /// What agents are told, all of it.
    pub fn told(&self) -> CrawlPolicy {
        let Calibration { revisit_s, slowdown, .. } = self.calibration;
        CrawlPolicy { revisit_s, slowdown: Some(slowdown), ..self.crawl }
    }
}

/// Reads the policy.
pub async fn read(store: &Store) -> Result<Policy, StoreError> {
    let (threshold_us, patience_ms, host_delay_ms, pages_a_host, depth): (i32, i32, i32, i32, i16) =
        sqlx::query_as("SELECT threshold_us, patience_ms, host_delay_ms, pages_a_host, depth FROM policy")
            .fetch_one(store.pool())
            .await
            .map_err(StoreError::doing("read the policy"))?;
    let mut db = store.pool().acquire().await.map_err(StoreError::doing("read the policy"))?;
    let calibration = calibration::read(&mut db).await?;
    Ok(Policy {
        threshold_us: threshold_us.unsigned_abs(),
        patience_ms: patience_ms.unsigned_abs(),
        crawl: CrawlPolicy {
            host_delay_ms: host_delay_ms.unsigned_abs(),
            pages_a_host: pages_a_host.unsigned_abs(),
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
            ..CrawlPolicy::default()
        },
        calibration,
    })
}

/// Replaces the policy. Values beyond the bounds of [`Policy`] are an error of the database.
pub async fn write(store: &Store, policy: &Policy, now: UnixMillis) -> Result<(), StoreError> {
    let doing = StoreError::doing("change the policy");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    sqlx::query(
        "UPDATE policy SET threshold_us = $1, patience_ms = $2, host_delay_ms = $3, pages_a_host = $4, depth = $5,
                           changed_at = $6",
    )
    .bind(column(policy.threshold_us))
    .bind(column(policy.patience_ms))
    .bind(column(policy.crawl.host_delay_ms))
    .bind(column(policy.crawl.pages_a_host))
    .bind(i16::from(policy.crawl.depth))
    .bind(Moment(now))
    .execute(&mut *tx)
    .await
    .map_err(doing)?;
    calibration::write(&mut tx, &policy.calibration).await?;
    tx.commit().await.map_err(doing)
}

fn column(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
