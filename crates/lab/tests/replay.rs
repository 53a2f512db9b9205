//! Replays on a small matrix with known answers, and the paper's figures on the measured world.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::{fmt::Write as _, fs, path::PathBuf};

use lab::{Draw, DrawSettings, Ground, Outcome, Placement, Plan, World, mean_of, replay, targets};

/// Sixty hosts on a line, neighbours 5 ms apart.
fn line() -> Ground {
    let mut text = String::new();
    for a in 0_i32..60 {
        for b in 0_i32..60 {
            write!(text, "{} ", (a - b).abs() * 5).unwrap();
        }
        text.push('\n');
    }
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("line.txt"), text).unwrap();
    Ground::of_matrix(World::matrix(&dir.path().join("line.txt")).unwrap())
}

fn run(ground: &Ground, settings: DrawSettings, plan: Plan, seeds: u64) -> Outcome {
    let outcomes: Vec<Outcome> =
        (1..=seeds).map(|seed| replay(&Draw::new(ground, settings, seed), plan)).collect();
    mean_of(&outcomes)
}

fn close(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn measuring_everything_exactly_is_optimal() {
    let seen = run(&line(), DrawSettings::without_noise(6, 50), Plan::AllProbe, 3);
    assert!(close(seen.optimal_share, 1.0) && close(seen.excess_ms_mean, 0.0));
    assert!(close(seen.probes_per_subnet, 6.0) && close(seen.probes_last_tenth, 6.0));
    assert!(close(seen.crawl_time_ratio_to_random, seen.optimum_ratio_to_random));
}

#[test]
fn a_threshold_that_nobody_satisfies_asks_everybody() {
    let nobody =
        run(&line(), DrawSettings::without_noise(6, 50), Plan::Threshold { threshold_ms: 0.0 }, 3);
    assert!(close(nobody.optimal_share, 1.0) && close(nobody.probes_per_subnet, 6.0));
    let everybody =
        run(&line(), DrawSettings::without_noise(6, 50), Plan::Threshold { threshold_ms: 1e6 }, 3);
    assert!(close(everybody.probes_per_subnet, 1.0), "the first who is asked satisfies");
}

#[test]
fn dealing_without_distances_is_no_better_than_chance() {
    for plan in [Plan::Random, Plan::Ubicrawler] {
        let seen = run(&line(), DrawSettings::without_noise(6, 50), plan, 20);
        assert!((0.1..0.25).contains(&seen.optimal_share), "{plan:?} {seen:?}");
        assert!((0.9..1.1).contains(&seen.crawl_time_ratio_to_random), "{plan:?} {seen:?}");
    }
}

#[test]
fn a_ground_gives_no_more_than_it_has() {
    let draw_settings = DrawSettings::without_noise(50, 50);
    let ground = line();
    let draw = Draw::new(&ground, draw_settings, 1);
    assert_eq!((draw.crawlers.len(), draw.sites.len()), (50, 10));
    assert!(
        draw.sites.iter().all(|site| draw.crawlers.iter().all(|crawler| crawler.home != *site))
    );
    let crowd = Draw::new(&ground, DrawSettings::without_noise(500, 1), 1);
    assert_eq!((crowd.crawlers.len(), crowd.sites.len()), (60, 0));
}

#[test]
fn a_seed_is_a_draw() {
    let ground = line();
    let settings = DrawSettings { agents: 6, subnets: 20, ..DrawSettings::default() };
    let draw = |seed| Draw::new(&ground, settings, seed);
    let (one, same, other) = (draw(1), draw(1), draw(2));
    assert_eq!((&one.crawlers, &one.sites), (&same.crawlers, &same.sites));
    assert_ne!(one.sites, other.sites);
    let time = |draw: &Draw<'_>| draw.probe_ms(&draw.crawlers[0], draw.sites[0]).to_bits();
    assert_eq!(time(&one), time(&same));
}

/// The measured world, where it lies beside the repository.
fn oracle_2018() -> Option<Ground> {
    let dir =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/latency/oracle-2018");
    if !dir.is_dir() {
        eprintln!("skipped: no measured world at {}", dir.display());
        return None;
    }
    let targets = targets(&dir.join("targets.csv.gz")).unwrap();
    Some(Ground::of_targets(World::oracle(&dir).unwrap(), &targets, 400))
}

/// IPMicra section IV reports more than 75 % with 4 and 12 crawlers at less than 3 probes;
/// independent simulations on this world gave 65 to 82 % at 2.5 to 6 probes for 12, above 95 % at
/// less than 3 for 4.
#[test]
fn the_papers_search_lands_where_independent_simulations_did() {
    let Some(ground) = oracle_2018() else { return };
    let of = |agents| {
        let settings = DrawSettings { agents, ..DrawSettings::default() };
        run(&ground, settings, Plan::Threshold { threshold_ms: 50.0 }, 20)
    };
    let (four, twelve) = (of(4), of(12));
    assert!(four.optimal_share > 0.95 && four.probes_per_subnet < 3.0, "{four:?}");
    assert!((0.65..0.82).contains(&twelve.optimal_share), "{twelve:?}");
    assert!((2.5..6.0).contains(&twelve.probes_per_subnet), "{twelve:?}");
}

/// The whole table is `cargo xtask lab delegation --strategy predictive --seeds 20`; this guards it
/// with a few seeds.
#[test]
fn the_predictive_search_finds_more_with_less() {
    let Some(ground) = oracle_2018() else { return };
    let of = |agents, subnets| {
        let settings = DrawSettings { agents, subnets, landmarks: 1500, ..DrawSettings::default() };
        run(&ground, settings, Plan::Predictive { min_probability: 1.0 / 15.0 }, 3)
    };
    let (twelve, hundred) = (of(12, 1000), of(100, 300));
    assert!(twelve.optimal_share > 0.95 && twelve.probes_per_subnet < 2.15, "{twelve:?}");
    assert!(hundred.optimal_share > 0.91 && hundred.probes_per_subnet < 3.2, "{hundred:?}");
    assert!(twelve.excess_ms_mean < 1.0 && hundred.excess_ms_mean < 1.0);
    assert!(close(twelve.landmark_probes, 18_000.0));
}

#[test]
fn prediction_works_on_a_matrix_without_geography() {
    let settings = DrawSettings { landmarks: 20, ..DrawSettings::without_noise(6, 30) };
    let seen = run(&line(), settings, Plan::Predictive { min_probability: 1.0 / 16.0 }, 20);
    assert!(seen.optimal_share > 0.95 && seen.probes_per_subnet < 5.0, "{seen:?}");
}

#[test]
fn worldwide_agents_live_in_every_region() {
    let Some(ground) = oracle_2018() else { return };
    let settings = DrawSettings { agents: 5, subnets: 1, ..DrawSettings::default() };
    let regions = |placement| {
        let draw = Draw::new(&ground, DrawSettings { placement, ..settings }, 3);
        let registry = |home: lab::Site| ground.hierarchy.subnet(home.subnet).registry();
        draw.crawlers
            .iter()
            .map(|crawler| registry(crawler.home))
            .collect::<std::collections::HashSet<_>>()
            .len()
    };
    assert!(regions(Placement::Worldwide) >= 4, "a home may be a stray record of its city");
    assert!(regions(Placement::Uniform) <= 4);
}
