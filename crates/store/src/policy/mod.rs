//! The operator's settings that apply at once.

mod balance;
mod calibration;
mod discovery;

use model::policy::{CalibrationPolicy, ProbesADay};
use model::{CrawlPolicy, Policy, UnixMillis};
use sqlx::FromRow;

use crate::columns::read_word;
use crate::moment::Moment;
use crate::{Store, StoreError};

pub use balance::{balance, set_balance};
pub use discovery::{discovery, set_discovery};

#[derive(FromRow)]
struct Row {
    strategy: String,
    threshold_us: i32,
    patience_ms: i32,
    parallel: i32,
    samples: i16,
    probes_per_agent: i32,
    probes_per_target: i32,
    probes_in_all: i64,
    control_permille: i16,
    host_delay_ms: i32,
    pages_a_host: i32,
    depth: i16,
}

/// Reads the policy.
pub async fn read(store: &Store) -> Result<Policy, StoreError> {
    let row: Row = sqlx::query_as("SELECT * FROM policy")
        .fetch_one(store.pool())
        .await
        .map_err(StoreError::doing("read the policy"))?;
    let mut db = store.pool().acquire().await.map_err(StoreError::doing("read the policy"))?;
    row.read(calibration::read(&mut db).await?)
}

impl Row {
    fn read(self, calibration: CalibrationPolicy) -> Result<Policy, StoreError> {
        Ok(Policy {
            strategy: read_word("policy", "strategy", true, &self.strategy)?,
            threshold_us: self.threshold_us.unsigned_abs(),
            patience_ms: self.patience_ms.unsigned_abs(),
            parallel: self.parallel.unsigned_abs(),
            samples: u8::try_from(self.samples).unwrap_or(1),
            probes: ProbesADay {
                per_agent: self.probes_per_agent.unsigned_abs(),
                per_target: self.probes_per_target.unsigned_abs(),
                in_all: self.probes_in_all.unsigned_abs(),
            },
            control_permille: self.control_permille.unsigned_abs().into(),
            crawl: CrawlPolicy {
                host_delay_ms: self.host_delay_ms.unsigned_abs(),
                pages_a_host: self.pages_a_host.unsigned_abs(),
                depth: u8::try_from(self.depth).unwrap_or(u8::MAX),
                ..CrawlPolicy::default()
            },
            calibration,
        })
    }
}

/// Replaces the policy. Values beyond the bounds of [`Policy`] are an error of the database.
pub async fn write(store: &Store, policy: &Policy, now: UnixMillis) -> Result<(), StoreError> {
    let doing = StoreError::doing("change the policy");
    let mut tx = store.pool().begin().await.map_err(doing)?;
    sqlx::query(include_str!("write.sql"))
        .bind(column(policy.threshold_us))
        .bind(column(policy.patience_ms))
        .bind(column(policy.crawl.host_delay_ms))
        .bind(column(policy.crawl.pages_a_host))
        .bind(i16::from(policy.crawl.depth))
        .bind(policy.strategy.as_str())
        .bind(column(policy.parallel))
        .bind(i16::from(policy.samples))
        .bind(column(policy.probes.per_agent))
        .bind(column(policy.probes.per_target))
        .bind(i64::try_from(policy.probes.in_all).unwrap_or(i64::MAX))
        .bind(Moment(now))
        .bind(i16::try_from(policy.control_permille).unwrap_or(i16::MAX))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    calibration::write(&mut tx, &policy.calibration).await?;
    tx.commit().await.map_err(doing)
}

fn column(value: u32) -> i32 {
    i32::try_from(value).unwrap_or(i32::MAX)
}
