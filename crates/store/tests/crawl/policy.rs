//! The policy of a new database, and changes of it.

use model::policy::{BalancePolicy, DiscoveryQuotas};
use model::{Strategy, UnixMillis};
use store::policy::{self, Settings};
use store::testing::{TestDatabase, execute};

#[tokio::test]
async fn a_new_database_has_the_default_policy() {
    let database = TestDatabase::new().await.unwrap();
    assert_eq!(policy::settings(database.store()).await.unwrap(), Settings::default());
}

#[tokio::test]
async fn every_setting_is_replaced() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let mut new = Settings::default();
    let of = &mut new.policy;
    of.strategy = Strategy::Threshold;
    for (number, setting) in (1_000..).zip([
        &mut of.threshold_us,
        &mut of.patience_ms,
        &mut of.probes.per_agent,
        &mut of.probes.per_target,
        &mut of.crawl.host_delay_ms,
        &mut of.crawl.pages_a_host,
        &mut of.calibration.revisit_s,
        &mut of.calibration.revisit_least_s,
        &mut of.calibration.slowdown.percent,
        &mut of.calibration.rest_s,
        &mut of.calibration.window_s,
    ]) {
        *setting = number;
    }
    of.parallel = 11;
    of.samples = 7;
    of.probes.in_all = 5_000_000_000;
    of.control_permille = 12;
    of.crawl.depth = 200;
    of.calibration.slowdown.repeats = 13;
    new.balance = BalancePolicy {
        rule: model::BalanceRule::Variance,
        passes: false,
        moves_a_day: 14,
        least_gain_ms: 15,
    };
    new.quotas = DiscoveryQuotas { urls_per_agent: 16, hosts_per_agent: 17, urls_per_host: 18 };
    policy::lock(store).await.unwrap().replace(&new, UnixMillis(0)).await.unwrap();
    assert_eq!(policy::settings(store).await.unwrap(), new);
}

#[tokio::test]
async fn nobody_else_changes_settings_that_are_locked() {
    let database = TestDatabase::new().await.unwrap();
    let store = database.store();
    let locked = policy::lock(store).await.unwrap();
    let take = "SELECT 1 FROM policy FOR UPDATE NOWAIT";
    assert!(execute(store, take).await.is_err());
    let new = *locked.settings();
    locked.replace(&new, UnixMillis(0)).await.unwrap();
    assert!(execute(store, take).await.is_ok());
}
