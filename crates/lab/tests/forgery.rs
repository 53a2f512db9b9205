//! Agents that forge their round trips are paused soon, and no honest one is.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::path::PathBuf;

use lab::{
    Forgery, ForgeryOutcome, ForgerySettings, Irregularity, Scenario, ScenarioSettings, Topology,
    World, targets,
};

const FORGERIES: [Forgery; 3] = [Forgery::Constant, Forgery::Half, Forgery::Random];
const SEARCHES: usize = 100;

fn settings(forgery: Forgery, irregularity: Irregularity) -> ForgerySettings {
    ForgerySettings { forgery, irregularity, control_share: 0.01, checks: true }
}

fn scenarios() -> ScenarioSettings {
    ScenarioSettings { agents: 12, subnets: SEARCHES, ..ScenarioSettings::default() }
}

/// A world from geography alone, where each of some 220 cities is a subnet.
fn small() -> Topology {
    Topology::of_matrix(World::geographic(1))
}

#[test]
fn liars_are_paused_and_honest_agents_are_not() {
    let topology = small();
    for seed in 1..=3 {
        let scenario = Scenario::new(&topology, scenarios(), seed);
        for forgery in FORGERIES {
            let seen = lab::forgery(&scenario, settings(forgery, Irregularity::None));
            assert!(seen.paused_after.is_some(), "{forgery:?} {seed}: {seen:?}");
            assert!(seen.wrong * 20 <= SEARCHES, "{forgery:?} {seed}: {seen:?}");
            assert_eq!(seen.honest_paused, 0, "{forgery:?} {seed}: {seen:?}");
        }
    }
}

#[test]
fn unusual_honest_agents_are_not_paused() {
    use Irregularity::{Neighbour, Noisy, Proxy, Satellite};
    let topology = small();
    for irregularity in [Satellite, Noisy, Proxy, Neighbour] {
        let scenario = Scenario::new(&topology, scenarios(), 1);
        let seen = lab::forgery(&scenario, settings(Forgery::None, irregularity));
        assert_eq!(seen.honest_paused, 0, "{irregularity:?}: {seen:?}");
    }
}

/// Without checks the same liar takes more subnets from nearer agents than an agent has on
/// average. Nothing but its reports can do that: an honest agent takes hardly any.
#[test]
fn without_checks_a_liar_wins() {
    let topology = small();
    let unchecked = |forgery| {
        let settings = ForgerySettings { checks: false, ..settings(forgery, Irregularity::None) };
        let run = |seed| lab::forgery(&Scenario::new(&topology, scenarios(), seed), settings);
        (1..=3).map(run).collect::<Vec<ForgeryOutcome>>()
    };
    let fair_share = 1.0 / scenarios().agents as f64;
    let seen = unchecked(Forgery::Constant);
    assert!(seen.iter().all(|run| run.paused_after.is_none()));
    let wrong: usize = seen.iter().map(|run| run.wrong).sum();
    assert!(wrong as f64 > fair_share * (seen.len() * SEARCHES) as f64, "{seen:?}");
    let honest: usize = unchecked(Forgery::None).iter().map(|run| run.wrong).sum();
    assert!(4 * honest < wrong, "{honest} by an honest agent, {wrong} by a liar");
}

/// Twenty runs on the matrix of 2018, with the agent that forges in this way.
fn on_the_matrix_of_2018(forgery: Forgery) -> Vec<ForgeryOutcome> {
    let dir =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/latency/oracle-2018");
    let world = World::measured(&dir).unwrap();
    let topology = Topology::of_targets(world, &targets(&dir.join("targets.csv.gz")).unwrap(), 400);
    let run = |seed| {
        let scenario = Scenario::new(&topology, scenarios(), seed);
        lab::forgery(&scenario, settings(forgery, Irregularity::None))
    };
    (1..=20).map(run).collect()
}

fn assert_paused_on_the_matrix_of_2018(forgery: Forgery) {
    let seen = on_the_matrix_of_2018(forgery);
    assert!(seen.iter().all(|run| run.honest_paused == 0), "{seen:?}");
    assert!(seen.iter().all(|run| run.paused_after.is_some()), "{seen:?}");
    let wrong: usize = seen.iter().map(|run| run.wrong).sum();
    let searches: usize = seen.iter().map(|run| run.searches).sum();
    assert!(wrong * 20 <= searches, "{wrong} of {searches}");
}

#[test]
#[ignore = "needs the latency matrices of ../shared/data"]
fn on_the_matrix_of_2018_honest_agents_are_not_paused() {
    let seen = on_the_matrix_of_2018(Forgery::None);
    assert!(seen.iter().all(|run| run.honest_paused == 0), "{seen:?}");
}

#[test]
#[ignore = "needs the latency matrices of ../shared/data"]
fn on_the_matrix_of_2018_a_liar_with_one_time_is_paused_within_a_hundred_searches() {
    assert_paused_on_the_matrix_of_2018(Forgery::Constant);
}

#[test]
#[ignore = "needs the latency matrices of ../shared/data"]
fn on_the_matrix_of_2018_a_liar_with_half_its_times_is_paused_within_a_hundred_searches() {
    assert_paused_on_the_matrix_of_2018(Forgery::Half);
}

#[test]
#[ignore = "needs the latency matrices of ../shared/data"]
fn on_the_matrix_of_2018_a_liar_with_random_times_is_paused_within_a_hundred_searches() {
    assert_paused_on_the_matrix_of_2018(Forgery::Random);
}
