//! Properties of the ring: contravariance, least movement, balance.
#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use model::AgentId;
use proptest::prelude::*;
use region::ring::{Ring, Share};

/// Agents whose living ones are drawn as bits of a number.
const AGENTS: u8 = 16;
const REPLICAS: u32 = 40;

fn share(number: u8, replicas: u32) -> Share {
    Share { agent: AgentId::new(i64::from(number)), key: [number; 32], replicas }
}

fn ring_of(agents: u16) -> Ring {
    let chosen = (0..AGENTS).filter(|number| agents >> number & 1 == 1);
    Ring::new(&chosen.map(|number| share(number, REPLICAS)).collect::<Vec<_>>()).unwrap()
}

fn owner(ring: &Ring, position: u64, living: u16) -> Option<AgentId> {
    ring.order(position).find(|agent| living >> agent.get() & 1 == 1)
}

/// Position of the host with this number (a step of the golden section, which spreads numbers).
fn position(number: u64) -> u64 {
    let spread = (number + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    spread.rotate_left(23).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

/// A million cases: a host, a set of living agents, and a larger set.
#[test]
fn more_living_agents_never_move_a_host_between_old_ones() {
    let ring = ring_of(u16::MAX);
    for case in 0..1_000_000_u64 {
        let bits = position(case ^ 0x5555_5555_5555);
        let large = (bits >> 16) as u16 | 1 << (bits >> 60);
        let small = large & bits as u16;
        let before = owner(&ring, position(case), small);
        let after = owner(&ring, position(case), large).unwrap();
        let is_old = small >> after.get() & 1 == 1;
        assert!(!is_old || before == Some(after), "case {case}: {before:?} and {after}");
    }
}

proptest! {
    /// Skipping agents gives the owners of a ring that never had them.
    #[test]
    fn skipped_agents_might_as_well_be_absent(
        living in 1_u16..,
        hosts in any::<[u64; 32]>(),
    ) {
        let all = ring_of(u16::MAX);
        let few = ring_of(living);
        for host in hosts {
            prop_assert_eq!(owner(&all, host, living), few.order(host).next());
        }
    }

    /// A change of an agent's weight moves hosts only to it or from it, and never both.
    #[test]
    fn weights_move_hosts_of_one_agent_only(
        agent in 0..AGENTS,
        light in 1_u32..8,
        more in 1_u32..8,
        hosts in any::<[u64; 32]>(),
    ) {
        let weighted = |weight: u32| {
            let replicas = |number| if number == agent { weight * REPLICAS } else { REPLICAS };
            let shares: Vec<Share> =
                (0..AGENTS).map(|number| share(number, replicas(number))).collect();
            Ring::new(&shares).unwrap()
        };
        let before = weighted(light);
        let after = weighted(light + more);
        let heavier = Some(AgentId::new(i64::from(agent)));
        for host in hosts {
            let owner = before.order(host).next();
            prop_assert!(owner == after.order(host).next() || after.order(host).next() == heavier);
        }
    }
}

/// The paper's figures hold for the mean deviation with the nearest replica: sqrt(1/2k) times the
/// mean of a standard normal variable's absolute value, 5.6 % and 4.0 %.
#[test]
fn hosts_are_balanced() {
    for (replicas, limit) in [(100, 0.06), (200, 0.045)] {
        let mut deviations = Vec::new();
        for ring in 0..8_u8 {
            let key = |number| [ring.wrapping_mul(31) ^ number; 32];
            let shares: Vec<Share> = (0..100)
                .map(|number| Share { key: key(number), ..share(number, replicas) })
                .collect();
            let ring = Ring::new(&shares).unwrap();
            deviations.extend(ring.shares().iter().map(|(_, share)| (share * 100.0 - 1.0).abs()));
        }
        let mean = deviations.iter().sum::<f64>() / deviations.len() as f64;
        assert!(mean < limit, "{mean} with {replicas} replicas");
    }
}
