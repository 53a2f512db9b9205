//! Admission of connections: pure bookkeeping of what is open, and of what is closed to make room.
//!
//! A connection belongs to a stranger until a request on it proves the session of an agent.
//! Strangers have a bound in all and a bound per network. At a bound, a new connection takes the
//! place of the one that is idle longest among those that count there, because a client that waits
//! for an answer or has just connected has a better claim than a silent one. A trusted proxy
//! carries many clients, so only the bound in all counts for its connections.

use std::collections::{BTreeMap, HashMap};

use model::AgentId;

use crate::http::network::Network;
use crate::runtime::config::Limits;

/// Number of a connection, unique while the process runs.
pub(super) type ConnectionId = u64;

/// How many connections may be open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Connections of all clients together.
    pub in_all: usize,
    /// Connections that no agent has proved to be its own.
    pub strangers: usize,
    /// Connections of strangers from one network.
    pub per_network: usize,
    /// Connections that count as one agent's; more of them count as a stranger's.
    pub per_agent: usize,
}

/// An agent has one connection for its heartbeat and one for each upload at a time.
const PER_AGENT: usize = 16;

impl From<&Limits> for Bounds {
    fn from(limits: &Limits) -> Self {
        let in_all = limits.connections as usize;
        Self {
            in_all,
            strangers: in_all.saturating_sub(limits.connections_for_agents as usize).max(1),
            per_network: limits.connections_per_address as usize,
            per_agent: PER_AGENT,
        }
    }
}

/// The peer of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Source {
    /// A client in this network.
    Network(Network),
    /// A trusted reverse proxy.
    Proxy,
}

/// Whether a connection may be opened.
enum Room {
    /// The bounds are not reached.
    Free,
    /// This idle connection is closed first.
    InsteadOf(ConnectionId),
    /// A bound is reached and no connection is idle.
    None,
}

/// What happens to a new connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Admission {
    /// It is open now.
    Open,
    /// It is open now, and this other connection has to be closed for it.
    OpenInsteadOf(ConnectionId),
    /// It has to be closed at once.
    Refused,
}

struct Entry {
    source: Source,
    agent: Option<AgentId>,
    /// Key in the maps of idle connections; none during a request.
    idle: Option<u64>,
}

/// Idle connections, the one that is idle longest first.
type IdleConnections = BTreeMap<u64, ConnectionId>;

#[derive(Default)]
struct OfNetwork {
    open: usize,
    idle: IdleConnections,
}

/// A bound that is reached.
enum Bound<'a> {
    PerNetwork(&'a OfNetwork),
    Strangers,
    InAll,
}

/// All open connections.
pub(super) struct Connections {
    bounds: Bounds,
    open: HashMap<ConnectionId, Entry>,
    strangers: usize,
    networks: HashMap<Network, OfNetwork>,
    agents: HashMap<AgentId, usize>,
    idle: IdleConnections,
    next_idle: u64,
}

impl Connections {
    pub(super) fn new(bounds: Bounds) -> Self {
        Self {
            bounds,
            open: HashMap::new(),
            strangers: 0,
            networks: HashMap::new(),
            agents: HashMap::new(),
            idle: IdleConnections::new(),
            next_idle: 0,
        }
    }

    /// Lets a new connection in, if need be instead of an idle one.
    pub(super) fn admit(&mut self, id: ConnectionId, source: Source) -> Admission {
        let victim = match self.room(source) {
            Room::Free => None,
            Room::None => return Admission::Refused,
            Room::InsteadOf(victim) => {
                self.remove(victim);
                Some(victim)
            }
        };
        if let Source::Network(network) = source {
            self.strangers += 1;
            self.networks.entry(network).or_default().open += 1;
        }
        self.open.insert(id, Entry { source, agent: None, idle: None });
        self.mark_idle(id);
        victim.map_or(Admission::Open, Admission::OpenInsteadOf)
    }

    /// Whether the bounds leave room for a new connection. At a bound, the connection that was idle
    /// longest makes room.
    fn room(&self, source: Source) -> Room {
        let victim = match self.reached(source) {
            None => return Room::Free,
            Some(Bound::PerNetwork(full)) => full.idle.values().next(),
            // The connection of a proxy does not count as a stranger's: it would make no room.
            Some(Bound::Strangers) => self.idle.values().find(|id| self.is_of_network(**id)),
            Some(Bound::InAll) => self.idle.values().next(),
        };
        victim.map_or(Room::None, |victim| Room::InsteadOf(*victim))
    }

    /// The narrowest bound that a new connection would pass.
    fn reached(&self, source: Source) -> Option<Bound<'_>> {
        if let Source::Network(network) = source {
            let of_network = self.networks.get(&network);
            let full = of_network.filter(|network| network.open >= self.bounds.per_network);
            if let Some(full) = full {
                return Some(Bound::PerNetwork(full));
            }
            if self.strangers >= self.bounds.strangers {
                return Some(Bound::Strangers);
            }
        }
        (self.open.len() >= self.bounds.in_all).then_some(Bound::InAll)
    }

    fn is_of_network(&self, id: ConnectionId) -> bool {
        self.open.get(&id).is_some_and(|entry| matches!(entry.source, Source::Network(_)))
    }

    /// A request has begun: the connection is not closed for another one.
    pub(super) fn mark_busy(&mut self, id: ConnectionId) {
        let Some(entry) = self.open.get_mut(&id) else { return };
        let Some(idle) = entry.idle.take() else { return };
        self.idle.remove(&idle);
        if let Source::Network(network) = entry.source
            && let Some(of_network) = self.networks.get_mut(&network)
        {
            of_network.idle.remove(&idle);
        }
    }

    /// No request is in progress any more, or the first has not come yet.
    pub(super) fn mark_idle(&mut self, id: ConnectionId) {
        let Some(entry) = self.open.get_mut(&id) else { return };
        if entry.agent.is_some() || entry.idle.is_some() {
            return;
        }
        let idle = self.next_idle;
        self.next_idle += 1;
        entry.idle = Some(idle);
        self.idle.insert(idle, id);
        if let Source::Network(network) = entry.source
            && let Some(of_network) = self.networks.get_mut(&network)
        {
            of_network.idle.insert(idle, id);
        }
    }

    /// A request proved the session of `agent`, so the connection no longer counts as a stranger's.
    pub(super) fn mark_agent(&mut self, id: ConnectionId, agent: AgentId) {
        let Some(entry) = self.open.get(&id) else { return };
        let Source::Network(network) = entry.source else { return };
        let of_agent = self.agents.get(&agent).copied().unwrap_or_default();
        if entry.agent.is_some() || of_agent >= self.bounds.per_agent {
            return;
        }
        self.mark_busy(id);
        self.leave_strangers(network);
        self.agents.insert(agent, of_agent + 1);
        if let Some(entry) = self.open.get_mut(&id) {
            entry.agent = Some(agent);
        }
    }

    /// The connection is closed.
    pub(super) fn remove(&mut self, id: ConnectionId) {
        self.mark_busy(id);
        let Some(entry) = self.open.remove(&id) else { return };
        match (entry.agent, entry.source) {
            (Some(agent), _) => {
                if let Some(count) = self.agents.get_mut(&agent) {
                    *count -= 1;
                    if *count == 0 {
                        self.agents.remove(&agent);
                    }
                }
            }
            (None, Source::Network(network)) => self.leave_strangers(network),
            (None, Source::Proxy) => {}
        }
    }

    fn leave_strangers(&mut self, network: Network) {
        self.strangers -= 1;
        if let Some(of_network) = self.networks.get_mut(&network) {
            of_network.open -= 1;
            if of_network.open == 0 {
                self.networks.remove(&network);
            }
        }
    }
}

#[cfg(test)]
mod tests;
