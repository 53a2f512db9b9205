use super::*;

fn share(number: u8, replicas: u32) -> Share {
    Share { agent: AgentId::new(i64::from(number)), key: [number; 32], replicas }
}

fn ring(agents: u8, replicas: u32) -> Ring {
    Ring::new(&(1..=agents).map(|number| share(number, replicas)).collect::<Vec<_>>()).unwrap()
}

/// Order by definition: every agent's smallest distance, sorted.
fn expected(shares: &[Share], position: u64) -> Vec<AgentId> {
    let mut nearest: Vec<(u64, AgentId)> = Vec::new();
    for share in shares {
        let points = replicas(&share.key).take(share.replicas as usize);
        let distances =
            points.map(|point| point.wrapping_sub(position).min(position.wrapping_sub(point)));
        nearest.extend(distances.min().map(|distance| (distance, share.agent)));
    }
    nearest.sort_unstable();
    nearest.into_iter().map(|(_, agent)| agent).collect()
}

#[test]
fn the_order_is_that_of_the_distances() {
    let shares: Vec<Share> = (1..=9).map(|number| share(number, 5 * u32::from(number))).collect();
    let ring = Ring::new(&shares).unwrap();
    let ends = [0, 1, u64::MAX, 1 << 63, (1 << 63) - 1];
    let spread = (0..2_000_u64).map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15));
    for position in spread.chain(ends).chain(ring.points.clone()) {
        let order: Vec<AgentId> = ring.order(position).collect();
        assert_eq!(order, expected(&shares, position), "{position}");
    }
}

#[test]
fn small_rings_have_an_order() {
    assert_eq!(ring(0, 5).order(3).count(), 0);
    assert_eq!(ring(1, 1).order(u64::MAX).count(), 1);
    assert_eq!(ring(2, 1).order(7).count(), 2);
    // An agent without replicas is in no order.
    let ring = Ring::new(&[share(1, 0), share(2, 3)]).unwrap();
    assert_eq!(ring.order(7).collect::<Vec<_>>(), [AgentId::new(2)]);
}

#[test]
fn a_point_has_one_agent() {
    let twin = Share { agent: AgentId::new(9), ..share(1, 3) };
    let refused = Ring::new(&[share(1, 3), share(2, 3), twin]);
    assert_eq!(refused, Err(RingError::Collision(AgentId::new(1), AgentId::new(9))));
}

#[test]
fn shares_are_the_whole_circle() {
    for agents in [1, 2, 30] {
        let total: f64 = ring(agents, 50).shares().iter().map(|(_, share)| share).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }
    assert!((ring(1, 1).shares()[0].1 - 1.0).abs() < 1e-9);
}
