//! The operator's settings that apply at once.

mod row;

use model::policy::{BalancePolicy, DiscoveryQuotas};
use model::{Policy, UnixMillis};
use sqlx::{PgConnection, Postgres, Transaction};

use crate::columns::{bigint, int};
use crate::moment::Moment;
use crate::{Store, StoreError, audit};

/// All settings that admins change while the coordinator runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Settings {
    /// Searches, probes, calibration and politeness.
    pub policy: Policy,
    /// What the operator wants of balance.
    pub balance: BalancePolicy,
    /// The quotas on what agents discover.
    pub quotas: DiscoveryQuotas,
}

/// Reads all settings.
pub async fn settings(store: &Store) -> Result<Settings, StoreError> {
    let doing = StoreError::doing("read the policy");
    let mut connection = store.pool().acquire().await.map_err(doing)?;
    settings_in(&mut connection).await
}

async fn settings_in(db: &mut PgConnection) -> Result<Settings, StoreError> {
    sqlx::query_as(include_str!("read.sql"))
        .fetch_one(db)
        .await
        .map_err(StoreError::doing("read the policy"))
}

/// Settings, locked against other changes until they are replaced or dropped. Otherwise two admins
/// who change different settings at the same time would undo each other's changes.
#[derive(Debug)]
pub struct LockedSettings {
    tx: Transaction<'static, Postgres>,
    settings: Settings,
}

/// Reads and locks all settings.
pub async fn lock(store: &Store) -> Result<LockedSettings, StoreError> {
    let doing = StoreError::doing("change the policy");
    let mut tx = store.begin().await.map_err(doing)?;
    sqlx::query("SELECT FROM policy FOR UPDATE").execute(&mut *tx).await.map_err(doing)?;
    let settings = settings_in(&mut tx).await?;
    Ok(LockedSettings { tx, settings })
}

impl LockedSettings {
    /// The settings before the change.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Writes an entry about the change, which is stored with it.
    pub async fn write_audit(
        &mut self,
        entry: &audit::Entry<'_>,
        now: UnixMillis,
    ) -> Result<(), StoreError> {
        audit::write_in(&mut self.tx, entry, now).await
    }

    /// Replaces all settings. Values beyond the bounds of [`Policy`] and [`BalancePolicy`] are an
    /// error of the database.
    pub async fn replace(mut self, new: &Settings, now: UnixMillis) -> Result<(), StoreError> {
        let doing = StoreError::doing("change the policy");
        let Settings { policy, balance, quotas } = new;
        let slow = &policy.calibration;
        sqlx::query(include_str!("write.sql"))
            .bind(policy.strategy.as_str())
            .bind(int(policy.threshold_us))
            .bind(int(policy.patience_ms))
            .bind(int(policy.parallel))
            .bind(i16::from(policy.samples))
            .bind(int(policy.probes.per_agent))
            .bind(int(policy.probes.per_target))
            .bind(bigint(policy.probes.in_all))
            .bind(i16::try_from(policy.control_permille).unwrap_or(i16::MAX))
            .bind(int(policy.crawl.host_delay_ms))
            .bind(int(policy.crawl.pages_a_host))
            .bind(i16::from(policy.crawl.depth))
            .bind(int(slow.revisit_s))
            .bind(int(slow.revisit_least_s))
            .bind(int(slow.slowdown.percent))
            .bind(i16::try_from(slow.slowdown.repeats).unwrap_or(i16::MAX))
            .bind(int(slow.rest_s))
            .bind(int(slow.window_s))
            .bind(balance.rule.as_str())
            .bind(balance.passes)
            .bind(int(balance.moves_a_day))
            .bind(int(balance.least_gain_ms))
            .bind(int(quotas.urls_per_agent))
            .bind(int(quotas.hosts_per_agent))
            .bind(int(quotas.urls_per_host))
            .bind(Moment(now))
            .execute(&mut *self.tx)
            .await
            .map_err(doing)?;
        self.tx.commit().await.map_err(doing)
    }
}
