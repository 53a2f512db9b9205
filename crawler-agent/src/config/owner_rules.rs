//! What the owner gives the agent in a day and a month, and when the machine is left to others.

use std::time::Duration;

use serde::Deserialize;
use toml::Spanned;

use super::values::{decimal, integer, mib, millis};

/// What the agent may use in a day and in a month of the owner's zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BudgetRules {
    /// Requests a day: for pages, for robots.txt, and of probes.
    pub pages_per_day: u64,
    /// Bytes a day; none for no limit.
    pub bytes_per_day: Option<u64>,
    /// Bytes a month; none for no limit.
    pub bytes_per_month: Option<u64>,
}

/// When the machine is left to its other users.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IdleRules {
    /// Most processor time that other programs may use, per processor: 0.25 is a quarter of each.
    /// None means that it does not matter.
    #[serde(deserialize_with = "decimal::<_, 1, 100>")]
    pub max_load_per_cpu: Option<f64>,
    /// Largest share of time in which other programs may wait for a processor, as the kernel's
    /// pressure stall information says. None means that it does not matter.
    #[serde(deserialize_with = "decimal::<_, 1, 100>")]
    pub max_cpu_pressure: Option<f64>,
    /// Whether the agent rests while the machine runs on its battery.
    pub not_on_battery: bool,
    /// Time above a limit after which the agent rests.
    #[serde(rename = "stop_after_ms", deserialize_with = "millis::<_, 0, 600_000>")]
    pub stop_after: Duration,
    /// Time below all limits after which it goes on.
    #[serde(rename = "resume_after_ms", deserialize_with = "millis::<_, 1_000, 86_400_000>")]
    pub resume_after: Duration,
}

impl Default for IdleRules {
    fn default() -> Self {
        Self {
            max_load_per_cpu: None,
            max_cpu_pressure: None,
            not_on_battery: false,
            stop_after: Duration::from_secs(5),
            resume_after: Duration::from_secs(60),
        }
    }
}

impl IdleRules {
    /// Whether the machine matters at all.
    pub fn are_off(&self) -> bool {
        self.max_load_per_cpu.is_none() && self.max_cpu_pressure.is_none() && !self.not_on_battery
    }
}

/// The table `[budget]` as it is written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BudgetTable {
    pages_per_day: Option<PagesPerDay>,
    mib_per_day: Option<Spanned<Mib>>,
    mib_per_month: Option<Spanned<Mib>>,
}

#[derive(Deserialize)]
struct PagesPerDay(#[serde(deserialize_with = "integer::<_, _, 1, 1_000_000_000>")] u64);

/// A size, in bytes.
#[derive(Deserialize, Clone, Copy)]
struct Mib(#[serde(deserialize_with = "mib::<_, 1, 1_000_000_000>")] u64);

/// A budget of bytes that a single body could use up.
pub(super) struct SmallBudget {
    /// The key in `[budget]`.
    pub(super) key: &'static str,
    /// Where its value is in the file, in bytes.
    pub(super) span: std::ops::Range<usize>,
}

impl BudgetTable {
    /// The budgets; `largest_body` is the size of the largest body in bytes. Without a budget of
    /// requests, `capacity` is one, the number of pages a day that the coordinator learns of: an
    /// owner who names a capacity expects that it is kept.
    pub(super) fn into_rules(
        self,
        capacity: u32,
        largest_body: u64,
    ) -> Result<BudgetRules, SmallBudget> {
        for (key, value) in
            [("mib_per_day", &self.mib_per_day), ("mib_per_month", &self.mib_per_month)]
        {
            // Else a page of that size would be cut off every day, and fetched again the next day.
            if let Some(value) = value.as_ref().filter(|value| value.get_ref().0 < largest_body) {
                return Err(SmallBudget { key, span: value.span() });
            }
        }
        let bytes = |value: Option<Spanned<Mib>>| value.map(|value| value.into_inner().0);
        Ok(BudgetRules {
            pages_per_day: self.pages_per_day.map_or(capacity.into(), |pages| pages.0),
            bytes_per_day: bytes(self.mib_per_day),
            bytes_per_month: bytes(self.mib_per_month),
        })
    }
}
