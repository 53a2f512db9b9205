//! Rosters and settings of a simulated region.

use std::collections::BTreeSet;

use model::{AgentId, RegionId};
use protocol::key::{AgentKey, CoordinatorKey};
use region::delegations::{Change, Delegate, Range};
use region::roster::{Delta, Mode, Roster, RosterAgent, SignedDelta, SignedRoster, Version};
use region::{Drift, Settings, View};

use crate::dice::Dice;
use crate::web::address;

pub(crate) const SETTINGS: Settings = Settings {
    heartbeat_ms: 5_000,
    suspect_ms: 16_000,
    term_ms: 60_000,
    renew_ms: 12_000,
    fetch_ms: 8_000,
    gap_ms: 2_500,
    drift: Drift { ppm: 20_000 },
    linger_ms: 200,
    resend_ms: 6_000,
    recovery_ms: 5_000,
    waiting_urls: 10_000,
    hosts_a_step: 7,
};

/// What the coordinator signs.
pub(crate) struct Registrar {
    key: CoordinatorKey,
    pub(crate) roster: Roster,
    pub(crate) view: View,
}

fn entry(agent: AgentId) -> RosterAgent {
    RosterAgent::new(agent, AgentKey::from_seed([agent.get() as u8; 32]).public())
}

fn subnet(host: usize) -> Range {
    let std::net::IpAddr::V4(address) = address(host) else { unreachable!() };
    let [a, b, c, _] = address.octets();
    Range { first: [a, b, c, 0].into(), last: [a, b, c, 255].into() }
}

impl Registrar {
    pub(crate) fn new(
        mode: Mode,
        agents: &[AgentId],
        hosts: usize,
        recovery: u8,
        dice: &mut Dice,
    ) -> Self {
        let key = CoordinatorKey::from_seed([9; 32]);
        let mut delegate = || {
            if dice.per_mille(500) {
                Delegate::Agent(agents[dice.index(agents.len())])
            } else {
                Delegate::Spread
            }
        };
        let roster = Roster {
            region: RegionId::new(1),
            epoch: 1,
            voters_since: 1,
            mode,
            replicas: 12,
            recovery,
            agents: agents.iter().map(|agent| entry(*agent)).collect(),
            delegations: (0..hosts).map(|host| (subnet(host), delegate())).collect(),
        };
        let signed = SignedRoster::new(&key, &roster).unwrap();
        let view = View::open(&key.public(), signed).unwrap();
        Self { key, roster, view }
    }

    pub(crate) fn public(&self) -> protocol::key::PublicKey {
        self.key.public()
    }

    pub(crate) fn agents(&self) -> BTreeSet<AgentId> {
        self.roster.agents.iter().map(|entry| entry.agent).collect()
    }

    pub(crate) fn weigh(&mut self, agent: AgentId, weight: u16) {
        for entry in &mut self.roster.agents {
            if entry.agent == agent {
                entry.weight = weight;
            }
        }
        self.next_epoch();
    }

    pub(crate) fn add(&mut self, agent: AgentId) {
        self.roster.agents.push(entry(agent));
        self.roster.voters_since = self.roster.epoch + 1;
        self.next_epoch();
    }

    fn next_epoch(&mut self) {
        self.roster.epoch += 1;
        self.roster.delegations = self.view.delegations().iter().collect();
        let signed = SignedRoster::new(&self.key, &self.roster).unwrap();
        self.view = View::open(&self.key.public(), signed).unwrap();
    }

    pub(crate) fn delegate(&mut self, host: usize, delegate: Delegate) {
        let version = Version { delta: self.view.version().delta + 1, ..self.view.version() };
        let changes = vec![Change::Set(subnet(host), delegate)];
        let delta = Delta { region: self.roster.region, version, changes };
        let signed = SignedDelta::new(&self.key, &delta).unwrap();
        self.view = self.view.after(&self.key.public(), signed).unwrap();
    }
}
