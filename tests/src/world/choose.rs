//! Choice of agents, then of hosts in the proportions that give every phase of a search some work.

use std::collections::BTreeSet;

use hierarchy::Hierarchy;
use rand::SeedableRng as _;
use rand::seq::SliceRandom as _;
use rand_chacha::ChaCha8Rng;

use super::candidate::{Candidate, candidates};
use super::demo::{DemoWorld, WorldSources};
use super::error::WorldError;
use super::geography::Geography;
use super::shortlist::Shortlist;
use super::spread;

/// How large a world shall be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Size {
    pub agents: usize,
    pub hosts: usize,
    /// Fewest countries that the hosts are in.
    pub countries: usize,
    /// Only hosts in cities at most so many milliseconds from an agent's; anywhere without it.
    pub near_ms: Option<f64>,
}

impl Default for Size {
    /// The demo's: 12 agents, 300 hosts in at least 40 countries.
    fn default() -> Self {
        Self { agents: 12, hosts: 300, countries: 40, near_ms: None }
    }
}

/// Hosts in other subnets of each agent's company.
const OF_AGENTS_COMPANY: usize = 3;
/// Hosts of one other company, each in a subnet of its own.
const OF_ONE_COMPANY: usize = 3;

impl DemoWorld {
    /// Chooses the world: the same for the same data, geography, size and seed.
    pub fn choose(
        hierarchy: &Hierarchy,
        geography: &Geography,
        size: Size,
        seed: u64,
    ) -> Result<Self, WorldError> {
        let candidates = candidates(hierarchy, geography, seed);
        let mut chance = ChaCha8Rng::seed_from_u64(seed);
        let mut list = Shortlist::new(&candidates, ChaCha8Rng::from_rng(&mut chance));
        let agents = agents(&mut list, geography, &candidates, size)?;
        let (coordinator, dns) = centre(&mut list, geography, &agents)?;
        if let Some(near_ms) = size.near_ms {
            let near = |from: &Candidate, to| geography.world().rtt_ms(from.city, to) <= near_ms;
            list.keep(|candidate| agents.iter().any(|agent| near(agent, candidate.city)));
        }
        let mut hosts = hosts(&mut list, &agents, size);
        hosts.shuffle(&mut chance);
        check(&hosts, size)?;
        Ok(Self::from_choice(
            &WorldSources { hierarchy, geography, seed },
            &agents,
            (coordinator, dns),
            &hosts,
        ))
    }
}

fn agents(
    list: &mut Shortlist,
    geography: &Geography,
    candidates: &[Candidate],
    size: Size,
) -> Result<Vec<Candidate>, WorldError> {
    let mut agents = Vec::with_capacity(size.agents);
    // An agent has the name of its city, which may be the nearest one to an address abroad.
    let is_home = |candidate: &Candidate| geography.is_in_country_of_city(candidate);
    let homes: Vec<Candidate> = candidates.iter().copied().filter(is_home).collect();
    for city in spread::cities(geography.world(), candidates, &homes, size.agents) {
        if let Some(home) = list.home(city, is_home, &agents).filter(|home| list.take(home)) {
            agents.push(home);
        }
    }
    if agents.len() < size.agents {
        return Err(WorldError::TooFew {
            what: "agents",
            found: agents.len(),
            wanted: size.agents,
        });
    }
    Ok(agents)
}

/// The coordinator and the name server: in the city from which the agents are nearest, of those
/// that have two addresses to spare.
fn centre(
    list: &mut Shortlist,
    geography: &Geography,
    agents: &[Candidate],
) -> Result<(Candidate, Candidate), WorldError> {
    let sum = |from: &Candidate| -> f64 {
        agents.iter().map(|to| geography.world().rtt_ms(from.city, to.city)).sum()
    };
    let mut middles: Vec<&Candidate> = agents.iter().collect();
    middles.sort_by(|a, b| sum(a).total_cmp(&sum(b)));
    let mut one = |city| list.home(city, |_| true, agents).filter(|home| list.take(home));
    let both = middles.into_iter().find_map(|middle| one(middle.city).zip(one(middle.city)));
    both.ok_or(WorldError::TooFew { what: "servers", found: 0, wanted: 2 })
}

fn hosts(list: &mut Shortlist, agents: &[Candidate], size: Size) -> Vec<Candidate> {
    let mut hosts = Hosts { list, most: size.hosts, chosen: Vec::with_capacity(size.hosts) };
    for agent in agents {
        hosts.add_neighbour(agent);
        hosts.add_company(agent, OF_AGENTS_COMPANY);
    }
    for candidate in hosts.list.of_each_country().into_iter().take(size.hosts / 3) {
        hosts.add(candidate);
    }
    // What is kept free here goes to hosts that share a subnet with another.
    let families = size.hosts * 17 / 20;
    for company in hosts.list.families() {
        if hosts.chosen.len() >= families {
            break;
        }
        for candidate in hosts.list.of_company(company, None, OF_ONE_COMPANY) {
            hosts.add(candidate);
        }
    }
    hosts.fill_with_neighbours();
    hosts.chosen
}

/// Hosts as they are chosen.
struct Hosts<'l> {
    list: &'l mut Shortlist,
    most: usize,
    chosen: Vec<Candidate>,
}

impl Hosts<'_> {
    fn add(&mut self, candidate: Candidate) {
        if self.chosen.len() < self.most && self.list.take(&candidate) {
            self.chosen.push(candidate);
        }
    }

    fn add_neighbour(&mut self, of: &Candidate) {
        if let Some(neighbour) = self.list.neighbour(of) {
            self.add(neighbour);
        }
    }

    fn add_company(&mut self, agent: &Candidate, most: usize) {
        for candidate in self.list.of_company(agent.company, Some(agent.range), most) {
            self.add(candidate);
        }
    }

    fn fill_with_neighbours(&mut self) {
        let before = self.chosen.clone();
        for of in before.iter().cycle().take(self.most * 2) {
            self.add_neighbour(of);
        }
    }
}

fn check(hosts: &[Candidate], size: Size) -> Result<(), WorldError> {
    let countries = hosts.iter().map(|host| host.country).collect::<BTreeSet<_>>().len();
    if hosts.len() < size.hosts {
        return Err(WorldError::TooFew { what: "hosts", found: hosts.len(), wanted: size.hosts });
    }
    if countries < size.countries {
        return Err(WorldError::TooFew {
            what: "countries",
            found: countries,
            wanted: size.countries,
        });
    }
    Ok(())
}
