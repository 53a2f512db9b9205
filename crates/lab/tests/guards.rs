//! Guards of the published figures: prediction with the shipped constants, from a cold start, with
//! every probe counted. The limits are the means of docs/benchmarks/lab.md with room for the noise
//! of few seeds.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use std::net::Ipv4Addr;
use std::path::PathBuf;

use lab::{
    City, CityId, Claims, Noise, ReplayFigures, ReplayMark, Scenario, ScenarioSettings, Strategy,
    Target, Topology, World, mean, replay, targets,
};

/// What a replay must reach.
#[derive(Debug, Clone, Copy)]
struct Limits {
    agents: usize,
    optimal_share: f64,
    probes_per_subnet: f64,
    excess_ms: f64,
}

fn assert_kept(topology: &Topology, seeds: std::ops::Range<u64>, limits: &[Limits]) {
    for limit in limits {
        let seen = predicted(topology, limit.agents, seeds.clone());
        assert!(seen.optimal_share > limit.optimal_share, "{limit:?}: {seen:?}");
        assert!(seen.probes_per_subnet < limit.probes_per_subnet, "{limit:?}: {seen:?}");
        assert!(seen.excess_ms_mean < limit.excess_ms, "{limit:?}: {seen:?}");
    }
}

/// The figures after a thousand subnets.
fn predicted(topology: &Topology, agents: usize, seeds: std::ops::Range<u64>) -> ReplayFigures {
    let settings = ScenarioSettings { agents, subnets: 1_000, ..ScenarioSettings::default() };
    let run = |seed| {
        let scenario = Scenario::new(topology, settings, seed);
        replay(&scenario, Strategy::Predictive(Claims::Corrected))
    };
    let marks: Vec<ReplayMark> = mean(&seeds.map(run).collect::<Vec<_>>()).unwrap();
    marks.last().unwrap().cumulative
}

#[test]
#[ignore = "needs the latency matrices of ../shared/data"]
fn prediction_keeps_its_figures_on_the_matrix_of_2018() {
    let dir =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/latency/oracle-2018");
    let targets = targets(&dir.join("targets.csv.gz")).unwrap();
    let topology = Topology::of_targets(World::measured(&dir).unwrap(), &targets, 400);
    let limits = [
        Limits { agents: 12, optimal_share: 0.95, probes_per_subnet: 2.4, excess_ms: 0.3 },
        Limits { agents: 50, optimal_share: 0.905, probes_per_subnet: 3.7, excess_ms: 0.6 },
        Limits { agents: 100, optimal_share: 0.88, probes_per_subnet: 4.3, excess_ms: 0.7 },
    ];
    assert_kept(&topology, 2001..2004, &limits);
}

#[test]
fn prediction_keeps_its_figures_in_a_made_up_world() {
    let limits = [
        Limits { agents: 12, optimal_share: 0.94, probes_per_subnet: 2.6, excess_ms: 0.4 },
        Limits { agents: 50, optimal_share: 0.9, probes_per_subnet: 3.8, excess_ms: 0.5 },
        Limits { agents: 100, optimal_share: 0.88, probes_per_subnet: 4.4, excess_ms: 0.8 },
    ];
    assert_kept(&made_up(7), 1..3, &limits);
}

/// Subnets of a city, on average, before the lognormal spread.
const SUBNETS: f64 = 8.0;
/// Subnets of one company in a city.
const OF_A_COMPANY: usize = 4;

/// The geographic world with some subnets in each city. Those of a city have its country, and
/// companies have several.
fn made_up(seed: u64) -> Topology {
    let world = World::geographic(seed);
    let noise = Noise::new(seed);
    let mut made = Vec::new();
    for (index, city) in world.cities().iter().enumerate() {
        let count = (SUBNETS * noise.lognormal(1.0, &[index as u64])).ceil() as usize;
        for number in 0..count {
            let first = Ipv4Addr::from_bits(0x0100_0000 + ((made.len() as u32) << 8));
            made.push(Target {
                address: first,
                record_start: first,
                record_count: 256,
                registry: registry(city).into(),
                country: city.country.clone(),
                company: format!("{}-{}", city.name, number / OF_A_COMPANY),
                city: CityId::new(index),
                dist_km: 0,
            });
        }
    }
    Topology::of_targets(world, &made, 400)
}

/// Roughly the registry of a city, by where it is.
fn registry(city: &City) -> &'static str {
    match (city.lat, city.lon) {
        (lat, lon) if lon < -30.0 => {
            if lat < 24.0 {
                "lacnic"
            } else {
                "arin"
            }
        }
        (_, lon) if lon > 60.0 => "apnic",
        (lat, lon) if lat < 34.0 && lon < 52.0 => "afrinic",
        _ => "ripencc",
    }
}
