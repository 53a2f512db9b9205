//! One random choice of agents and subnets, and the true times between them.

use std::collections::HashMap;

use delegation::{Delegation, DelegationTable};
use hierarchy::SubnetId;
use model::{AgentId, Reason};

use crate::{Noise, PlacedAgent, Placement, Site, Topology};

/// Settings of a scenario. The defaults add noise to the times, as fits geolocated targets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScenarioSettings {
    /// How many agents.
    pub agents: usize,
    /// Where they live.
    pub placement: Placement,
    /// How many new subnets, in random order, none of them an agent's home.
    pub subnets: usize,
    /// Only subnets in cities within this round trip of some agent, in milliseconds; infinite for
    /// all.
    pub near_ms: f64,
    /// Lognormal sigma of the route from an agent to a company, around the time between their
    /// cities.
    pub route_sigma: f64,
    /// Median of a subnet's own access time, in milliseconds; 0 for none.
    pub access_median_ms: f64,
    /// Lognormal sigma of the access time.
    pub access_sigma: f64,
    /// Lognormal sigma of one probe around the true time.
    pub probe_sigma: f64,
}

impl Default for ScenarioSettings {
    fn default() -> Self {
        Self {
            agents: 12,
            placement: Placement::Worldwide,
            subnets: 1000,
            near_ms: f64::INFINITY,
            route_sigma: 0.12,
            access_median_ms: 4.0,
            access_sigma: 0.8,
            probe_sigma: 0.03,
        }
    }
}

impl ScenarioSettings {
    /// Times are exactly those of the matrix.
    pub fn without_noise(agents: usize, subnets: usize) -> Self {
        Self {
            agents,
            subnets,
            route_sigma: 0.0,
            access_median_ms: 0.0,
            access_sigma: 0.0,
            probe_sigma: 0.0,
            ..Self::default()
        }
    }
}

/// Agents and new subnets, with the true times between them.
#[derive(Debug, Clone)]
pub struct Scenario<'g> {
    /// The topology that it was drawn from.
    pub topology: &'g Topology,
    pub agents: Vec<PlacedAgent>,
    /// The agents by their home subnets.
    at_home: HashMap<SubnetId, AgentId>,
    /// The subnets in the order in which they come up.
    pub sites: Vec<Site>,
    /// Subnets left out, because the time from some agent is not known.
    pub unmeasured: usize,
    settings: ScenarioSettings,
    noise: Noise,
}

/// Keys of independent streams of random numbers.
#[derive(Clone, Copy)]
enum Stream {
    Shuffle = 1,
    Route,
    Access,
    Probe,
}

impl<'g> Scenario<'g> {
    /// The same seed gives the same scenario. A topology that is too small gives fewer agents and
    /// subnets.
    pub fn new(topology: &'g Topology, settings: ScenarioSettings, seed: u64) -> Self {
        let noise = Noise::new(seed);
        let world = &topology.world;
        let mut sites = topology.sites.clone();
        sites.retain(|site| !world.is_isolated(site.city));
        sites.sort_by_key(|site| {
            noise.hash(&[Stream::Shuffle as u64, u64::from(site.subnet.get())])
        });
        let agents = settings.placement.place(topology, &sites, settings.agents, noise);
        let homes = agents.iter().map(|agent| (agent.home.subnet, agent.agent));
        let at_home: HashMap<SubnetId, AgentId> = homes.collect();
        sites.retain(|site| !at_home.contains_key(&site.subnet));
        let ms = |agent: &PlacedAgent, site: &Site| world.rtt_ms(agent.city, site.city);
        sites.retain(|site| agents.iter().all(|agent| ms(agent, site).is_finite()));
        let unmeasured = topology.sites.len() - agents.len() - sites.len();
        sites.retain(|site| agents.iter().any(|agent| ms(agent, site) <= settings.near_ms));
        sites.truncate(settings.subnets);
        Self { topology, agents, at_home, sites, unmeasured, settings, noise }
    }

    /// The round trip from an agent to a site without measurement noise, in milliseconds.
    ///
    /// Two agents that measure each other's homes see the same time: there and back is the same way
    /// from both ends.
    pub fn true_ms(&self, agent: &PlacedAgent, site: Site) -> f64 {
        let other = self.at_home.get(&site.subnet).map(|other| self.agent(*other));
        match other.filter(|other| other.agent < agent.agent) {
            Some(other) => self.drawn_ms(other, agent.home),
            None => self.drawn_ms(agent, site),
        }
    }

    /// City, route and access line together.
    fn drawn_ms(&self, agent: &PlacedAgent, site: Site) -> f64 {
        let city_ms = self.topology.world.rtt_ms(agent.city, site.city);
        let route = [Stream::Route as u64, agent.agent.get() as u64, site.company];
        let access = [Stream::Access as u64, u64::from(site.subnet.get())];
        let access_ms = self.settings.access_median_ms
            * self.noise.lognormal(self.settings.access_sigma, &access);
        city_ms * self.noise.lognormal(self.settings.route_sigma, &route) + access_ms
    }

    /// Round trip of a probe, with noise; the same probe always gives the same.
    pub fn probe_ms(&self, agent: &PlacedAgent, site: Site) -> f64 {
        let probe = [Stream::Probe as u64, agent.agent.get() as u64, u64::from(site.subnet.get())];
        self.true_ms(agent, site) * self.noise.lognormal(self.settings.probe_sigma, &probe)
    }

    /// The agent with this id.
    pub fn agent(&self, agent: AgentId) -> &PlacedAgent {
        &self.agents[(agent.get() - 1) as usize]
    }

    /// The delegation table at the beginning: every agent holds its home.
    pub fn delegation_table(&self) -> DelegationTable {
        let home = |agent: &PlacedAgent| {
            (agent.home.subnet, Delegation { agent: agent.agent, reason: Reason::Home })
        };
        DelegationTable::of(&self.topology.hierarchy, self.agents.iter().map(home))
    }

    /// The random numbers of this scenario.
    pub fn noise(&self) -> Noise {
        self.noise
    }
}
