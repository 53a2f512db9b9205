//! Which connections are admitted, and which are closed for them.

use std::net::Ipv4Addr;

use super::*;

const BOUNDS: Bounds = Bounds { in_all: 10, strangers: 6, per_network: 4, per_agent: 2 };

fn from(number: u32) -> Source {
    Source::Network(Network::from(std::net::IpAddr::from(Ipv4Addr::from(number))))
}

/// Connections 1, 2, … from these sources, in this order.
fn admitted(sources: impl IntoIterator<Item = Source>) -> Connections {
    let mut connections = Connections::new(BOUNDS);
    for (id, source) in (1..).zip(sources) {
        assert_eq!(connections.admit(id, source), Admission::Open);
    }
    connections
}

#[test]
fn a_network_at_its_bound_replaces_its_own_longest_idle_connection() {
    let mut connections = admitted([from(9), from(1), from(1), from(1), from(1)]);
    assert_eq!(connections.admit(6, from(1)), Admission::OpenInsteadOf(2));
    assert_eq!(connections.admit(7, from(2)), Admission::Open, "another network has room");
    // Connection 3 works, and becomes idle last.
    connections.mark_busy(3);
    connections.mark_idle(3);
    assert_eq!(connections.admit(8, from(1)), Admission::OpenInsteadOf(4));
}

#[test]
fn connections_with_a_request_are_never_closed_for_others() {
    let mut connections = admitted([from(1), from(1), from(1), from(1)]);
    (1..=4).for_each(|id| connections.mark_busy(id));
    assert_eq!(connections.admit(5, from(1)), Admission::Refused);
    connections.remove(2);
    assert_eq!(connections.admit(6, from(1)), Admission::Open);
}

#[test]
fn strangers_cannot_take_the_room_of_agents() {
    let mut connections = admitted((1..=6).map(from));
    (1..=6).for_each(|id| connections.mark_busy(id));
    assert_eq!(connections.admit(7, from(7)), Admission::Refused);
    // As soon as one of them proves to be an agent's, there is room again.
    connections.mark_agent(1, AgentId::new(1));
    assert_eq!(connections.admit(8, from(8)), Admission::Open);
}

#[test]
fn at_the_bound_of_strangers_no_connection_of_a_proxy_makes_room() {
    let mut connections = admitted([Source::Proxy].into_iter().chain((1..=6).map(from)));
    (2..=7).for_each(|id| connections.mark_busy(id));
    assert_eq!(connections.admit(8, from(7)), Admission::Refused);
    connections.mark_idle(3);
    assert_eq!(connections.admit(9, from(8)), Admission::OpenInsteadOf(3));
    assert_eq!(connections.strangers, 6);
}

#[test]
fn one_agent_has_few_connections_of_its_own() {
    let mut connections = admitted((1..=3).map(from));
    (1..=3).for_each(|id| connections.mark_agent(id, AgentId::new(1)));
    assert_eq!((connections.agents[&AgentId::new(1)], connections.strangers), (2, 1));
    (1..=3).for_each(|id| connections.remove(id));
    assert_eq!((connections.agents.len(), connections.strangers), (0, 0));
    assert!(connections.networks.is_empty() && connections.idle.is_empty());
}

#[test]
fn a_trusted_proxy_is_bounded_only_in_all() {
    let mut connections = admitted([Source::Proxy; 10]);
    assert_eq!(connections.admit(11, Source::Proxy), Admission::OpenInsteadOf(1));
    (2..=11).for_each(|id| connections.mark_busy(id));
    assert_eq!(connections.admit(12, from(1)), Admission::Refused);
}

/// With the shipped limits, 1,000 agents with two connections each stay, and each can still
/// connect, while strangers open connections from everywhere and send nothing.
#[test]
fn a_thousand_agents_fit_beside_a_flood_of_silent_strangers() {
    let mut connections = Connections::new(Bounds::from(&Limits::default()));
    for agent in 0..1_000_u32 {
        for connection in 0..2 {
            let id = u64::from(agent) * 2 + connection;
            assert_ne!(connections.admit(id, from(agent)), Admission::Refused);
            for silent in 0..20 {
                let id = 1_000_000 + id * 20 + silent;
                let source = from(u32::try_from(id).unwrap());
                assert_ne!(connections.admit(id, source), Admission::Refused);
            }
            connections.mark_agent(id, AgentId::new(i64::from(agent) + 1));
        }
    }
    assert_eq!(connections.agents.values().sum::<usize>(), 2_000);
    assert!(connections.open.len() <= connections.bounds.in_all);
}
