//! Makes the database: the hierarchy by the loader's way, everything else by SQL.

use std::time::Instant;

use hierarchy::{
    Builder, CompanyIndex, Country, Generation, Hierarchy, Record, Registry, SubnetKind,
};
use protocol::key::AgentKey;
use store::Store;
use store::generations::Load;
use store::testing::execute;

use crate::cities::Cities;
use crate::homes;

/// Part of the full size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale(pub(crate) f64);

impl Scale {
    pub(crate) fn of(self, full: u32) -> u32 {
        (f64::from(full) * self.0).round().max(1.0) as u32
    }

    /// The number of agents: each delegation search asks three of them, and the lists are of the
    /// seventh.
    pub(crate) fn agents(self) -> u32 {
        self.of(AGENTS).max(10)
    }
}

/// Hosts in one statement.
const CHUNK: u32 = 500_000;

/// The numbers of everything at full size.
const AGENTS: u32 = 1_000;
const SUBNETS: u32 = 2_000_000;
const HOSTS: u32 = 5_000_000;
const PACKAGES: u32 = 1_000_000;

/// The secret key of an agent, by its number from 1.
pub(crate) fn key(agent: u32) -> AgentKey {
    let mut seed = [7; 32];
    seed[..4].copy_from_slice(&agent.to_le_bytes());
    AgentKey::from_seed(seed)
}

pub(crate) async fn fill(store: &Store, scale: Scale) {
    let subnets = scale.of(SUBNETS);
    let agents = scale.agents();
    let mut load = Load::wait(store).await.unwrap();
    let cities = Cities::new();
    load.copy(&hierarchy(agents, subnets, &cities), &|_| {}).await.unwrap();
    load.swap(Instant::now(), &[]).await.unwrap();
    eprintln!("the hierarchy is loaded");
    run(store, PLACES.to_owned()).await;
    for agent in 1..=agents {
        run(store, insert_agent(agent, &cities)).await;
    }
    run(store, homes::insert(&homes::measured(agents, &cities))).await;
    // Partitions are made from a day on: those of past days as well.
    for days in [4, 1, 0] {
        store::partitions::keep(store, now().plus_ms(-days * 86_400_000)).await.unwrap();
    }
    let numbers = [
        ("{agents}", agents),
        ("{subnets}", subnets),
        ("{days}", 2),
        ("{packages}", scale.of(PACKAGES)),
    ];
    for statement in include_str!("fill.sql").split(";\n") {
        let statement = numbers.iter().fold(statement.to_owned(), |text, (word, number)| {
            text.replace(word, &number.to_string())
        });
        if statement.contains("{from}") {
            for from in (0..scale.of(HOSTS)).step_by(CHUNK as usize) {
                let to = (from + CHUNK).min(scale.of(HOSTS)) - 1;
                let part = statement.replace("{from}", &from.to_string());
                run(store, part.replace("{to}", &to.to_string())).await;
            }
        } else if statement.contains("INSERT") || statement.contains("UPDATE") {
            run(store, statement).await;
        }
    }
    store::overview::add_up(store).await.unwrap();
    run(store, "VACUUM ANALYZE".to_owned()).await;
}

async fn run(store: &Store, statement: String) {
    let begun = Instant::now();
    let rows = execute(store, Box::leak(statement.clone().into_boxed_str())).await.unwrap();
    if begun.elapsed().as_secs() >= 5 {
        let table = statement.split("INTO ").nth(1).unwrap_or(&statement);
        let table = table.split_whitespace().next().unwrap_or_default();
        eprintln!("{rows} rows of {table} in {:.0} s", begun.elapsed().as_secs_f64());
    }
}

fn now() -> model::UnixMillis {
    use coordinator::runtime::clock::{Clock as _, SystemClock};
    SystemClock.now()
}

/// The delegable subnets by number.
const PLACES: &str = "CREATE UNLOGGED TABLE place AS
    SELECT (row_number() OVER (ORDER BY ordinal) - 1)::int AS place, first, last
    FROM subnets WHERE kind = 'delegated' AND NOT first <<= '127.0.0.0/8'";

fn insert_agent(agent: u32, cities: &Cities) -> String {
    let place = serde_json::to_string(&cities.claim(agent.into()).unwrap()).unwrap();
    let key = data_encoding::HEXLOWER.encode(&key(agent).public().to_bytes());
    format!(
        "INSERT INTO agents (public_key, state, name, contact, version,
             capacity_pages_per_day, zone, home, place, last_heartbeat_at, status)
         VALUES (decode('{key}', 'hex'), 'approved', 'agent {agent}', 'https://example.org/',
             '0.1.0', 1000000, 'UTC', '{}', '{place}',
             now() + interval '1 day', '{{\"queued\": 5}}')",
        home(agent),
    )
}

fn home(agent: u32) -> String {
    format!("127.{}.{}.1", agent >> 8, agent & 255)
}

/// Subnets of 16 addresses in blocks of 65,536, three of a company, and a home for each agent.
fn hierarchy(agents: u32, subnets: u32, cities: &Cities) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    let cyprus: Option<Country> = "CY".parse().ok();
    let mut add = |range: String, kind, company: Option<String>, country| {
        builder.add(Record {
            range: range.parse().unwrap(),
            kind,
            registry: Some(Registry::RipeNcc),
            company: company.map(|name| companies.number(Registry::RipeNcc, &name)),
            country,
        });
    };
    for agent in 1..=agents {
        let range = format!("{}/32", home(agent));
        let country = Some(cities.get(agent.into()).country);
        add(range, SubnetKind::Delegated, Some(format!("home {agent}")), country);
    }
    for block in 0..subnets.div_ceil(4_096) {
        let first = std::net::Ipv4Addr::from_bits((16 << 24) + (block << 16));
        add(format!("{first}/16"), SubnetKind::Block, None, cyprus);
    }
    for number in 0..subnets {
        let first = std::net::Ipv4Addr::from_bits((16 << 24) + (number << 4));
        let company = number.wrapping_mul(7_919) % (subnets / 3).max(1);
        let company = Some(format!("company {company}"));
        add(format!("{first}/28"), SubnetKind::Delegated, company, cyprus);
    }
    builder.build(Generation::new(0), companies.into_companies()).0
}
