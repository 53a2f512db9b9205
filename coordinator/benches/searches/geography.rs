//! Where the agents and subnets of the bench are, and how long the round trips between them take.

use std::net::IpAddr;

use delegation::places::{ListedPlace, listed_places};
use hierarchy::Country;
use model::{AgentId, PlaceClaim, ProbeId};

/// The most populated places are used.
const PLACES: usize = 500;
/// Milliseconds of a round trip for each kilometre: light in fibre, by a way with detours.
const MS_PER_KM: f32 = 0.014;
/// Round trip without any distance, in microseconds.
const ACCESS_US: u32 = 3_000;
/// Bound of the time that a probe waits in queues, in microseconds.
const QUEUES_US: u64 = 3_000;
/// Spreads consecutive numbers.
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Places by number.
pub(crate) struct Geography {
    places: Vec<ListedPlace>,
    /// Companies of the subnets.
    companies: u32,
}

impl Geography {
    pub(crate) fn new(subnets: u32) -> Self {
        let mut places = listed_places();
        places.sort_by(|a, b| b.population.total_cmp(&a.population));
        places.truncate(PLACES);
        Self { places, companies: (subnets / 3).max(1) }
    }

    /// The company of a subnet; three subnets belong to one.
    pub(crate) fn company(&self, subnet: u32) -> u32 {
        subnet.wrapping_mul(7_919) % self.companies
    }

    /// Country of a subnet: all subnets of a company are at one place.
    pub(crate) fn country(&self, subnet: u32) -> Country {
        self.of_subnet(subnet).country
    }

    /// Country of the agent with this number, counted from 0.
    pub(crate) fn home_country(&self, agent: u32) -> Country {
        self.of_agent(agent).country
    }

    /// What the owner of the agent says of its place.
    pub(crate) fn claim(&self, agent: u32) -> Option<PlaceClaim> {
        let (latitude, longitude) = self.of_agent(agent).position.degrees();
        PlaceClaim::new(latitude.into(), longitude.into(), None, None).ok()
    }

    /// The round trip of a probe to an address in 10.0.0.0/8, in microseconds.
    pub(crate) fn round_trip_us(&self, agent: AgentId, address: IpAddr, probe: ProbeId) -> u32 {
        let IpAddr::V4(address) = address else { return ACCESS_US };
        let [_, high, low, _] = address.octets();
        let subnet = u32::from(u16::from_be_bytes([high, low]));
        // Agents have the numbers from 1.
        let agent = self.of_agent(u32::try_from(agent.get() - 1).unwrap_or(0));
        let km = agent.position.distance_km(self.of_subnet(subnet).position);
        let queues = mixed(probe.get().unsigned_abs()) % QUEUES_US;
        ACCESS_US + (km * MS_PER_KM * 1_000.0) as u32 + queues as u32
    }

    fn of_agent(&self, agent: u32) -> &ListedPlace {
        &self.places[agent as usize % self.places.len()]
    }

    fn of_subnet(&self, subnet: u32) -> &ListedPlace {
        let number = mixed(self.company(subnet).into());
        &self.places[(number % self.places.len() as u64) as usize]
    }
}

fn mixed(number: u64) -> u64 {
    number.wrapping_mul(MIXER) >> 33
}
