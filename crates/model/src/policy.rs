//! The settings of the operator. A change applies at once, without a restart.

use serde::{Deserialize, Serialize};

use crate::{BalanceRule, Strategy};

/// Seconds of a day.
const DAY_S: u32 = 24 * 3_600;

/// All settings that an admin may change while the coordinator runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Strategy of searches that are opened from now on.
    pub strategy: Strategy,
    /// Probing threshold, in microseconds: a round trip below this is good enough to stop asking
    /// (IPMicra III.D: 50 ms gave a good ratio of quality to probes); 1 to 60,000,000.
    pub threshold_us: u32,
    /// How long a URL waits for its search before it goes to the best agent so far, in
    /// milliseconds; 1,000 to 86,400,000.
    pub patience_ms: u32,
    /// How many agents a search may ask at the same time; 1 to 100. The paper asks "sequentially".
    pub parallel: u32,
    /// Round trips measured for one probe; 1 to 10.
    pub samples: u8,
    /// Bounds on the number of probes.
    pub probes: ProbesADay,
    /// How many of a thousand decided searches a second agent checks, when the chosen agent is
    /// trusted; 0 to 1,000. With 0 no search is checked.
    pub control_permille: u32,
    /// What agents receive, except what [`Policy::calibration`] holds: see
    /// [`Policy::for_agents`].
    pub crawl: CrawlPolicy,
    /// When slower pages reopen the search of a subnet.
    pub calibration: CalibrationPolicy,
}

impl Policy {
    /// The settings that agents receive, completed from [`Policy::calibration`].
    pub fn for_agents(&self) -> CrawlPolicy {
        let CalibrationPolicy { revisit_s, revisit_least_s, slowdown, .. } = self.calibration;
        CrawlPolicy { revisit_s, revisit_least_s, slowdown: Some(slowdown), ..self.crawl }
    }
}

/// The settings of a new installation; its database begins with the same.
impl Default for Policy {
    fn default() -> Self {
        Self {
            strategy: Strategy::Predictive,
            threshold_us: 50_000,
            patience_ms: 60_000,
            parallel: 1,
            samples: 3,
            probes: ProbesADay::default(),
            control_permille: 10,
            crawl: CrawlPolicy::default(),
            calibration: CalibrationPolicy::default(),
        }
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

impl Default for ProbesADay {
    /// Twenty thousand of an agent (one in four seconds), fifty to a subnet, a million in all.
    fn default() -> Self {
        Self { per_agent: 20_000, per_target: 50, in_all: 1_000_000 }
    }
}

/// The settings for crawling, as agents receive them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlPolicy {
    /// Least time between the end of one request to a host and the start of the next, in
    /// milliseconds.
    pub host_delay_ms: u32,
    /// Most pages of one host.
    pub pages_a_host: u32,
    /// Most links between a routed URL and a page.
    pub depth: u8,
    /// Longest age at which a page is visited again, and that of its first revisit, in seconds; 0
    /// for never.
    pub revisit_s: u32,
    /// Shortest age at which a page that changes often is visited again, in seconds, where
    /// `revisit_s` is not shorter.
    pub revisit_least_s: u32,
    /// When a page counts as slower than it used to be; none: its times are not compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slowdown: Option<Slowdown>,
}

impl Default for CrawlPolicy {
    fn default() -> Self {
        Self {
            host_delay_ms: 1_000,
            pages_a_host: 10_000,
            depth: 25,
            revisit_s: 0,
            revisit_least_s: DAY_S,
            slowdown: None,
        }
    }
}

/// When a page counts as slower than it used to be (IPMicra III.F).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slowdown {
    /// How long it must take, in per cent of its usual time; above 100.
    pub percent: u32,
    /// How often in a row; at least 1.
    pub repeats: u32,
}

impl Slowdown {
    /// New time over usual time.
    pub fn factor(self) -> f64 {
        f64::from(self.percent) / 100.0
    }
}

impl Default for Slowdown {
    fn default() -> Self {
        Self { percent: 200, repeats: 3 }
    }
}

/// When a subnet is searched for again because its pages became slower (IPMicra III.F).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CalibrationPolicy {
    /// Longest age at which a page is visited again, and that of its first revisit, in seconds; 0
    /// for never, at most a year.
    pub revisit_s: u32,
    /// Shortest age at which a page that changes often is visited again, in seconds; 1 to a year.
    /// Where it is not below `revisit_s`, all pages are visited again at the age `revisit_s`.
    pub revisit_least_s: u32,
    /// When a page counts as slower.
    pub slowdown: Slowdown,
    /// Least time from one delegation of a subnet to a new search because of slow pages, in
    /// seconds; 1 to a year.
    pub rest_s: u32,
    /// Length of the window in which timing reports count together, and interval at which a former
    /// agent measures whether its path has recovered, in seconds; 1 to a year.
    pub window_s: u32,
}

impl CalibrationPolicy {
    /// [`Self::rest_s`] in milliseconds.
    pub fn rest_ms(&self) -> u64 {
        u64::from(self.rest_s) * 1_000
    }

    /// [`Self::window_s`] in milliseconds.
    pub fn window_ms(&self) -> u64 {
        u64::from(self.window_s) * 1_000
    }
}

impl Default for CalibrationPolicy {
    fn default() -> Self {
        Self {
            revisit_s: 7 * DAY_S,
            revisit_least_s: DAY_S,
            slowdown: Slowdown::default(),
            rest_s: DAY_S,
            window_s: 3_600,
        }
    }
}

/// The settings of balance. They are read before each pass, so that all coordinators obey a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BalancePolicy {
    /// Which subnet leaves an agent that is over its capacity.
    pub rule: BalanceRule,
    /// Whether periodic passes move subnets towards the cheapest plan.
    pub passes: bool,
    /// Most subnets that passes move in 24 hours; at most 1,000,000.
    pub moves_a_day: u32,
    /// What a move of a pass must save at least, in milliseconds a day, unless it relieves an
    /// agent.
    pub least_gain_ms: u32,
}

impl Default for BalancePolicy {
    fn default() -> Self {
        Self { rule: BalanceRule::Cheapest, passes: true, moves_a_day: 100, least_gain_ms: 1_000 }
    }
}

/// Quotas on what agents discover in a day (UTC), at least 1 each. They are read with each package.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiscoveryQuotas {
    /// URLs queued of what one agent discovers.
    pub urls_per_agent: u32,
    /// New hosts of what one agent discovers.
    pub hosts_per_agent: u32,
    /// Discovered URLs queued for one host.
    pub urls_per_host: u32,
}

impl Default for DiscoveryQuotas {
    fn default() -> Self {
        Self { urls_per_agent: 1_000_000, hosts_per_agent: 50_000, urls_per_host: 20_000 }
    }
}
