//! The policy as the API shows and changes it.

use model::{BalanceRule, PolicyPreset, Strategy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::admin::dto::balance::BalancePass;
use crate::http::extract::Validate;
use crate::http::problem::FieldError;

/// The present policy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Policy {
    /// The preset whose settings these are; null for another combination.
    pub preset: Option<PolicyPreset>,
    /// How searches choose the next agent to ask.
    pub strategy: Strategy,
    /// The round trip that is good enough to stop probing, in milliseconds; the predictive strategy
    /// does not use it once something is known of the agents' places.
    pub threshold_ms: u32,
    /// Seconds for which a search waits for sleeping candidates before it decides provisionally.
    pub patience_s: u32,
    /// Agents that a search may ask at the same time.
    pub parallel_probes: u32,
    /// Round trips that an agent measures for one probe; the smallest counts.
    pub samples_per_probe: u32,
    /// Most probes asked of one agent in a day (UTC).
    pub probes_per_agent: u32,
    /// Most probes sent into one subnet in a day (UTC).
    pub probes_per_target: u32,
    /// Most probes asked of all agents together in a day (UTC).
    pub probes_total: u64,
    /// How many of a thousand decided searches a second agent checks, when the chosen agent is
    /// trusted. The first wins of an agent are always checked, except that 0 turns all checks off.
    pub control_permille: u32,
    /// Least pause between two requests to one host, in milliseconds; owners may require more.
    pub host_delay_ms: u32,
    /// Most pages of one host that its agent keeps and queues. Further links to the host are
    /// dropped.
    pub pages_per_host: u32,
    /// Most links from a seed, or another URL that the coordinator routed, to a page. Links beyond
    /// are dropped.
    pub link_depth: u32,
    /// Longest age in seconds at which an agent fetches a page again, and the age of the first
    /// revisit; with 0 it never does, and slower pages are not noticed.
    pub revisit_s: u32,
    /// Shortest age in seconds at which an agent fetches a page again that changes often; if it is
    /// not below `revisit_s`, agents fetch all pages again at the age `revisit_s`.
    pub revisit_least_s: u32,
    /// Time from which a page counts as slow, in per cent of its usual time.
    pub slowdown_percent: u32,
    /// How many times in a row a page must be slow.
    pub slowdown_repeats: u32,
    /// Least seconds from a delegation of a subnet to a new search because of slower pages.
    pub incident_cooldown_s: u32,
    /// Seconds over which timing reports count together. A former agent measures its path at the
    /// same interval.
    pub incident_window_s: u32,
    /// Which subnet leaves an agent that is over its capacity.
    pub balance_rule: BalanceRule,
    /// Whether periodic passes move subnets towards the cheapest plan.
    pub balance_pass: BalancePass,
    /// Most subnets that passes move in 24 hours.
    pub balance_moves_per_day: u32,
    /// Least gain of a move of a pass, in milliseconds per day, unless it relieves an agent.
    pub balance_least_gain_ms: u32,
    /// Most URLs that are queued of what one agent discovers in a day (UTC).
    pub discovered_urls_per_agent: u32,
    /// Most new hosts of what one agent discovers in a day (UTC).
    pub discovered_hosts_per_agent: u32,
    /// Most discovered URLs that are queued for one host in a day (UTC).
    pub discovered_urls_per_host: u32,
}

/// Changes of the policy; absent fields stay as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyChange {
    /// Settings of a preset, changed first; other fields of the request apply on top of them.
    pub preset: Option<PolicyPreset>,
    /// How searches choose the next agent to ask.
    pub strategy: Option<Strategy>,
    /// The round trip that is good enough to stop probing, in milliseconds.
    #[schema(minimum = 1, maximum = 10_000)]
    pub threshold_ms: Option<u32>,
    /// Seconds for which a search waits for sleeping candidates before it decides provisionally.
    #[schema(minimum = 1, maximum = 86_400)]
    pub patience_s: Option<u32>,
    /// Agents that a search may ask at the same time.
    #[schema(minimum = 1, maximum = 100)]
    pub parallel_probes: Option<u32>,
    /// Round trips that an agent measures for one probe.
    #[schema(minimum = 1, maximum = 10)]
    pub samples_per_probe: Option<u32>,
    /// Most probes asked of one agent in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub probes_per_agent: Option<u32>,
    /// Most probes sent into one subnet in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub probes_per_target: Option<u32>,
    /// Most probes asked of all agents together in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    pub probes_total: Option<u64>,
    /// How many of a thousand decided searches a second agent checks, when the chosen agent is
    /// trusted; 0 turns all checks off.
    #[schema(minimum = 0, maximum = 1_000)]
    pub control_permille: Option<u32>,
    /// Least pause between two requests to one host, in milliseconds.
    #[schema(minimum = 0, maximum = 600_000)]
    pub host_delay_ms: Option<u32>,
    /// Most pages of one host that its agent keeps and queues.
    #[schema(minimum = 1, maximum = 10_000_000)]
    pub pages_per_host: Option<u32>,
    /// Most links from a seed, or another URL that the coordinator routed, to a page.
    #[schema(minimum = 0, maximum = 255)]
    pub link_depth: Option<u32>,
    /// Longest age in seconds at which an agent fetches a page again; 0 means never.
    #[schema(minimum = 0, maximum = 31_536_000)]
    pub revisit_s: Option<u32>,
    /// Shortest age in seconds at which an agent fetches a page again that changes often.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub revisit_least_s: Option<u32>,
    /// Time from which a page counts as slow, in per cent of its usual time.
    #[schema(minimum = 110, maximum = 10_000)]
    pub slowdown_percent: Option<u32>,
    /// How many times in a row a page must be slow.
    #[schema(minimum = 1, maximum = 100)]
    pub slowdown_repeats: Option<u32>,
    /// Least seconds from a delegation of a subnet to a new search because of slower pages.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub incident_cooldown_s: Option<u32>,
    /// Seconds over which timing reports count together.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub incident_window_s: Option<u32>,
    /// Which subnet leaves an agent that is over its capacity.
    pub balance_rule: Option<BalanceRule>,
    /// Whether periodic passes move subnets towards the cheapest plan.
    pub balance_pass: Option<BalancePass>,
    /// Most subnets that passes move in 24 hours.
    #[schema(minimum = 0, maximum = 1_000_000)]
    pub balance_moves_per_day: Option<u32>,
    /// Least gain of a move of a pass, in milliseconds per day.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub balance_least_gain_ms: Option<u32>,
    /// Most URLs that are queued of what one agent discovers in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub discovered_urls_per_agent: Option<u32>,
    /// Most new hosts of what one agent discovers in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub discovered_hosts_per_agent: Option<u32>,
    /// Most discovered URLs that are queued for one host in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub discovered_urls_per_host: Option<u32>,
}

/// Length of a year in seconds.
const YEAR_S: u64 = 31_536_000;
/// More than any quota can be of use.
const BILLION: u64 = 1_000_000_000;

impl Validate for PolicyChange {
    fn errors(&self) -> Vec<FieldError> {
        let wide = |value: Option<u32>| value.map(u64::from);
        let bounds = [
            ("threshold_ms", wide(self.threshold_ms), 1, 10_000, "milliseconds"),
            ("patience_s", wide(self.patience_s), 1, 86_400, "seconds"),
            ("parallel_probes", wide(self.parallel_probes), 1, 100, "agents"),
            ("samples_per_probe", wide(self.samples_per_probe), 1, 10, "round trips"),
            ("probes_per_agent", wide(self.probes_per_agent), 1, 1_000_000_000, "probes per day"),
            ("probes_per_target", wide(self.probes_per_target), 1, 1_000_000_000, "probes per day"),
            ("probes_total", self.probes_total, 1, 1_000_000_000_000, "probes per day"),
            ("control_permille", wide(self.control_permille), 0, 1_000, "per mille"),
            ("host_delay_ms", wide(self.host_delay_ms), 0, 600_000, "milliseconds"),
            ("pages_per_host", wide(self.pages_per_host), 1, 10_000_000, "pages"),
            ("link_depth", wide(self.link_depth), 0, u8::MAX.into(), "links"),
            ("revisit_s", wide(self.revisit_s), 0, YEAR_S, "seconds"),
            ("revisit_least_s", wide(self.revisit_least_s), 1, YEAR_S, "seconds"),
            ("slowdown_percent", wide(self.slowdown_percent), 110, 10_000, "per cent"),
            ("slowdown_repeats", wide(self.slowdown_repeats), 1, 100, "times"),
            ("incident_cooldown_s", wide(self.incident_cooldown_s), 1, YEAR_S, "seconds"),
            ("incident_window_s", wide(self.incident_window_s), 1, YEAR_S, "seconds"),
            (
                "balance_moves_per_day",
                wide(self.balance_moves_per_day),
                0,
                1_000_000,
                "moves per day",
            ),
            (
                "balance_least_gain_ms",
                wide(self.balance_least_gain_ms),
                0,
                1_000_000_000,
                "milliseconds per day",
            ),
            ("discovered_urls_per_agent", wide(self.discovered_urls_per_agent), 1, BILLION, "URLs"),
            (
                "discovered_hosts_per_agent",
                wide(self.discovered_hosts_per_agent),
                1,
                BILLION,
                "hosts",
            ),
            ("discovered_urls_per_host", wide(self.discovered_urls_per_host), 1, BILLION, "URLs"),
        ];
        let errors = bounds.into_iter().filter(|(_, value, least, most, _)| {
            value.is_some_and(|value| !(*least..=*most).contains(&value))
        });
        errors
            .map(|(field, _, least, most, unit)| {
                FieldError::new(field, format!("give {least} to {most} {unit}"))
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_broken_bound_is_named_and_absent_fields_are_valid() {
        assert!(PolicyChange::default().errors().is_empty());
        let wrong = PolicyChange {
            threshold_ms: Some(0),
            samples_per_probe: Some(11),
            probes_total: Some(0),
            control_permille: Some(0),
            pages_per_host: Some(0),
            link_depth: Some(256),
            revisit_s: Some(0),
            revisit_least_s: Some(0),
            ..PolicyChange::default()
        };
        let fields: Vec<String> = wrong.errors().iter().map(|error| error.field.clone()).collect();
        assert_eq!(
            fields,
            [
                "threshold_ms",
                "samples_per_probe",
                "probes_total",
                "pages_per_host",
                "link_depth",
                "revisit_least_s"
            ]
        );
    }
}
