//! The row with the operator's settings.

use model::policy::{BalancePolicy, CalibrationPolicy, DiscoveryQuotas, ProbesADay};
use model::{CrawlPolicy, Policy, Slowdown};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::columns::{ReadColumn as _, read_word};
use crate::policy::Settings;

impl FromRow<'_, PgRow> for Settings {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self { policy: policy(row)?, balance: balance(row)?, quotas: quotas(row)? })
    }
}

fn policy(row: &PgRow) -> sqlx::Result<Policy> {
    let samples: i16 = row.try_get("samples_per_probe")?;
    let depth: i16 = row.try_get("link_depth")?;
    Ok(Policy {
        strategy: read_word("policy", "strategy", true, row.try_get("strategy")?)?,
        threshold_us: row.read("threshold_us")?,
        patience_ms: row.read("patience_ms")?,
        parallel: row.read("parallel_probes")?,
        samples: u8::try_from(samples).unwrap_or(1),
        probes: ProbesADay {
            per_agent: row.read("probes_per_agent")?,
            per_target: row.read("probes_per_target")?,
            in_all: row.read("probes_total")?,
        },
        control_permille: row.read::<u16>("control_permille")?.into(),
        crawl: CrawlPolicy {
            host_delay_ms: row.read("host_delay_ms")?,
            pages_a_host: row.read("pages_per_host")?,
            depth: u8::try_from(depth).unwrap_or(u8::MAX),
            ..CrawlPolicy::default()
        },
        calibration: CalibrationPolicy {
            revisit_s: row.read("revisit_s")?,
            revisit_least_s: row.read("revisit_least_s")?,
            slowdown: Slowdown {
                percent: row.read("slowdown_percent")?,
                repeats: row.read::<u16>("slowdown_repeats")?.into(),
            },
            rest_s: row.read("incident_cooldown_s")?,
            window_s: row.read("incident_window_s")?,
        },
    })
}

fn balance(row: &PgRow) -> sqlx::Result<BalancePolicy> {
    Ok(BalancePolicy {
        rule: read_word("policy", "balance_rule", true, row.try_get("balance_rule")?)?,
        passes: row.try_get::<&str, _>("balance_pass")? == "optimal",
        moves_a_day: row.read("balance_moves_per_day")?,
        least_gain_ms: row.read("balance_least_gain_ms")?,
    })
}

fn quotas(row: &PgRow) -> sqlx::Result<DiscoveryQuotas> {
    Ok(DiscoveryQuotas {
        urls_per_agent: row.read("discovered_urls_per_agent")?,
        hosts_per_agent: row.read("discovered_hosts_per_agent")?,
        urls_per_host: row.read("discovered_urls_per_host")?,
    })
}
