//! Placement of the agents of a scenario.

use std::collections::{HashMap, HashSet};

use clap::ValueEnum;
use hierarchy::Registry;
use model::AgentId;
use serde::Serialize;

use crate::{CityId, Noise, Site, Topology};

/// How agents are spread over the cities that have sites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ValueEnum)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// In turn from each registry's region, cities drawn uniformly within it: the paper's
    /// "affiliated organizations world-wide". Uniform without registries
    Worldwide,
    /// Cities drawn uniformly; a third of the measured ones are in the United States
    Uniform,
}

/// An agent of a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlacedAgent {
    /// Its id; agents are numbered from 1.
    pub agent: AgentId,
    pub city: CityId,
    /// Its home subnet.
    pub home: Site,
}

/// Key of the stream of random numbers that orders cities.
const CITY: u64 = 103;

impl Placement {
    /// So many agents in different cities (again from the start where there are more agents than
    /// cities), each at home in a subnet of its own. `sites` are shuffled: the first free one of a
    /// city is as good as any.
    pub(crate) fn place(
        self,
        topology: &Topology,
        sites: &[Site],
        agents: usize,
        noise: Noise,
    ) -> Vec<PlacedAgent> {
        let mut free = sites_by_city(sites);
        let cities = self.order(topology, &free, noise);
        let visits = cities.iter().cycle().take(agents.min(sites.len()) * cities.len());
        let homes = visits.filter_map(|city| free.get_mut(city).and_then(Vec::pop)).take(agents);
        let numbered = (1..).map(AgentId::new).zip(homes);
        numbered.map(|(agent, home)| PlacedAgent { agent, city: home.city, home }).collect()
    }

    /// All cities, those that get agents first at the front.
    fn order(
        self,
        topology: &Topology,
        sites: &HashMap<CityId, Vec<Site>>,
        noise: Noise,
    ) -> Vec<CityId> {
        let mut cities: Vec<CityId> = sites.keys().copied().collect();
        cities.sort_by_key(|city| noise.hash(&[CITY, city.get() as u64]));
        if self == Self::Worldwide {
            let mut of_region: HashMap<Option<Registry>, usize> = HashMap::new();
            cities.sort_by_cached_key(|city| {
                let rank = of_region.entry(region(topology, &sites[city])).or_default();
                *rank += 1;
                *rank
            });
        }
        cities
    }
}

fn sites_by_city(sites: &[Site]) -> HashMap<CityId, Vec<Site>> {
    let mut by_city: HashMap<CityId, Vec<Site>> = HashMap::new();
    for site in sites.iter().rev() {
        by_city.entry(site.city).or_default().push(*site);
    }
    by_city
}

/// The registry of most sites of a city.
fn region(topology: &Topology, sites: &[Site]) -> Option<Registry> {
    let of = |site: &Site| topology.hierarchy.subnet(site.subnet).registry();
    let registries: Vec<Registry> = sites.iter().filter_map(of).collect();
    let known: HashSet<Registry> = registries.iter().copied().collect();
    known
        .into_iter()
        .max_by_key(|one| (registries.iter().filter(|other| *other == one).count(), *one))
}
