//! The row with the operator's settings.

use model::policy::{BalancePolicy, CalibrationPolicy, DiscoveryQuotas, ProbesADay};
use model::{CrawlPolicy, Policy, Slowdown};
use sqlx::FromRow;

use crate::StoreError;
use crate::columns::read_word;
use crate::policy::Settings;

#[derive(FromRow)]
pub(super) struct Row {
    strategy: String,
    threshold_us: i32,
    patience_ms: i32,
    parallel_probes: i32,
    samples_per_probe: i16,
    probes_per_agent: i32,
    probes_per_target: i32,
    probes_total: i64,
    control_permille: i16,
    host_delay_ms: i32,
    pages_per_host: i32,
    link_depth: i16,
    revisit_s: i32,
    revisit_least_s: i32,
    slowdown_percent: i32,
    slowdown_repeats: i16,
    incident_cooldown_s: i32,
    incident_window_s: i32,
    balance_rule: String,
    balance_pass: String,
    balance_moves_per_day: i32,
    balance_least_gain_ms: i32,
    discovered_urls_per_agent: i32,
    discovered_hosts_per_agent: i32,
    discovered_urls_per_host: i32,
}

impl Row {
    pub(super) fn read(&self) -> Result<Settings, StoreError> {
        Ok(Settings { policy: self.policy()?, balance: self.balance()?, quotas: self.quotas() })
    }

    fn policy(&self) -> Result<Policy, StoreError> {
        Ok(Policy {
            strategy: read_word("policy", "strategy", true, &self.strategy)?,
            threshold_us: self.threshold_us.unsigned_abs(),
            patience_ms: self.patience_ms.unsigned_abs(),
            parallel: self.parallel_probes.unsigned_abs(),
            samples: u8::try_from(self.samples_per_probe).unwrap_or(1),
            probes: ProbesADay {
                per_agent: self.probes_per_agent.unsigned_abs(),
                per_target: self.probes_per_target.unsigned_abs(),
                in_all: self.probes_total.unsigned_abs(),
            },
            control_permille: self.control_permille.unsigned_abs().into(),
            crawl: CrawlPolicy {
                host_delay_ms: self.host_delay_ms.unsigned_abs(),
                pages_a_host: self.pages_per_host.unsigned_abs(),
                depth: u8::try_from(self.link_depth).unwrap_or(u8::MAX),
                ..CrawlPolicy::default()
            },
            calibration: CalibrationPolicy {
                revisit_s: self.revisit_s.unsigned_abs(),
                revisit_least_s: self.revisit_least_s.unsigned_abs(),
                slowdown: Slowdown {
                    percent: self.slowdown_percent.unsigned_abs(),
                    repeats: self.slowdown_repeats.unsigned_abs().into(),
                },
                rest_s: self.incident_cooldown_s.unsigned_abs(),
                window_s: self.incident_window_s.unsigned_abs(),
            },
        })
    }

    fn balance(&self) -> Result<BalancePolicy, StoreError> {
        Ok(BalancePolicy {
            rule: read_word("policy", "balance_rule", true, &self.balance_rule)?,
            passes: self.balance_pass == "optimal",
            moves_a_day: self.balance_moves_per_day.unsigned_abs(),
            least_gain_ms: self.balance_least_gain_ms.unsigned_abs(),
        })
    }

    fn quotas(&self) -> DiscoveryQuotas {
        DiscoveryQuotas {
            urls_per_agent: self.discovered_urls_per_agent.unsigned_abs(),
            hosts_per_agent: self.discovered_hosts_per_agent.unsigned_abs(),
            urls_per_host: self.discovered_urls_per_host.unsigned_abs(),
        }
    }
}
