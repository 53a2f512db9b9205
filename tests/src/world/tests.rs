//! Worlds chosen from made-up registry data, and from the real data where it is at hand.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hierarchy::{Hierarchy, SubnetKind};

use super::*;
use crate::referee::Rules;
use crate::web::crawler::crawl;

const SEED: u64 = 2_018;
const COUNTRIES: [&str; 60] = [
    "GR", "CY", "DE", "FR", "GB", "ES", "IT", "PT", "NL", "BE", "AT", "CH", "PL", "CZ", "RU", "UA", "TR",
    "SE", "NO", "FI", "DK", "IE", "RO", "BG", "HU", "HR", "RS", "SK", "SI", "EE", "US", "CA", "MX", "BR",
    "AR", "CL", "CO", "PE", "JP", "KR", "CN", "HK", "SG", "TH", "VN", "MY", "ID", "PH", "IN", "AU", "NZ",
    "ZA", "EG", "MA", "KE", "NG", "IL", "AE", "SA", "TN",
];

/// Sixty countries with four companies each; every other company holds three records, far apart.
fn registry_file() -> String {
    let mut lines = String::new();
    let mut count = 0;
    for (number, country) in COUNTRIES.iter().enumerate() {
        for company in 0..4 {
            for record in 0..if company % 2 == 0 { 3 } else { 1 } {
                let (a, b, c) = (60 + record * 7 + number % 5, number * 4 + company, record * 64);
                writeln!(
                    lines,
                    "ripencc|{country}|ipv4|{a}.{b}.{c}.0|1024|20050101|allocated|{country}-{company}"
                )
                .unwrap();
                count += 1;
            }
        }
    }
    format!("2|ripencc|20181012|{count}|19830101|20181012|+0000\nripencc|*|ipv4|*|{count}|summary\n{lines}")
}

fn read(files: &[(String, String)]) -> Hierarchy {
    let folder = tempfile::tempdir().unwrap();
    let write = |(name, text): &(String, String)| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    let paths: Vec<PathBuf> = files.iter().map(write).collect();
    rir_loader::read::read(&paths, &|_| {}).unwrap().hierarchy
}

fn made_up() -> Hierarchy {
    read(&[("delegated-ripencc-extended-20181012".to_owned(), registry_file())])
}

fn choose(size: Size) -> DemoWorld {
    DemoWorld::choose(&made_up(), &Atlas::open(None, SEED).unwrap(), size, SEED).unwrap()
}

/// What every world must be, whatever it was chosen from.
fn assert_sound(world: &DemoWorld, hierarchy: &Hierarchy) {
    let everybody = || world.agents.iter().chain([&world.coordinator, &world.dns]).chain(&world.hosts);
    let addresses: BTreeSet<_> = everybody().map(|resident| resident.address).collect();
    assert_eq!(addresses.len(), everybody().count(), "an address is given twice");
    let names: BTreeSet<_> = world.hosts.iter().map(|host| &host.name).collect();
    assert_eq!(names.len(), world.hosts.len(), "a name is given twice");
    for resident in world.agents.iter().chain(&world.hosts) {
        let subnet = hierarchy.subnet(hierarchy.smallest(resident.address));
        assert_eq!(subnet.kind(), SubnetKind::Delegated, "{resident:?}");
        assert_eq!(subnet.range(), resident.holding.range);
        let company = hierarchy.company(subnet.company().unwrap()).unwrap();
        assert_eq!(
            (company.registry, company.handle),
            (resident.holding.registry, resident.holding.handle.as_str())
        );
    }
    let cities: BTreeSet<_> = world.agents.iter().map(|agent| agent.site).collect();
    assert_eq!(cities.len(), world.agents.len(), "two agents in one city");
    for host in 0..world.hosts.len() {
        let nearest = world.nearest_agent(host).unwrap();
        assert!(
            (0..world.agents.len()).all(|agent| world.rtt_ms(agent, host) >= world.rtt_ms(nearest, host))
        );
        assert!(world.rtt_ms(nearest, host) > 0.0 && world.rtt_ms(nearest, host) < 400.0);
    }
}

#[test]
fn the_demo_world_is_as_large_and_as_varied_as_promised() {
    let world = choose(Size::default());
    assert_sound(&world, &made_up());
    let census = world.census();
    eprintln!("{census:?}");
    assert_eq!((census.agents, census.hosts), (12, 300));
    assert!(census.countries >= 40 && census.subnets >= 150 && census.companies >= 60, "{census:?}");
    assert!(census.at_home >= 12 && census.of_agents_company >= 12, "{census:?}");
    let web = crate::web::Web::generate(&world.web_plan(6_000, 80)).unwrap();
    assert!(web.expected().count(crate::web::Class::Document) >= 6_000);
}

#[test]
fn the_same_data_and_seed_choose_the_same_world() {
    let names = |seed| {
        let atlas = Atlas::open(None, SEED).unwrap();
        let world = DemoWorld::choose(&made_up(), &atlas, Size::default(), seed).unwrap();
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
fn too_little_data_is_refused_with_what_is_missing() {
    let few = read(&[(
        "delegated-ripencc-extended".to_owned(),
        "2|ripencc|1|1|19830101|20181012|+0000\nripencc|*|ipv4|*|1|summary\n\
         ripencc|GR|ipv4|62.1.0.0|1024|20050101|allocated|A\n"
            .to_owned(),
    )]);
    let error = DemoWorld::choose(&few, &Atlas::open(None, 1).unwrap(), Size::default(), 1).unwrap_err();
    assert!(error.to_string().contains("too few for 12 agents"), "{error}");
    let size = Size { countries: 61, ..Size::default() };
    let error = DemoWorld::choose(&made_up(), &Atlas::open(None, 1).unwrap(), size, 1).unwrap_err();
    assert!(error.to_string().contains("61 countries"), "{error}");
    assert!(Atlas::open(Some(Path::new("/no/such/folder")), 1).is_err());
}

#[test]
fn the_mirror_on_loopback_has_the_same_companies_and_neighbours() {
    let world = choose(Size::default());
    let mirror = world.on_loopback().unwrap();
    let hierarchy = read(&mirror.files);
    assert_sound(&mirror.world, &hierarchy);
    assert_eq!(mirror.world.census(), world.census());
    assert!(mirror.world.agents.iter().chain(&mirror.world.hosts).all(|it| it.address.is_loopback()));
    // Who shared an /8 shares a /16 of the mirror, and the order of addresses is kept.
    let moved = world.hosts.iter().zip(&mirror.world.hosts);
    let pairs: BTreeMap<IpAddr, IpAddr> = moved.map(|(from, to)| (from.address, to.address)).collect();
    assert!(pairs.values().is_sorted());
    let block = |address: &IpAddr, at: usize| match address {
        IpAddr::V4(v4) => v4.octets()[at],
        IpAddr::V6(_) => unreachable!(),
    };
    let blocks: BTreeSet<_> = pairs.iter().map(|(from, to)| (block(from, 0), block(to, 1))).collect();
    let originals: BTreeSet<_> = pairs.keys().map(|from| block(from, 0)).collect();
    assert_eq!(blocks.len(), originals.len());
}

/// The real data beside the repository, or none (said aloud).
fn real(folder: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data").join(folder);
    if !path.exists() {
        eprintln!("SKIPPED: {} is not here", path.display());
        return None;
    }
    Some(path)
}

#[test]
fn the_real_registry_data_and_the_measured_oracle_make_a_world() {
    let (Some(registries), Some(oracle)) = (real("rir/delegated-extended-2018"), real("latency/oracle-2018"))
    else {
        return;
    };
    let files = rir_loader::files::files(&[registries]).unwrap();
    let hierarchy = rir_loader::read::read(&files, &|_| {}).unwrap().hierarchy;
    for atlas in [Atlas::open(Some(&oracle), SEED).unwrap(), Atlas::open(None, SEED).unwrap()] {
        let world = DemoWorld::choose(&hierarchy, &atlas, Size::default(), SEED).unwrap();
        assert_sound(&world, &hierarchy);
        let census = world.census();
        let cities: Vec<_> = world.agents.iter().map(|agent| agent.city.as_str()).collect();
        eprintln!("measured: {}; {census:?}; agents in {}", atlas.is_measured(), cities.join(", "));
        assert!(census.countries >= 40 && census.at_home >= 12, "{census:?}");
        let mirror = world.on_loopback().unwrap();
        assert_sound(&mirror.world, &read(&mirror.files));
    }
}

fn small() -> Size {
    Size { agents: 3, hosts: 8, countries: 3 }
}

/// Opens the stage at real addresses, or none (said aloud) where there can be no virtual internet.
fn open_internet(documents: usize) -> Option<Stage> {
    match Stage::open(choose(small()), documents) {
        Err(error) if error.is_unavailable() => {
            eprintln!("SKIPPED: no virtual internet here: {error}");
            None
        }
        other => Some(other.unwrap()),
    }
}

fn assert_near(what: &str, took: Duration, rtt_ms: f64) {
    let measured = took.as_secs_f64() * 1_000.0;
    assert!((measured - rtt_ms).abs() <= 2.0 + rtt_ms * 0.05, "{what}: {measured:.2} ms for {rtt_ms:.2} ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_the_internet_stage_distances_names_and_pages_are_those_of_the_world() {
    let Some(stage) = open_internet(40) else { return };
    let proof = stage.prove_isolated().unwrap().unwrap();
    assert_eq!(proof.namespaces, 6);
    for host in 0..stage.world().hosts.len() {
        let to = SocketAddr::new(stage.world().hosts[host].address, 80);
        let connect = || {
            let start = Instant::now();
            TcpStream::connect_timeout(&to, Duration::from_secs(3)).unwrap();
            start.elapsed()
        };
        let took = stage.run(Who::Agent(1), || (0..3).map(|_| connect()).min().unwrap()).unwrap();
        assert_near("a handshake", took, stage.world().rtt_ms(1, host));
    }
    // An honest crawl from inside, with every socket opened there.
    let crawl = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(crawl(stage.web()))
    };
    let seen = stage.run(Who::Agent(0), crawl).unwrap();
    let report = stage.referee().report(&Rules { least_gap: Duration::ZERO });
    assert!(report.coverage.is_complete() && report.disallowed_fetched == 0, "{report}");
    assert_eq!(seen.statuses.len(), report.unique);
    assert_eq!(report.agents[0].address, stage.address(Who::Agent(0)).unwrap());
    assert_eq!(stage.links().unwrap().traffic().unknown, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_name_server_answers_inside() {
    let Some(stage) = open_internet(40) else { return };
    let host = &stage.world().hosts[0];
    let mut question = hickory_proto::op::Message::query();
    let name = host.name.parse::<hickory_proto::rr::Name>().unwrap();
    question.add_query(hickory_proto::op::Query::query(name, hickory_proto::rr::RecordType::A));
    let ask = || {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket.send_to(&question.to_vec().unwrap(), stage.resolver()).unwrap();
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).unwrap();
        hickory_proto::op::Message::from_vec(&buffer[..length]).unwrap()
    };
    let answer = stage.run(Who::Agent(2), ask).unwrap();
    assert_eq!(answer.answers[0].data.ip_addr(), Some(host.address));
}

#[tokio::test]
async fn on_loopback_the_web_imposes_the_distances() {
    let mirror = choose(small()).on_loopback().unwrap();
    let stage = Stage::open(mirror.world, 40).unwrap();
    assert!(stage.prove_isolated().unwrap().is_none() && stage.links().is_none());
    let _ = rustls::crypto::ring::default_provider().install_default();
    for agent in 0..3 {
        let client = reqwest::Client::builder().no_proxy().local_address(stage.address(Who::Agent(agent)));
        let client = client.build().unwrap();
        for host in [0, 5] {
            let url = format!("http://{}:{}/", stage.world().hosts[host].address, stage.web().port());
            client.head(&url).send().await.unwrap();
            let start = Instant::now();
            client.head(&url).send().await.unwrap();
            assert_near("a HEAD", start.elapsed(), stage.world().rtt_ms(agent, host));
        }
    }
    assert_eq!(stage.referee().report(&Rules { least_gap: Duration::ZERO }).probes, 12);
}
