//! Fault schedules, drawn from a seed.

use std::collections::BTreeSet;

use region::Peer;

use crate::dice::Dice;

#[derive(Debug, Clone)]
pub(crate) enum Fault {
    /// The process ends, perhaps after some effects of its next step, and starts again later.
    Crash { node: usize, down_ms: u64, keeps_disk: bool, after_effects: u64 },
    /// The process ends and stays away until the region is healed.
    CrashForLong { node: usize },
    /// These directed links carry nothing for a while.
    Cut { links: BTreeSet<(Peer, Peer)>, for_ms: u64 },
    /// An agent is cut off, and soon all others and the coordinator end and start again: no voter
    /// remembers the agent but by its disk.
    Restart { cut: usize, links: BTreeSet<(Peer, Peer)>, for_ms: u64, keeps_disk: bool },
    /// The coordinator ends and starts again with its disk.
    CoordinatorCrash,
    /// Many messages are lost or slow for a while.
    Loss { per_mille: u64, for_ms: u64 },
    /// The agent announces a sleep.
    Sleep { node: usize, for_ms: u64 },
    /// No message to or from the coordinator arrives.
    CoordinatorAway { for_ms: u64 },
    /// A new epoch with another weight of an agent.
    Weight { node: usize, weight: u16 },
    /// A host's subnet is delegated to another agent, or spread.
    Delegate { host: usize, to: Option<usize> },
    /// The last agent joins the roster.
    Join,
}

/// When faults end and everything is healed, in true milliseconds.
pub(crate) const HEALED: u64 = 400_000;

/// Faults of one run, each with its time.
pub(crate) fn schedule(
    peers: &[Peer],
    hosts: usize,
    loses_disks: bool,
    dice: &mut Dice,
) -> Vec<(u64, Fault)> {
    let count = dice.between(2, 9);
    let mut faults = Vec::new();
    for _ in 0..count {
        let at = dice.between(5_000, HEALED - 20_000);
        let fault = draw(peers, hosts, loses_disks, at, &mut faults, dice);
        faults.push((at, fault));
    }
    faults.sort_by_key(|(at, _)| *at);
    faults
}

fn draw(
    peers: &[Peer],
    hosts: usize,
    loses_disks: bool,
    at: u64,
    faults: &mut Vec<(u64, Fault)>,
    dice: &mut Dice,
) -> Fault {
    let agents = peers.len() - 1;
    let node = dice.index(agents);
    let for_ms = dice.between(3_000, 200_000).min(HEALED - at);
    match dice.between(0, 14) {
        0 | 1 => Fault::Crash {
            node,
            down_ms: dice.between(2_000, 150_000),
            keeps_disk: !loses_disks || dice.per_mille(500),
            after_effects: dice.between(0, 6),
        },
        2 => Fault::CrashForLong { node },
        3 => Fault::Cut { links: partition(peers, dice), for_ms },
        4 => Fault::Cut { links: one_way(peers, dice), for_ms },
        5 => {
            // A flapping link is many short cuts.
            let links = isolation(peers, node);
            let mut from = at;
            for _ in 0..dice.between(3, 12) {
                from += dice.between(2_000, 25_000);
                if from >= HEALED - 10_000 {
                    break;
                }
                let for_ms = dice.between(1_000, 10_000);
                faults.push((from, Fault::Cut { links: links.clone(), for_ms }));
            }
            Fault::Cut { links, for_ms: 1_000 }
        }
        6 => Fault::Loss { per_mille: dice.between(50, 500), for_ms },
        7 => Fault::Sleep { node, for_ms },
        8 => Fault::CoordinatorAway { for_ms },
        9 => Fault::Weight { node, weight: dice.between(1, 8) as u16 },
        10 => {
            Fault::Delegate { host: dice.index(hosts), to: (!dice.per_mille(300)).then_some(node) }
        }
        11 => Fault::Join,
        12 => Fault::CoordinatorCrash,
        _ => Fault::Restart {
            cut: node,
            links: isolation(peers, node),
            for_ms,
            keeps_disk: !loses_disks || dice.per_mille(700),
        },
    }
}

/// All links between two groups, in both directions.
fn partition(peers: &[Peer], dice: &mut Dice) -> BTreeSet<(Peer, Peer)> {
    let sides: Vec<bool> = peers.iter().map(|_| dice.per_mille(500)).collect();
    let mut links = BTreeSet::new();
    for (a, side_a) in peers.iter().zip(&sides) {
        for (b, side_b) in peers.iter().zip(&sides) {
            if side_a != side_b {
                links.insert((*a, *b));
            }
        }
    }
    links
}

/// Some links, each in one direction.
fn one_way(peers: &[Peer], dice: &mut Dice) -> BTreeSet<(Peer, Peer)> {
    let count = dice.between(1, 4);
    (0..count).map(|_| (peers[dice.index(peers.len())], peers[dice.index(peers.len())])).collect()
}

/// All links of one agent.
fn isolation(peers: &[Peer], node: usize) -> BTreeSet<(Peer, Peer)> {
    let lone = peers[node];
    peers.iter().flat_map(|peer| [(lone, *peer), (*peer, lone)]).collect()
}
