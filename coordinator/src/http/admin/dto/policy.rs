//! The settings that admins may change while everything runs.

use model::{BalanceRule, Strategy};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::http::admin::dto::balance::BalancePass;
use crate::http::extract::Checked;
use crate::http::problem::FieldError;

/// The policy in force.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, ToSchema)]
pub struct Policy {
    /// How searches choose whom to ask.
    pub strategy: Strategy,
    /// The round trip that is good enough to stop probing, milliseconds; the predictive strategy
    /// does not need it once landmarks are measured.
    pub threshold_ms: u32,
    /// Seconds for which a search waits for sleeping candidates before it decides provisionally.
    pub patience_s: u32,
    /// Agents that a search may ask at the same time.
    pub parallel: u32,
    /// Round trips measured for one probe; the smallest counts.
    pub samples: u32,
    /// Most probes asked of one agent in a day (UTC).
    pub probes_per_agent: u32,
    /// Most probes sent into one subnet in a day (UTC).
    pub probes_per_target: u32,
    /// Most probes asked of all agents together in a day (UTC).
    pub probes_in_all: u64,
    /// Most landmarks; 0 for none, and then no search predicts.
    pub landmarks: u32,
    /// Days after which an agent measures a landmark again.
    pub landmark_days: u32,
    /// Least pause between two requests to one host, milliseconds; owners may ask for more.
    pub host_delay_ms: u32,
    /// Age in seconds at which an agent visits a page again; 0 for never, and then no page is
    /// noticed to be slower.
    pub revisit_s: u32,
    /// How long a page must take to count as slower, in per cent of its usual time.
    pub slowdown_percent: u32,
    /// How often in a row it must be slow.
    pub slowdown_repeats: u32,
    /// Least time in seconds from one delegation of a subnet to a new search because its pages
    /// became slower.
    pub rest_s: u32,
    /// Reports of slower pages are weighed together over so many seconds, and a former agent looks
    /// so often whether its way is as before.
    pub hearing_s: u32,
    /// Which subnet leaves an agent that has more to do than it can.
    pub balance_rule: BalanceRule,
    /// Whether subnets are moved towards the cheapest plan.
    pub balance_pass: BalancePass,
    /// Most subnets that passes move in 24 hours.
    pub balance_moves_a_day: u32,
    /// What a move of a pass must save at least, milliseconds a day, unless it relieves an agent.
    pub balance_least_gain_ms: u32,
}

/// Changes of the policy; what is left out stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, ToSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PolicyChange {
    /// How searches choose whom to ask.
    pub strategy: Option<Strategy>,
    /// The round trip that is good enough to stop probing, milliseconds.
    #[schema(minimum = 1, maximum = 10_000)]
    pub threshold_ms: Option<u32>,
    /// Seconds for which a search waits for sleeping candidates before it decides provisionally.
    #[schema(minimum = 1, maximum = 86_400)]
    pub patience_s: Option<u32>,
    /// Agents that a search may ask at the same time.
    #[schema(minimum = 1, maximum = 100)]
    pub parallel: Option<u32>,
    /// Round trips measured for one probe.
    #[schema(minimum = 1, maximum = 10)]
    pub samples: Option<u32>,
    /// Most probes asked of one agent in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub probes_per_agent: Option<u32>,
    /// Most probes sent into one subnet in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    pub probes_per_target: Option<u32>,
    /// Most probes asked of all agents together in a day (UTC).
    #[schema(minimum = 1, maximum = 1_000_000_000_000_i64)]
    pub probes_in_all: Option<u64>,
    /// Most landmarks; 0 for none.
    #[schema(minimum = 0, maximum = 10_000)]
    pub landmarks: Option<u32>,
    /// Days after which an agent measures a landmark again.
    #[schema(minimum = 1, maximum = 365)]
    pub landmark_days: Option<u32>,
    /// Least pause between two requests to one host, milliseconds.
    #[schema(minimum = 0, maximum = 600_000)]
    pub host_delay_ms: Option<u32>,
    /// Age in seconds at which an agent visits a page again; 0 for never.
    #[schema(minimum = 0, maximum = 31_536_000)]
    pub revisit_s: Option<u32>,
    /// How long a page must take to count as slower, in per cent of its usual time.
    #[schema(minimum = 110, maximum = 10_000)]
    pub slowdown_percent: Option<u32>,
    /// How often in a row it must be slow.
    #[schema(minimum = 1, maximum = 100)]
    pub slowdown_repeats: Option<u32>,
    /// Least time in seconds from one delegation of a subnet to a new search because its pages
    /// became slower.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub rest_s: Option<u32>,
    /// Reports of slower pages are weighed together over so many seconds.
    #[schema(minimum = 1, maximum = 31_536_000)]
    pub hearing_s: Option<u32>,
    /// Which subnet leaves an agent that has more to do than it can.
    pub balance_rule: Option<BalanceRule>,
    /// Whether subnets are moved towards the cheapest plan.
    pub balance_pass: Option<BalancePass>,
    /// Most subnets that passes move in 24 hours.
    #[schema(minimum = 0, maximum = 1_000_000)]
    pub balance_moves_a_day: Option<u32>,
    /// What a move of a pass must save at least, milliseconds a day.
    #[schema(minimum = 0, maximum = 1_000_000_000)]
    pub balance_least_gain_ms: Option<u32>,
}

/// Seconds of a year.
const YEAR_S: u64 = 31_536_000;

impl Checked for PolicyChange {
    fn broken_rules(&self) -> Vec<FieldError> {
        let wide = |value: Option<u32>| value.map(u64::from);
        let bounds = [
            ("threshold_ms", wide(self.threshold_ms), 1, 10_000, "milliseconds"),
            ("patience_s", wide(self.patience_s), 1, 86_400, "seconds"),
            ("parallel", wide(self.parallel), 1, 100, "agents"),
            ("samples", wide(self.samples), 1, 10, "round trips"),
            ("probes_per_agent", wide(self.probes_per_agent), 1, 1_000_000_000, "probes a day"),
            ("probes_per_target", wide(self.probes_per_target), 1, 1_000_000_000, "probes a day"),
            ("probes_in_all", self.probes_in_all, 1, 1_000_000_000_000, "probes a day"),
            ("landmarks", wide(self.landmarks), 0, 10_000, "landmarks"),
            ("landmark_days", wide(self.landmark_days), 1, 365, "days"),
            ("host_delay_ms", wide(self.host_delay_ms), 0, 600_000, "milliseconds"),
            ("revisit_s", wide(self.revisit_s), 0, YEAR_S, "seconds"),
            ("slowdown_percent", wide(self.slowdown_percent), 110, 10_000, "per cent"),
            ("slowdown_repeats", wide(self.slowdown_repeats), 1, 100, "times"),
            ("rest_s", wide(self.rest_s), 1, YEAR_S, "seconds"),
            ("hearing_s", wide(self.hearing_s), 1, YEAR_S, "seconds"),
            ("balance_moves_a_day", wide(self.balance_moves_a_day), 0, 1_000_000, "moves a day"),
            (
                "balance_least_gain_ms",
                wide(self.balance_least_gain_ms),
                0,
                1_000_000_000,
                "milliseconds a day",
            ),
        ];
        let broken = bounds.into_iter().filter(|(_, value, least, most, _)| {
            value.is_some_and(|value| !(*least..=*most).contains(&value))
        });
        broken
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
    fn each_bound_is_named_and_what_is_left_out_is_right() {
        assert!(PolicyChange::default().broken_rules().is_empty());
        let wrong = PolicyChange {
            threshold_ms: Some(0),
            samples: Some(11),
            probes_in_all: Some(0),
            landmarks: Some(0),
            ..PolicyChange::default()
        };
        let fields: Vec<String> =
            wrong.broken_rules().iter().map(|broken| broken.field.clone()).collect();
        assert_eq!(fields, ["threshold_ms", "samples", "probes_in_all"]);
    }
}
