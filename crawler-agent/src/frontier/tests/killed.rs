//! kill -9 at random times: every acknowledged change is there, and the file opens at once.

use std::{
    io::{BufRead as _, BufReader},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use super::*;

const FILE: &str = "NEARCRAWL_TEST_FRONTIER";

/// The process that is killed.
#[test]
#[ignore = "run by acknowledged_changes_survive"]
fn child_writes_until_it_is_killed() {
    let path = std::env::var_os(FILE).unwrap();
    let frontier = Frontier::open(Path::new(&path), 7).unwrap();
    let first = frontier.counts().unwrap().routes_after + 1;
    for seq in first.. {
        let url = format!("http://h{}.org/{seq}", seq % 7);
        let bounds = Bounds { pages_a_host: u32::MAX, depth: 1 };
        frontier.apply(routes(&[(seq, &url)], bounds)).unwrap();
        // Kills must meet checkpoints, too.
        if seq % 50 == 0 {
            frontier.checkpoint().unwrap();
        }
        println!("stored {seq}");
    }
}

#[test]
fn acknowledged_changes_survive() {
    let dir = TempDir::new().unwrap();
    let path = dir.path().join("frontier");
    let mut promised = 0;
    for round in 0..8 {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--ignored",
                "--exact",
                "frontier::tests::killed::child_writes_until_it_is_killed",
                "--nocapture",
            ])
            .env(FILE, &path)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        // Other lines are the test harness's.
        let mut stored =
            lines.filter_map(|line| line.rsplit_once("stored ")?.1.trim().parse().ok());
        promised = stored.by_ref().take(5 + 13 * round).last().unwrap();
        child.kill().unwrap();
        promised = stored.last().unwrap_or(promised);
        child.wait().unwrap();
        let started = Instant::now();
        let frontier = Frontier::open(&path, 8).unwrap();
        assert!(started.elapsed() < Duration::from_secs(5));
        let counts = frontier.counts().unwrap();
        assert!(counts.routes_after >= promised, "{counts:?}, promised {promised}");
        assert_eq!(counts.queued, counts.routes_after, "each URL once");
        assert_eq!(frontier.epoch(), 7);
    }
    assert!(promised > 100);
}
