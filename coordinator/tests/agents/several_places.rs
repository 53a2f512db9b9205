//! A large subnet whose addresses are in different places is cut, as the fetches from it show.

use std::fs;

use hierarchy::SubnetSplit;
use protocol::page::{Entry, Outcome};
use store::testing::execute;

use crate::agent::{FakeAgent, fetch};
use crate::refresh::loader;
use crate::world::{Ground, hierarchy_of, load, until};

const NEAR: &str = "198.18.0.1";
const FAR: &str = "198.18.200.1";

fn url(address: &str) -> String {
    format!("http://{address}/")
}

/// A fetch from this address over a connection that stood after `rtt_us`.
fn from(address: &str, rtt_us: u32) -> Entry {
    let mut entry = fetch(&url(address), Outcome::Unchanged { status: 304 });
    if let Entry::Fetch(fetch) = &mut entry {
        fetch.address = address.parse().ok();
        fetch.timing.as_mut().unwrap().tcp_us = rtt_us;
    }
    entry
}

#[tokio::test]
async fn fetches_from_different_places_split_a_subnet() {
    let ground = Ground::bare().await;
    let dir = tempfile::tempdir().unwrap();
    load(
        ground.store(),
        &hierarchy_of(&[("127.0.0.1 - 127.0.0.1", "home"), ("198.18.0.0/16", "wide")]),
    )
    .await;
    let loader = loader(dir.path(), "");
    let running = ground.start_changed(|config| config.registries.loader = Some(loader)).await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    running.add_seeds(&[&url(NEAR), &url(FAR)]).await;
    let order = agent.orders(&running).await.remove(0);
    agent.measured(&running, &order, 5_000).await;
    let mut routed = 0;
    while routed < 2 {
        routed += agent.routes(&running).await.len();
    }
    execute(ground.store(), "UPDATE generations SET live_at = live_at - interval '2 days'")
        .await
        .unwrap();
    for seq in 1..=3 {
        assert!(
            store::subnet_splits::all(ground.store()).await.unwrap().is_empty(),
            "two may be chance"
        );
        let another = u32::try_from(seq).unwrap();
        let entries = [from(NEAR, 5_000 + another), from(FAR, 180_000 + another)];
        let package = agent.package(seq, &entries);
        agent.ship_well(&running, seq, package).await;
        until("it is ingested", || async {
            store::packages::pending(
                ground.store(),
                &store::packages::InTurn::default(),
                crate::agent::now(),
                1,
            )
            .await
            .unwrap()
            .is_empty()
        })
        .await;
        // The next package is of another hour.
        let earlier = "UPDATE round_trips SET reported_at = reported_at - interval '1 hour',
                       counted_at = counted_at - interval '1 hour'";
        execute(ground.store(), earlier).await.unwrap();
    }
    let calls = dir.path().join("calls");
    // The shell makes the file before it writes the line.
    let called = || fs::read_to_string(&calls).is_ok_and(|calls| calls.contains('\n'));
    until("the loader was called", || std::future::ready(called())).await;
    let data_dir = running.coordinator.config.data_dir.display().to_string();
    assert_eq!(
        fs::read_to_string(&calls).unwrap().lines().next(),
        Some(format!("split --data-dir {data_dir}").as_str())
    );
    let parts = ["198.18.0.0 - 198.18.103.255", "198.18.104.0 - 198.18.255.255"];
    let expected = SubnetSplit {
        whole: "198.18.0.0/16".parse().unwrap(),
        parts: parts.map(|part| part.parse().unwrap()).into(),
    };
    assert_eq!(store::subnet_splits::all(ground.store()).await.unwrap(), [expected]);
    running.stop().await;
}
