//! The balance and calibration experiments: problems from files, and bounds on generated ones.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::{fs, process::Command};

use delegation::calibration::Sensitivity;
use lab::{
    FetchTimeSettings, GeneratedSettings, TrialSettings, calibration, compare_rules, generate,
    read_problem,
};
use model::BalanceRule;
use proptest::prelude::*;

const LONG: &str = "subnet,agent,cost,load,capacity\n\
    s1,a,10,1,1\ns1,b,90,1,2\ns2,a,12,1,\ns2,b,20,,2\n";
const WIDE: &str = "subnet,load,a,b\ncapacity,,1,2\ns1,1,10,90\ns2,1,12,20\n";

fn written(text: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("problem.csv");
    fs::write(&file, text).unwrap();
    (dir, file)
}

#[test]
fn both_forms_say_the_same() {
    let (_long, long) = written(LONG);
    let (_wide, wide) = written(WIDE);
    assert_eq!(read_problem(&long, false).unwrap(), read_problem(&wide, false).unwrap());
}

#[test]
fn prints_cost_and_moves_per_rule() {
    let (_dir, file) = written(LONG);
    let output = Command::new(env!("CARGO_BIN_EXE_lab"))
        .args(["balance", "--json", "--problem"])
        .arg(&file)
        .output();
    let report: serde_json::Value = serde_json::from_slice(&output.unwrap().stdout).unwrap();
    assert_eq!((&report["bound"], &report["nearest_cost"]), (&30.0.into(), &22.0.into()));
    let rules: Vec<_> =
        report["rules"].as_array().unwrap().iter().map(|entry| &entry["rule"]).collect();
    assert_eq!(rules, ["optimal", "variance", "next_best", "cheapest"]);
    assert_eq!(
        (&report["rules"][0]["cost"], &report["rules"][0]["moves"]),
        (&30.0.into(), &1.into())
    );
}

#[test]
fn a_cost_per_page_counts_for_each_page() {
    let (_dir, file) = written("subnet,load,a\ncapacity,,9\ns,3,7\n");
    assert_eq!(read_problem(&file, false).unwrap().cost(0, 0), Some(7.0));
    assert_eq!(read_problem(&file, true).unwrap().cost(0, 0), Some(21.0));
}

#[test]
fn mistakes_are_one_clear_sentence() {
    for (text, part) in [
        ("a,b\n1,2\n", "the header must be"),
        ("subnet,load,a\ncapacity,,x\n", "line 2: \"x\" is no capacity"),
        ("subnet,load,a\ns,3,7\n", "agent \"a\" has none; give it exactly one capacity"),
        (
            "subnet,agent,cost,load,capacity\ns,a,1,2,3\ns,b,1,4,3\n",
            "subnet \"s\" has two different ones",
        ),
    ] {
        let (_dir, file) = written(text);
        let said = read_problem(&file, false).unwrap_err().to_string();
        assert!(said.contains(part), "{said}");
    }
}

fn settings(seed: u64) -> GeneratedSettings {
    GeneratedSettings { agents: 12, subnets: 600, largest_load: 5, slack: 0.05, known: 12, seed }
}

/// A doubling is found soon, and what is usual is left alone. So rare a thing as a false alarm is
/// counted in one long run: in many short ones, chance alone would pass the bound now and then.
#[test]
fn calibration_finds_a_doubling_soon() {
    let days = TrialSettings { subnets: 400, pages: 10, fetches: 200, seed: 1 };
    let seen = calibration(FetchTimeSettings::default(), Sensitivity::default(), days, 2.0);
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
    let seen = calibration(noisy, Sensitivity::default(), days, 2.0);
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
        let seen = calibration(calm, Sensitivity::default(), days, 1.15);
        prop_assert!(seen.found_share < 0.01, "{seen:?}");
    }
}
