//! What agents report instead of what they measure.

use clap::ValueEnum;

use crate::{Noise, PlacedAgent, Scenario, Site};

/// What the first agent of a scenario reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forgery {
    /// What it measures.
    None,
    /// One microsecond, whatever the target is.
    Constant,
    /// Half of what it measures.
    Half,
    /// Between 1 and 300 ms, logarithmically uniform.
    Random,
}

/// What is unusual about the second agent of a scenario, which is honest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Irregularity {
    /// Nothing is unusual
    None,
    /// A satellite link: 550 ms more, of which a tenth varies
    Satellite,
    /// A line whose round trips vary by half
    Noisy,
    /// The address it enrolled from is that of a proxy, where the third agent lives
    Proxy,
    /// It shares its building with the first agent: the same routes, 0.2 ms apart
    Neighbour,
}

/// Keys of independent streams of random numbers.
#[derive(Clone, Copy)]
enum Stream {
    Random = 211,
    Irregular,
}

const SATELLITE_MS: f64 = 550.0;
const SATELLITE_SIGMA: f64 = 0.1;
const NOISY_SIGMA: f64 = 0.5;
const NEIGHBOUR_MS: f64 = 0.2;
const LEAST_MS: f64 = 0.001;
const MOST_RANDOM_MS: f64 = 300.0;

/// The reports of all agents of a scenario.
#[derive(Clone, Copy)]
pub(super) struct Reports<'s> {
    pub(super) scenario: &'s Scenario<'s>,
    pub(super) forgery: Forgery,
    pub(super) irregularity: Irregularity,
}

impl Reports<'_> {
    /// What `agent` measures.
    pub(super) fn measured_ms(self, agent: &PlacedAgent, site: Site) -> f64 {
        let scenario = self.scenario;
        if agent.agent.get() != 2 {
            return scenario.probe_ms(agent, site);
        }
        let keys = [Stream::Irregular as u64, u64::from(site.subnet.get())];
        let normal = scenario.noise().normal(&keys);
        match self.irregularity {
            Irregularity::None | Irregularity::Proxy => scenario.probe_ms(agent, site),
            Irregularity::Satellite => {
                let varies = SATELLITE_MS * SATELLITE_SIGMA * normal.abs();
                scenario.probe_ms(agent, site) + SATELLITE_MS + varies
            }
            Irregularity::Noisy => {
                scenario.probe_ms(agent, site) * (1.0 + NOISY_SIGMA * normal.abs())
            }
            Irregularity::Neighbour => scenario.probe_ms(&scenario.agents[0], site) + NEIGHBOUR_MS,
        }
    }

    /// What `agent` reports.
    pub(super) fn reported_ms(self, agent: &PlacedAgent, site: Site) -> f64 {
        let ms = self.measured_ms(agent, site);
        if agent.agent.get() != 1 {
            return ms;
        }
        match self.forgery {
            Forgery::None => ms,
            Forgery::Constant => LEAST_MS,
            Forgery::Half => ms / 2.0,
            Forgery::Random => random_ms(self.scenario.noise(), site),
        }
    }

    /// The site at which other agents find the home address of `agent`.
    pub(super) fn home(self, agent: &PlacedAgent) -> Site {
        let agents = &self.scenario.agents;
        match (agent.agent.get(), self.irregularity) {
            (2, Irregularity::Proxy) => agents.get(2).unwrap_or(agent).home,
            (2, Irregularity::Neighbour) => agents[0].home,
            _ => agent.home,
        }
    }
}

fn random_ms(noise: Noise, site: Site) -> f64 {
    let draw = noise.uniform(&[Stream::Random as u64, u64::from(site.subnet.get())]);
    MOST_RANDOM_MS.powf(draw)
}
