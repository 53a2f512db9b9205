//! Crawls of a small generated graph.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::fmt::Write as _;
use std::fs;

use lab::{LinkGraph, RegionSettings, crawl};

const SETTINGS: RegionSettings = RegionSettings {
    agents: 6,
    recovery: 1,
    crashes: 0,
    lose_disk: false,
    down_s: 60,
    hosts: 40,
    threads: 4,
};

/// Every page links to the next one, to a page not far away, and to one far away.
fn graph(pages: usize) -> LinkGraph {
    let mut text = String::new();
    for page in 0..pages {
        let next = (page + 1) % pages;
        writeln!(text, "{next} {} {}", (page + 7) % pages, page * 31 % pages).unwrap();
    }
    read(&text).unwrap()
}

fn read(text: &str) -> anyhow::Result<LinkGraph> {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("graph.txt");
    fs::write(&file, text).unwrap();
    LinkGraph::read(&file)
}

#[test]
fn every_page_is_fetched_once() {
    let outcome = crawl(&graph(2_000), SETTINGS, 1).unwrap();
    assert_eq!(outcome.reachable, 2_000);
    assert!((outcome.coverage - 1.0).abs() < 1e-9);
    assert!(outcome.overlap.abs() < 1e-9);
    assert!(outcome.communication_overhead > 0.0);
    assert!(outcome.communication_overhead < outcome.links_to_others_per_page, "sent once");
    let last = outcome.quality.last().unwrap();
    assert!((last.region - last.breadth_first).abs() < 1e-9, "the same pages at the end");
}

#[test]
fn crashed_agents_cost_little() {
    let settings = RegionSettings { crashes: 4, ..SETTINGS };
    let outcome = crawl(&graph(2_000), settings, 2).unwrap();
    assert!((outcome.coverage - 1.0).abs() < 1e-9, "{outcome:?}");
    assert!(outcome.overlap < 0.05, "{outcome:?}");
    assert_eq!(outcome, crawl(&graph(2_000), settings, 2).unwrap(), "a seed replays");
}

#[test]
fn other_files_are_refused() {
    let said = |text| read(text).unwrap_err().to_string();
    assert_eq!(said("1\nx\n"), "line 2: \"x\" is not the number of a page");
    assert_eq!(said("1\n2\n"), "page 1 links to page 2, and there are 2");
    let graph = read("1 2\n\n0\n").unwrap();
    assert_eq!(graph.breadth_first(&[2]), [2, 0, 1]);
    assert_eq!(graph.in_degrees(), [1, 1, 1]);
}
