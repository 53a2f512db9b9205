//! Limits on the requests that strangers send.

use std::net::IpAddr;

use store::join_requests::{self, EntryOutcome, Limits, New};

use crate::world::{NOW, World};

const LIMITS: Limits = Limits { per_network: 2, per_site: 3, window_ms: 3_600_000, waiting: 6 };

/// What becomes of a request from this network.
async fn enter(world: &World, network: &str, hours: i64) -> EntryOutcome {
    let network: IpAddr = network.parse().unwrap();
    let new = New {
        name: "Library",
        contact: "a@example.edu",
        place: "",
        zone: "UTC",
        spans: &[],
        message: "",
        network,
    };
    let now = NOW.plus_ms(hours * 3_600_000);
    join_requests::create(world.store(), &new, LIMITS, now).await.unwrap()
}

#[tokio::test]
async fn neither_a_network_nor_a_site_of_ipv6_fills_the_queue() {
    let world = World::new().await;
    let is_entered = async |network, hours| {
        matches!(enter(&world, network, hours).await, EntryOutcome::Entered(_))
    };
    assert!(is_entered("192.0.2.1", 0).await && is_entered("192.0.2.1", 0).await);
    assert_eq!(enter(&world, "192.0.2.1", 0).await, EntryOutcome::NetworkFull);
    for network in ["2001:db8:1:1::", "2001:db8:1:2::", "2001:db8:1:3::"] {
        assert!(is_entered(network, 0).await, "{network}");
    }
    assert_eq!(enter(&world, "2001:db8:1:4::", 0).await, EntryOutcome::NetworkFull);
    assert!(is_entered("2001:db8:2:1::", 0).await, "another site");
    assert_eq!(enter(&world, "2001:db8:1:4::", 2).await, EntryOutcome::QueueFull, "in later hours");
}
