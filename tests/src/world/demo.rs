//! A world: its participants, their registry records, and the distances between them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;

use hierarchy::{Country, Hierarchy, Range, Registry};
use lab::City;
use model::PlaceClaim;
use serde::Serialize;

use super::candidate::Candidate;
use super::geography::Geography;
use super::name;
use super::place::Places;
use crate::net::{NodePlan, PlacedAddress, Plan, Site};
use crate::web::{HostPlan, WebPlan};

/// The registry record that an address is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryRecord {
    pub range: Range,
    /// Whose record it is.
    pub registry: Registry,
    /// The holder's handle at that registry; empty where the record names none.
    pub handle: String,
    /// The record's country.
    pub country: Country,
}

/// Somebody with an address.
#[derive(Debug, Clone)]
pub struct Participant {
    /// Name of the node or host.
    pub name: String,
    pub address: IpAddr,
    /// City in the matrix.
    pub city: String,
    /// Where the city is, with the errors of the matrix's list corrected; none where it has none.
    pub place: Option<PlaceClaim>,
    /// Two capital letters, by the registry record.
    pub country: String,
    pub record: RegistryRecord,
    /// Place in the matrix.
    pub site: Site,
}

/// Numbers about a world, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct WorldCounts {
    pub agents: usize,
    pub hosts: usize,
    /// Countries of the hosts.
    pub countries: usize,
    /// Cities of agents and hosts.
    pub cities: usize,
    /// Registry records that the hosts are in.
    pub subnets: usize,
    /// Companies that hold these.
    pub companies: usize,
    /// Hosts in the record of an agent.
    pub at_home: usize,
    /// Hosts in another record of an agent's company.
    pub of_agents_company: usize,
}

/// Where a world is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetworkKind {
    /// At real addresses, for network namespaces.
    Namespaces,
    /// At 127.x addresses.
    Loopback,
}

#[derive(Debug, Clone)]
pub struct DemoWorld {
    /// The crawler agents.
    pub agents: Vec<Participant>,
    pub coordinator: Participant,
    /// The name server.
    pub dns: Participant,
    /// The web hosts.
    pub hosts: Vec<Participant>,
    pub(super) places: Places,
    pub(super) network_kind: NetworkKind,
    pub(super) seed: u64,
}

/// What a sources is made from.
pub(super) struct WorldSources<'c> {
    pub(super) hierarchy: &'c Hierarchy,
    pub(super) geography: &'c Geography,
    pub(super) seed: u64,
}

/// Share of packets lost on every way: enough to happen, not enough to be noticed.
const LOSS: f64 = 0.000_2;

/// Where a city of the matrix is.
fn place(city: &City) -> Option<PlaceClaim> {
    let (latitude, longitude) = city.corrected_position()?;
    PlaceClaim::new(latitude, longitude, Some(city.name.clone()), None).ok()
}

impl DemoWorld {
    /// Gives the chosen candidates names and sites.
    pub(super) fn from_choice(
        sources: &WorldSources<'_>,
        agents: &[Candidate],
        (coordinator, dns): (Candidate, Candidate),
        hosts: &[Candidate],
    ) -> Self {
        let everybody = agents.iter().chain([&coordinator, &dns]).chain(hosts);
        let (places, sites) =
            Places::of(sources.geography.world(), everybody.map(|candidate| candidate.city));
        let participant = |candidate: &Candidate, name: String| {
            let site = sites.get(&candidate.city).copied().unwrap_or(Site(0));
            Participant {
                name,
                address: candidate.address.into(),
                city: places.city(site).to_owned(),
                place: place(&sources.geography.world().cities()[candidate.city.get()]),
                country: candidate.country.as_str().to_owned(),
                record: record(sources.hierarchy, candidate),
                site,
            }
        };
        let agent = |(number, it): (usize, &Candidate)| participant(it, format!("agent-{number}"));
        let host = |(number, it): (usize, &Candidate)| {
            let mut host = participant(it, String::new());
            host.name = name::host(number, &host.city, &host.country, sources.seed);
            host
        };
        Self {
            agents: agents.iter().enumerate().map(agent).collect(),
            coordinator: participant(&coordinator, "coordinator".to_owned()),
            dns: participant(&dns, "dns".to_owned()),
            hosts: hosts.iter().enumerate().map(host).collect(),
            places,
            network_kind: NetworkKind::Namespaces,
            seed: sources.seed,
        }
    }

    /// Round trip between an agent and a host, in milliseconds: the truth that probes should find.
    pub fn rtt_ms(&self, agent: usize, host: usize) -> f64 {
        match (self.agents.get(agent), self.hosts.get(host)) {
            (Some(agent), Some(host)) => self.places.rtt_ms(agent.site, host.site),
            _ => f64::INFINITY,
        }
    }

    /// The agent at that address.
    pub fn agent_at(&self, address: IpAddr) -> Option<usize> {
        self.agents.iter().position(|agent| agent.address == address)
    }

    /// Where it is.
    pub fn network_kind(&self) -> NetworkKind {
        self.network_kind
    }

    /// Numbers for people.
    pub fn counts(&self) -> WorldCounts {
        let company = |participant: &Participant| {
            (participant.record.registry, participant.record.handle.clone())
        };
        let agents: BTreeSet<_> = self.agents.iter().map(company).collect();
        let homes: BTreeSet<_> = self.agents.iter().map(|agent| agent.record.range).collect();
        let (at_home, away): (Vec<_>, Vec<_>) =
            self.hosts.iter().partition(|host| homes.contains(&host.record.range));
        WorldCounts {
            agents: self.agents.len(),
            hosts: self.hosts.len(),
            countries: self.hosts.iter().map(|host| &host.country).collect::<BTreeSet<_>>().len(),
            cities: self
                .agents
                .iter()
                .chain(&self.hosts)
                .map(|it| it.site)
                .collect::<BTreeSet<_>>()
                .len(),
            subnets: self.hosts.iter().map(|host| host.record.range).collect::<BTreeSet<_>>().len(),
            companies: self.hosts.iter().map(company).collect::<BTreeSet<_>>().len(),
            at_home: at_home.len(),
            of_agents_company: away.iter().filter(|host| agents.contains(&company(host))).count(),
        }
    }

    /// The virtual internet of this world: a node for each agent, the coordinator and the name
    /// server, and one that is all web hosts.
    pub fn internet_plan(&self) -> Plan {
        let alone = |participant: &Participant| NodePlan {
            name: participant.name.clone(),
            addresses: vec![PlacedAddress { address: participant.address, site: participant.site }],
        };
        let hosts =
            self.hosts.iter().map(|host| (host.address, host.site)).collect::<BTreeMap<_, _>>();
        let web = NodePlan {
            name: WEB.to_owned(),
            addresses: hosts
                .into_iter()
                .map(|(address, site)| PlacedAddress { address, site })
                .collect(),
        };
        let servers = [&self.coordinator, &self.dns];
        let nodes = self.agents.iter().chain(servers).map(alone).chain([web]).collect();
        Plan { nodes, paths: self.places.paths(LOSS), seed: self.seed }
    }

    /// The web of this world with so many documents, as [`crate::web::Web::generate`] takes it.
    pub fn web_plan(&self, documents: usize, port: u16) -> WebPlan {
        let host = |participant: &Participant| HostPlan {
            name: participant.name.clone(),
            address: participant.address,
            country: participant.country.clone(),
            city: participant.city.clone(),
        };
        let count = self.hosts.len();
        WebPlan {
            hosts: self.hosts.iter().map(host).collect(),
            seeds: (count / 50).clamp(1, count.max(1)),
            documents,
            port,
            dead_names: count / 60,
            slow_hosts: count / 60,
            seed: self.seed,
        }
    }
}

/// Name of the node that is all web hosts.
pub(super) const WEB: &str = "web";

fn record(hierarchy: &Hierarchy, candidate: &Candidate) -> RegistryRecord {
    let company = hierarchy.company(candidate.company);
    RegistryRecord {
        range: candidate.range,
        // A candidate has a company, and a company a registry.
        registry: company.map_or(Registry::RipeNcc, |company| company.registry),
        handle: company.map_or("", |company| company.handle).to_owned(),
        country: candidate.country,
    }
}
