//! Where the agents and subnets of the bench are, and how long the round trips between them take.

use std::net::IpAddr;

use delegation::places::ListedPlace;
use hierarchy::Country;
use model::{AgentId, PlaceClaim, ProbeId};

use crate::cities::{ACCESS_US, Cities, round_trip_us};

/// Bound of the time that a probe waits in queues, in microseconds.
const QUEUES_US: u64 = 3_000;
/// Spreads consecutive numbers.
const MIXER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Places by number.
pub(crate) struct Geography {
    cities: Cities,
    /// Companies of the subnets.
    companies: u32,
}

impl Geography {
    pub(crate) fn new(subnets: u32) -> Self {
        Self { cities: Cities::new(), companies: (subnets / 3).max(1) }
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
        self.cities.get(agent.into()).country
    }

    /// What the owner of the agent says of its place.
    pub(crate) fn claim(&self, agent: u32) -> Option<PlaceClaim> {
        self.cities.claim(agent.into())
    }

    /// The round trip of a probe to an address in 10.0.0.0/8, in microseconds.
    pub(crate) fn round_trip_us(&self, agent: AgentId, address: IpAddr, probe: ProbeId) -> u32 {
        let IpAddr::V4(address) = address else { return ACCESS_US };
        let [_, high, low, _] = address.octets();
        let subnet = u32::from(u16::from_be_bytes([high, low]));
        // Agents have the numbers from 1.
        let agent = self.cities.get(agent.get().unsigned_abs() - 1);
        let queues = mixed(probe.get().unsigned_abs()) % QUEUES_US;
        round_trip_us(agent, self.of_subnet(subnet)) + queues as u32
    }

    fn of_subnet(&self, subnet: u32) -> &ListedPlace {
        self.cities.get(mixed(self.company(subnet).into()))
    }
}

fn mixed(number: u64) -> u64 {
    number.wrapping_mul(MIXER) >> 33
}
