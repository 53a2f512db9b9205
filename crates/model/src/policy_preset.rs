//! Presets of the policy: named combinations of settings.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::policy::BalancePolicy;
use crate::{BalanceRule, Policy, Strategy};

/// A named combination of the settings that choose how subnets get and keep their agents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PolicyPreset {
    /// The shipped settings: predictive searches, the cheapest move, periodic passes.
    Default,
    /// Those of IPMicra: threshold strategy with 50 ms, the variance rule, no passes.
    Paper,
}

spelling!(PolicyPreset);

/// The settings that a preset determines.
#[derive(PartialEq, Eq)]
struct Settings {
    strategy: Strategy,
    threshold_us: u32,
    rule: BalanceRule,
    passes: bool,
}

impl PolicyPreset {
    /// The policy with the settings of this preset; all others stay.
    pub fn apply(self, policy: Policy, balance: BalancePolicy) -> (Policy, BalancePolicy) {
        let Settings { strategy, threshold_us, rule, passes } = self.settings();
        let policy = Policy { strategy, threshold_us, ..policy };
        (policy, BalancePolicy { rule, passes, ..balance })
    }

    /// The preset whose settings these are; `None` for another combination.
    pub fn of(policy: &Policy, balance: &BalancePolicy) -> Option<Self> {
        let present = Settings {
            strategy: policy.strategy,
            threshold_us: policy.threshold_us,
            rule: balance.rule,
            passes: balance.passes,
        };
        Self::VARIANTS.iter().copied().find(|preset| preset.settings() == present)
    }

    const fn settings(self) -> Settings {
        match self {
            Self::Default => Settings {
                strategy: Strategy::Predictive,
                threshold_us: 50_000,
                rule: BalanceRule::Cheapest,
                passes: true,
            },
            Self::Paper => Settings {
                strategy: Strategy::Threshold,
                threshold_us: 50_000,
                rule: BalanceRule::Variance,
                passes: false,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{CalibrationPolicy, ProbesADay};
    use crate::{CrawlPolicy, Slowdown};

    fn custom() -> (Policy, BalancePolicy) {
        let policy = Policy {
            strategy: Strategy::Threshold,
            threshold_us: 7,
            patience_ms: 60_000,
            parallel: 3,
            samples: 2,
            probes: ProbesADay { per_agent: 1, per_target: 2, in_all: 3 },
            control_permille: 50,
            crawl: CrawlPolicy::default(),
            calibration: CalibrationPolicy {
                revisit_s: 1,
                revisit_least_s: 1,
                slowdown: Slowdown { percent: 200, repeats: 3 },
                rest_s: 1,
                window_s: 1,
            },
        };
        let balance = BalancePolicy {
            rule: BalanceRule::Off,
            passes: true,
            moves_a_day: 5,
            least_gain_ms: 6,
        };
        (policy, balance)
    }

    #[test]
    fn a_preset_sets_what_it_names_and_is_recognised() {
        let (policy, balance) = custom();
        assert_eq!(PolicyPreset::of(&policy, &balance), None);
        let (paper, paper_balance) = PolicyPreset::Paper.apply(policy, balance);
        assert_eq!((paper.strategy, paper.threshold_us), (Strategy::Threshold, 50_000));
        assert_eq!((paper_balance.rule, paper_balance.passes), (BalanceRule::Variance, false));
        assert_eq!(
            (paper.parallel, paper.probes, paper_balance.moves_a_day),
            (3, policy.probes, 5)
        );
        for preset in PolicyPreset::VARIANTS {
            let (policy, balance) = preset.apply(paper, paper_balance);
            assert_eq!(PolicyPreset::of(&policy, &balance), Some(*preset));
        }
    }
}
