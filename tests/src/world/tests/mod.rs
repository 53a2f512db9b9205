//! Tests of worlds chosen from synthetic and from real registry data.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use hierarchy::{Hierarchy, SubnetKind};
use rir_loader::read::Options;

use super::*;

mod environment;

const SEED: u64 = 2_018;
const COUNTRIES: [&str; 60] = [
    "GR", "CY", "DE", "FR", "GB", "ES", "IT", "PT", "NL", "BE", "AT", "CH", "PL", "CZ", "RU", "UA",
    "TR", "SE", "NO", "FI", "DK", "IE", "RO", "BG", "HU", "HR", "RS", "SK", "SI", "EE", "US", "CA",
    "MX", "BR", "AR", "CL", "CO", "PE", "JP", "KR", "CN", "HK", "SG", "TH", "VN", "MY", "ID", "PH",
    "IN", "AU", "NZ", "ZA", "EG", "MA", "KE", "NG", "IL", "AE", "SA", "TN",
];

/// Sixty countries with four companies each; every other company holds three records, far apart.
fn registry_file() -> String {
    let mut lines = String::new();
    let mut count = 0;
    for (number, country) in COUNTRIES.iter().enumerate() {
        for company in 0..4 {
            for record in 0..if company % 2 == 0 { 3 } else { 1 } {
                let a = 60 + record * 7 + number % 5;
                let b = number * 4 + company;
                let c = record * 64;
                writeln!(
                    lines,
                    "ripencc|{country}|ipv4|{a}.{b}.{c}.0|1024|20050101|allocated|\
                     {country}-{company}"
                )
                .unwrap();
                count += 1;
            }
        }
    }
    format!(
        "2|ripencc|20181012|{count}|19830101|20181012|+0000\n\
         ripencc|*|ipv4|*|{count}|summary\n{lines}"
    )
}

fn read(files: &[(String, String)]) -> Hierarchy {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(String, String)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<PathBuf> = files.iter().map(write).collect();
    // The mirror is on loopback addresses.
    let options = Options { special_purpose: true, ..Options::default() };
    rir_loader::read::read(&paths, options, &|_| {}).unwrap().hierarchy
}

fn made_up() -> Hierarchy {
    read(&[("delegated-ripencc-extended-20181012".to_owned(), registry_file())])
}

fn choose(size: Size) -> DemoWorld {
    DemoWorld::choose(&made_up(), &Geography::open(None, SEED).unwrap(), size, SEED).unwrap()
}

/// What every world must be, whatever it was chosen from.
fn assert_sound(world: &DemoWorld, hierarchy: &Hierarchy) {
    let everybody =
        || world.agents.iter().chain([&world.coordinator, &world.dns]).chain(&world.hosts);
    let addresses: BTreeSet<_> = everybody().map(|participant| participant.address).collect();
    assert_eq!(addresses.len(), everybody().count(), "an address is given twice");
    let names: BTreeSet<_> = world.hosts.iter().map(|host| &host.name).collect();
    assert_eq!(names.len(), world.hosts.len(), "a name is given twice");
    for participant in world.agents.iter().chain(&world.hosts) {
        let subnet = hierarchy.subnet(hierarchy.smallest(participant.address));
        assert_eq!(subnet.kind(), SubnetKind::Delegated, "{participant:?}");
        assert_eq!(subnet.range(), participant.record.range);
        let company = hierarchy.company(subnet.company().unwrap()).unwrap();
        assert_eq!(
            (company.registry, company.handle),
            (participant.record.registry, participant.record.handle.as_str())
        );
    }
    let cities: BTreeSet<_> = world.agents.iter().map(|agent| agent.site).collect();
    assert_eq!(cities.len(), world.agents.len(), "two agents in one city");
    for host in 0..world.hosts.len() {
        let times = (0..world.agents.len()).map(|agent| world.rtt_ms(agent, host));
        let nearest_ms = times.min_by(f64::total_cmp).unwrap();
        assert!(nearest_ms > 0.0 && nearest_ms < 400.0);
    }
}

#[test]
fn the_demo_world_is_as_large_and_as_varied_as_promised() {
    let world = choose(Size::default());
    assert_sound(&world, &made_up());
    let counts = world.counts();
    eprintln!("{counts:?}");
    assert_eq!((counts.agents, counts.hosts), (12, 300));
    assert!(
        counts.countries >= 40 && counts.subnets >= 150 && counts.companies >= 60,
        "{counts:?}"
    );
    assert!(counts.at_home >= 12 && counts.of_agents_company >= 12, "{counts:?}");
    let web = crate::web::Web::generate(&world.web_plan(6_000, 80)).unwrap();
    assert!(web.expected().count(crate::web::Class::Document) >= 6_000);
}

#[test]
fn the_same_data_and_seed_choose_the_same_world() {
    let names = |seed| {
        let geography = Geography::open(None, SEED).unwrap();
        let world = DemoWorld::choose(&made_up(), &geography, Size::default(), seed).unwrap();
        world
            .agents
            .iter()
            .chain(&world.hosts)
            .map(|it| format!("{} {}", it.name, it.address))
            .collect::<Vec<_>>()
    };
    assert_eq!(names(1), names(1));
    assert_ne!(names(1), names(2));
}

#[test]
fn hosts_are_near_agents_where_that_is_wanted() {
    let geography = Geography::open(None, SEED).unwrap();
    let size = Size { agents: 12, hosts: 60, countries: 1, near_ms: Some(15.0) };
    let near = DemoWorld::choose(&made_up(), &geography, size, SEED).unwrap();
    let world = geography.world();
    let city = |it: &Participant| world.find(&it.city).unwrap();
    let nearest = |host| {
        near.agents
            .iter()
            .map(|agent| world.rtt_ms(city(agent), city(host)))
            .fold(f64::MAX, f64::min)
    };
    assert!(near.hosts.iter().all(|host| nearest(host) <= 15.0));
    let anywhere = choose(Size { near_ms: None, ..size });
    assert!(anywhere.hosts.iter().any(|host| nearest(host) > 15.0), "it makes a difference");
}

#[test]
fn too_little_data_is_refused_with_what_is_missing() {
    let few = read(&[(
        "delegated-ripencc-extended".to_owned(),
        "2|ripencc|1|1|19830101|20181012|+0000\nripencc|*|ipv4|*|1|summary\n\
         ripencc|GR|ipv4|62.1.0.0|1024|20050101|allocated|A\n"
            .to_owned(),
    )]);
    let error = DemoWorld::choose(&few, &Geography::open(None, 1).unwrap(), Size::default(), 1)
        .unwrap_err();
    assert!(error.to_string().contains("too few for 12 agents"), "{error}");
    let size = Size { countries: 61, ..Size::default() };
    let error =
        DemoWorld::choose(&made_up(), &Geography::open(None, 1).unwrap(), size, 1).unwrap_err();
    assert!(error.to_string().contains("61 countries"), "{error}");
    assert!(Geography::open(Some(Path::new("/no/such/folder")), 1).is_err());
}

#[test]
fn the_mirror_on_loopback_has_the_same_companies_and_neighbours() {
    let world = choose(Size::default());
    let mirror = world.on_loopback().unwrap();
    let hierarchy = read(&mirror.files);
    assert_sound(&mirror.world, &hierarchy);
    assert_eq!(mirror.world.counts(), world.counts());
    assert!(
        mirror.world.agents.iter().chain(&mirror.world.hosts).all(|it| it.address.is_loopback())
    );
    // Participants of one /8 share a /16 of the mirror, and the order of addresses is kept.
    let moved = world.hosts.iter().zip(&mirror.world.hosts);
    let pairs: BTreeMap<IpAddr, IpAddr> =
        moved.map(|(from, to)| (from.address, to.address)).collect();
    assert!(pairs.values().is_sorted());
    let block = |address: &IpAddr, at: usize| match address {
        IpAddr::V4(v4) => v4.octets()[at],
        IpAddr::V6(_) => unreachable!(),
    };
    let blocks: BTreeSet<_> =
        pairs.iter().map(|(from, to)| (block(from, 0), block(to, 1))).collect();
    let originals: BTreeSet<_> = pairs.keys().map(|from| block(from, 0)).collect();
    assert_eq!(blocks.len(), originals.len());
}

/// Data that lies beside the repository.
fn real(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(folder)
}

#[test]
#[ignore = "needs rir/delegated-extended-2018 and latency/oracle-2018 of ../shared/data"]
fn the_real_registry_data_and_the_measured_oracle_make_a_world() {
    let registries = real("rir/delegated-extended-2018");
    let oracle = real("latency/oracle-2018");
    let files = rir_loader::files::files(&[registries]).unwrap();
    let hierarchy = rir_loader::read::read(&files, Options::default(), &|_| {}).unwrap().hierarchy;
    for geography in
        [Geography::open(Some(&oracle), SEED).unwrap(), Geography::open(None, SEED).unwrap()]
    {
        let world = DemoWorld::choose(&hierarchy, &geography, Size::default(), SEED).unwrap();
        assert_sound(&world, &hierarchy);
        let counts = world.counts();
        let cities: Vec<_> = world.agents.iter().map(|agent| agent.city.as_str()).collect();
        eprintln!(
            "measured: {}; {counts:?}; agents in {}",
            geography.is_measured(),
            cities.join(", ")
        );
        assert!(counts.countries >= 40 && counts.at_home >= 12, "{counts:?}");
        for agent in &world.agents {
            let mut cities = geography.world().cities().iter();
            let is_there = cities.any(|city| {
                city.name == agent.city
                    && city.country == agent.country
                    && city.corrected_position() == city.position()
            });
            assert!(is_there, "{} is not in {}", agent.city, agent.country);
        }
        let mirror = world.on_loopback().unwrap();
        assert_sound(&mirror.world, &read(&mirror.files));
    }
}
