//! Which landmarks do well, how many to have, and when an address is silent.

use delegation::predictor::landmarks::{self, Health, LandmarkProbe};
use delegation::{ProbeOutcome, TrailProbe, target};
use hierarchy::{SubnetId, SubnetKind};
use model::{AgentId, Phase};
use proptest::prelude::*;

use crate::predictor::{hierarchy, records};

fn report(subnet: u32, agent: i64, rtt_us: Option<u32>, before_us: Option<u32>) -> LandmarkProbe {
    LandmarkProbe { subnet: SubnetId::new(subnet), agent: AgentId::new(agent), rtt_us, before_us }
}

fn health(reports: &[LandmarkProbe]) -> Vec<(u32, u32, u32)> {
    let seen = |health: &Health| (health.asked, health.answered, health.moved);
    landmarks::health(reports).iter().map(seen).collect()
}

#[test]
fn the_dead_and_the_moved_are_told_by_those_who_hear() {
    let well = |subnet, agent| report(subnet, agent, Some(20_000), Some(25_000));
    let reports = [
        well(1, 1),
        well(1, 2),
        report(2, 1, None, None),
        report(2, 2, None, None),
        report(3, 1, Some(90_000), Some(20_000)),
        report(3, 2, Some(15_000), None),
    ];
    let found = landmarks::health(&reports);
    assert_eq!(health(&reports), [(2, 2, 0), (2, 0, 0), (2, 2, 1)]);
    let lost: Vec<bool> = found.iter().map(Health::is_lost).collect();
    assert_eq!(lost, [false, true, false], "half of the agents may be wrong");
}

#[test]
fn a_deaf_agent_says_nothing_about_landmarks() {
    let silent = [report(1, 1, None, None), report(2, 1, None, None), report(3, 1, Some(9), None)];
    assert!(landmarks::health(&silent).is_empty());
    let with_another = [silent[0], silent[1], silent[2], report(1, 2, Some(9), None)];
    assert_eq!(health(&with_another), [(1, 1, 0)]);
}

#[test]
fn near_and_far_are_no_moves() {
    let moved = |now, before| health(&[report(1, 1, Some(now), Some(before))])[0].2 == 1;
    assert!(!moved(10_000, 29_000), "less than 20 ms");
    assert!(!moved(100_000, 149_000), "less than half");
    assert!(moved(100_000, 201_000));
    assert!(moved(201_000, 100_000));
}

#[test]
fn a_small_world_has_few_landmarks() {
    let wanted: Vec<usize> =
        [0, 7, 8, 192, 400, 100_000].map(|known| landmarks::target_count(known, 1_500)).to_vec();
    assert_eq!(wanted, [0, 0, 48, 48, 100, 1_500]);
    assert_eq!(landmarks::target_count(400, 0), 0);
}

#[test]
fn three_without_an_answer_are_enough() {
    let asked = |outcome| TrailProbe { agent: AgentId::new(1), phase: Phase::Rest, outcome };
    let none = asked(ProbeOutcome::Unreachable);
    let late = asked(ProbeOutcome::Expired);
    assert!(!target::is_silent(&[none, none, late]), "who did not report says nothing");
    assert!(target::is_silent(&[none, none, late, none]));
    assert!(!target::is_silent(&[none, none, none, asked(ProbeOutcome::Measured { rtt_us: 1 })]));
}

proptest! {
    #[test]
    fn landmarks_are_distinct_and_as_many_as_wanted(count in 0_usize..80) {
        let hierarchy = hierarchy();
        let answering = records(&hierarchy);
        let chosen =
            landmarks::choose(&hierarchy, &answering, count, |subnet| u64::from(subnet.get()) % 7);
        let mut distinct = chosen.clone();
        distinct.sort_unstable();
        distinct.dedup();
        prop_assert_eq!(distinct.len(), chosen.len());
        prop_assert_eq!(chosen.len(), count.min(answering.len()));
        let companies: std::collections::HashSet<_> =
            chosen.iter().take(30).map(|subnet| hierarchy.subnet(*subnet).company()).collect();
        prop_assert_eq!(
            companies.len(),
            chosen.len().min(30),
            "a company came again before all others had their turn"
        );
    }
}

#[test]
fn every_country_gets_its_first_landmark_before_any_its_second() {
    let mut companies = hierarchy::CompanyIndex::default();
    let mut builder = hierarchy::Builder::default();
    for n in 0..100_u8 {
        let country =
            ["US", "US", "US", "US", "US", "US", "US", "DE", "DE", "CY"][usize::from(n) % 10];
        builder.add(hierarchy::Record {
            range: format!("20.0.{n}.0/24").parse().unwrap(),
            kind: SubnetKind::Delegated,
            registry: None,
            company: Some(companies.number(hierarchy::Registry::Arin, &n.to_string())),
            country: Some(country.parse().unwrap()),
        });
    }
    let hierarchy = builder.build(hierarchy::Generation::new(1), companies.into_companies()).0;
    let chosen =
        landmarks::choose(&hierarchy, &records(&hierarchy), 20, |subnet| u64::from(subnet.get()));
    let countries: Vec<String> = chosen
        .iter()
        .map(|subnet| hierarchy.subnet(*subnet).country().unwrap().as_str().to_owned())
        .collect();
    assert_eq!(countries[..3], ["US", "DE", "CY"]);
    let of = |code: &str| countries.iter().filter(|country| *country == code).count();
    assert_eq!(of("US") + of("DE") + of("CY"), 20);
    assert!(of("US") > of("DE") && of("DE") > of("CY") && of("CY") >= 2, "{countries:?}");
}
