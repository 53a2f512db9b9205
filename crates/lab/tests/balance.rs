//! The balance and calibration experiments: bounds on generated problems.

use std::process::Command;

use lab::{
    FetchTimeSettings, GeneratedSettings, TrialSettings, calibration, compare_rules, generate,
};
use model::{BalanceRule, Slowdown};
use proptest::prelude::*;

#[test]
fn prints_cost_and_moves_per_rule() {
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["balance", "--json", "--agents", "5", "--subnets", "100"])
        .output();
    let report: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    let figure = |value: &serde_json::Value| value.as_f64().unwrap();
    let bound = figure(&report["bound"]);
    assert!(figure(&report["nearest_cost"]) < bound);
    let rules = report["rules"].as_array().unwrap();
    let names: Vec<_> = rules.iter().map(|entry| &entry["rule"]).collect();
    assert_eq!(names, ["optimal", "variance", "next_best", "cheapest"]);
    for entry in rules {
        assert!(figure(&entry["cost"]) >= bound * (1.0 - 1e-9), "{entry}");
        assert!(figure(&entry["moves"]) > 0.0, "{entry}");
    }
}

fn settings(seed: u64) -> GeneratedSettings {
    GeneratedSettings { agents: 12, subnets: 600, largest_load: 5, slack: 0.05, known: None, seed }
}

/// A doubling is found soon, and what is usual is left alone. So rare a thing as a false alarm is
/// counted in one long run: in many short ones, chance alone would pass the bound now and then.
#[test]
fn calibration_finds_a_doubling_soon() {
    let days = TrialSettings { subnets: 400, pages: 10, fetches: 200, seed: 1 };
    let seen = calibration(FetchTimeSettings::default(), Slowdown::default(), days, 2.0);
    assert!(seen.false_alarm_share < 1e-4, "{seen:?}");
    assert!(seen.found_share > 0.98 && seen.found_soon_share > 0.95, "{seen:?}");
    assert!(seen.fetches_to_find_mean < 6.0, "{seen:?}");
}

/// As with agents, whose usual times no single report resets: where pages vary much, the slow
/// fetches after a false report are reported as well.
#[test]
fn a_page_is_reported_at_every_slow_fetch() {
    let days = TrialSettings { subnets: 200, pages: 10, fetches: 200, seed: 1 };
    let noisy = FetchTimeSettings { noise: 0.3, ..FetchTimeSettings::default() };
    let seen = calibration(noisy, Slowdown::default(), days, 2.0);
    assert!(seen.false_alarm_share > 5e-4, "{seen:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    /// On generated problems the optimum is within half a percent of the bound, nobody is over
    /// capacity, and no rule is better.
    #[test]
    fn the_optimum_is_near_the_bound(seed in any::<u64>()) {
        let problem = generate(settings(seed)).unwrap();
        let seen = compare_rules(&problem, &BalanceRule::MOVING);
        let optimum = seen.results[0].clone();
        prop_assert_eq!((optimum.overload, optimum.unplaced), (0, 0));
        prop_assert!(optimum.cost <= 1.005 * seen.bound && seen.nearest <= seen.bound + 1e-6);
        for entry in &seen.results[1..] {
            prop_assert!(
                entry.cost >= seen.bound * (1.0 - 1e-9) || entry.overload > 0,
                "{entry:?}"
            );
        }
    }

    /// What became a little slower, by less than the square root of the factor, is not reported
    /// more than what did not.
    #[test]
    fn a_little_slower_is_no_alarm(seed in any::<u64>()) {
        let days = TrialSettings { subnets: 20, pages: 10, fetches: 100, seed };
        let calm = FetchTimeSettings {
            day_rhythm: 0.1,
            noise: 0.05,
            outliers: 0.0,
            size_change: 0.0,
            ..FetchTimeSettings::default()
        };
        let seen = calibration(calm, Slowdown::default(), days, 1.15);
        prop_assert!(seen.found_share < 0.01, "{seen:?}");
    }
}
