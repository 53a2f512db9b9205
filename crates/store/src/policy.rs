//! The operator's settings that apply at once.

mod balance;
mod calibration;

use protocol::{CrawlPolicy, UnixMillis};
use sqlx::FromRow;

use crate::moment::Moment;
use crate::{Store, StoreError};

pub use balance::{Balance, balance, set_balance};
pub use calibration::Calibration;

/// The policy as it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// How searches choose whom to ask.
    pub strategy: Strategy,
    /// Probing threshold, in microseconds (IPMicra III.D); 1 to 60,000,000.
    pub threshold_us: u32,
    /// How long a URL waits for the search before it goes to the best agent so far, in
    /// milliseconds; 1,000 to 86,400,000.
    pub patience_ms: u32,
    /// How many agents a search may ask at the same time; 1 to 100.
    pub parallel: u32,
    /// Round trips measured for one probe; 1 to 10.
    pub samples: u8,
    /// How many probes a day.
    pub probes: ProbesADay,
    /// Most landmarks; 0 to 10,000.
    pub landmarks: u32,
    /// Days after which an agent measures a landmark again; 1 to 365.
    pub landmark_days: u32,
    /// What agents are told; how often they visit pages again and when a page is slower is the
    /// calibration's to say.
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

/// Bounds on probes in a day (UTC), at least 1 each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProbesADay {
    /// Asked of one agent.
    pub per_agent: u32,
    /// Sent into one subnet.
    pub per_target: u32,
    /// Asked of all agents together.
    pub in_all: u64,
}

/// How searches choose whom to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Strategy {
    /// The paper's: climb the hierarchy until an agent is under the threshold (IPMicra III.E).
    Threshold,
    /// Ask the likeliest to be nearest, stop when nobody else is likely to be nearer.
    Predictive,
}

impl Strategy {
    /// The word in tables, JSON and pages.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Threshold => "threshold",
            Self::Predictive => "predictive",
        }
    }

    /// The strategy of this word.
    pub fn from_word(word: &str) -> Option<Self> {
        [Self::Threshold, Self::Predictive].into_iter().find(|strategy| strategy.as_str() == word)
    }
}

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
    landmarks: i32,
    landmark_days: i32,
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
    fn read(self, calibration: Calibration) -> Result<Policy, StoreError> {
        let strategy = Strategy::from_word(&self.strategy);
        Ok(Policy {
            strategy: strategy.ok_or_else(|| StoreError::unreadable("policy.strategy"))?,
            threshold_us: self.threshold_us.unsigned_abs(),
            patience_ms: self.patience_ms.unsigned_abs(),
            parallel: self.parallel.unsigned_abs(),
            samples: u8::try_from(self.samples).unwrap_or(1),
            probes: ProbesADay {
                per_agent: self.probes_per_agent.unsigned_abs(),
                per_target: self.probes_per_target.unsigned_abs(),
                in_all: self.probes_in_all.unsigned_abs(),
            },
            landmarks: self.landmarks.unsigned_abs(),
            landmark_days: self.landmark_days.unsigned_abs(),
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
    sqlx::query(
        "UPDATE policy SET threshold_us = $1, patience_ms = $2, host_delay_ms = $3, pages_a_host = $4, depth = $5,
                           strategy = $6, parallel = $7, samples = $8, probes_per_agent = $9, probes_per_target = $10,
                           probes_in_all = $11, landmarks = $12, landmark_days = $13, changed_at = $14",
    )
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
    .bind(column(policy.landmarks))
    .bind(column(policy.landmark_days))
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
