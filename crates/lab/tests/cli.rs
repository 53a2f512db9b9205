//! The command as `cargo xtask lab` runs it.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::{fs, path::Path, process::Command, process::Output};

fn lab(dir: &Path, args: &[&str]) -> Output {
    experiment(dir, &[&["delegation"], args].concat())
}

fn experiment(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lab")).args(args).current_dir(dir).output().unwrap()
}

fn matrix(text: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("m.txt"), text).unwrap();
    dir
}

const FIVE: &str = "0 10 20 30 40\n10 0 10 20 30\n20 10 0 10 20\n30 20 10 0 10\n40 30 20 10 0\n";

#[test]
fn prints_one_object() {
    let dir = matrix(FIVE);
    let args = [
        "--rtt",
        "m.txt",
        "--agents",
        "2",
        "--subnets",
        "3",
        "--strategy",
        "all-probe",
        "--seeds",
        "4",
        "--json",
    ];
    let output = lab(dir.path(), &args);
    assert!(output.status.success(), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (&report["agents"], &report["subnets"], &report["seeds"]),
        (&2.into(), &3.0.into(), &4.into())
    );
    assert_eq!(
        (&report["optimal_share"], &report["probes_per_subnet"]),
        (&1.0.into(), &2.0.into())
    );
    assert!(report["crawl_time_ratio_to_random"].as_f64().unwrap() < 1.0);
    assert_eq!(
        lab(dir.path(), &args).stdout,
        output.stdout,
        "the same seeds give the same figures"
    );
}

#[test]
fn mistakes_are_one_clear_sentence() {
    let dir = matrix("0 1\n1\n");
    for (args, part) in [
        (vec!["--rtt", "none.txt"], "cannot read none.txt"),
        (vec!["--rtt", "m.txt"], "m.txt, line 2: 1 fields where 2 were expected"),
        (vec!["--rtt", "m.txt", "--agents", "0"], "--agents"),
    ] {
        let output = lab(dir.path(), &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(part), "{said}");
        assert!(!said.contains("panicked"), "{said}");
    }
    let alone = matrix("0\n");
    let output = lab(alone.path(), &["--rtt", "m.txt"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("nothing to replay"), "{output:?}");
}

#[test]
fn prints_figures_at_marks() {
    let dir = matrix(FIVE);
    let args = ["--rtt", "m.txt", "--agents", "2", "--strategy", "predictive", "--json"];
    let output = lab(dir.path(), &args);
    assert!(output.status.success(), "{output:?}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    for key in [
        "subnets",
        "optimal_share",
        "excess_ms_mean",
        "excess_ms_p95",
        "crawl_time_ratio_to_random",
        "optimum_ratio_to_random",
        "probes_per_subnet",
        "search_probes",
        "home_probes",
        "weekly_probes_per_agent",
    ] {
        assert!(report[key].is_number(), "{key}");
        assert!(report["marks"][0]["window"][key].is_number(), "{key}");
    }
}

/// The last host of the matrix is dead. It is neither an agent's home nor a subnet to delegate.
#[test]
fn a_host_that_nobody_measured_is_left_out() {
    let dir = matrix("0 10 20 30 0\n10 0 10 20 0\n20 10 0 10 0\n30 20 10 0 0\n0 0 0 0 0\n");
    let common = ["--rtt", "m.txt", "--agents", "2", "--seeds", "8", "--json", "--strategy"];
    for (strategy, key) in [
        ("random", "crawl_time_ratio_to_random"),
        ("threshold", "excess_ms_mean"),
        ("predictive", "excess_ms_mean"),
    ] {
        let output = lab(dir.path(), &[common.as_slice(), &[strategy]].concat());
        assert!(output.status.success(), "{strategy}: {output:?}");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(report[key].is_number(), "{strategy}: {report}");
        assert_eq!(report["subnets"].as_f64(), Some(2.0), "{strategy}: {report}");
        assert_eq!(report["subnets_unmeasured"], 1, "{strategy}: {report}");
    }
}

/// The built-in world has some two hundred places.
#[test]
fn scale_runs_with_its_default_of_agents() {
    let dir = tempfile::tempdir().unwrap();
    let output = experiment(dir.path(), &["scale", "--hosts", "10", "--json"]);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn experiments_without_anything_to_do_end_with_one_clear_sentence() {
    let dir = matrix("0 1 2\n1 0 1\n2 1 0\n");
    fs::write(dir.path().join("empty"), "").unwrap();
    let report = ["report", "--out", "out", "--date", "2026-11-28"];
    for (args, part) in [
        (vec!["region", "--graph", "empty"], "there is no page"),
        ([&report[..], &["--agents", "300"]].concat(), "nothing to replay"),
        ([&report[..], &["--subnets", "0"]].concat(), "nothing to replay"),
        (vec!["forgery", "--rtt", "m.txt"], "nothing to replay"),
    ] {
        let output = experiment(dir.path(), &args);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && said.contains(part), "{args:?}: {said}");
        assert!(!said.contains("panicked"), "{said}");
    }
}
