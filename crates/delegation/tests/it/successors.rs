//! Successors are measured, have room where any has, and are the nearest of those.

use std::collections::BTreeMap;

use delegation::successors::{LeavingSubnet, successors};
use model::AgentId;
use proptest::prelude::*;

use crate::map::agent;

fn subnet(load: u64, measured: &[(i64, u32)]) -> LeavingSubnet {
    LeavingSubnet { load, measured: measured.iter().map(|(who, us)| (agent(*who), *us)).collect() }
}

fn room(free: &[(i64, u64)]) -> BTreeMap<AgentId, u64> {
    free.iter().map(|(who, pages)| (agent(*who), *pages)).collect()
}

#[test]
fn the_nearest_agent_with_room_takes_over() {
    let subnets = [
        subnet(10, &[(1, 900), (2, 500)]),
        subnet(30, &[(1, 900), (2, 500)]),
        subnet(5, &[]),
        subnet(5, &[(9, 1)]),
    ];
    let found = successors(&subnets, room(&[(1, 100), (2, 35)]));
    assert_eq!(found, [Some(agent(1)), Some(agent(2)), None, None], "the largest chooses first");
}

#[test]
fn without_room_anywhere_the_nearest_takes_over() {
    let subnets = [subnet(10, &[(1, 900), (2, 500)])];
    assert_eq!(successors(&subnets, room(&[(1, 3), (2, 0)])), [Some(agent(2))]);
}

fn any_subnet() -> impl Strategy<Value = LeavingSubnet> {
    let measured = prop::collection::vec((0_i64..6, 1_u32..50), 0..5);
    (1_u64..20, measured).prop_map(|(load, measured)| subnet(load, &measured))
}

proptest! {
    #[test]
    fn no_nearer_agent_has_room_left(
        subnets in prop::collection::vec(any_subnet(), 0..12),
        free in prop::collection::vec((0_i64..6, 0_u64..60), 0..6),
    ) {
        let mut room = room(&free);
        let found = successors(&subnets, room.clone());
        for (subnet, successor) in subnets.iter().zip(&found) {
            if let Some(left) = successor.and_then(|agent| room.get_mut(&agent)) {
                *left = left.saturating_sub(subnet.load);
            }
        }
        for (subnet, successor) in subnets.iter().zip(&found) {
            let mut able: Vec<(u32, AgentId)> = subnet
                .measured
                .iter()
                .filter(|(agent, _)| room.contains_key(agent))
                .map(|(agent, us)| (*us, *agent))
                .collect();
            able.sort_unstable();
            let before = able.iter().take_while(|(_, agent)| Some(*agent) != *successor);
            prop_assert_eq!(successor.is_some(), !able.is_empty());
            for (_, nearer) in before {
                prop_assert!(room[nearer] < subnet.load, "{nearer} is nearer and has room");
            }
        }
    }
}
