//! Regions whose rows cannot be read, and regions of a leader that was deposed.

use coordinator::placement::regions::form_regions;
use store::regions;
use store::testing::execute;

use crate::agent::FakeAgent;
use crate::world::{Ground, until};

#[tokio::test]
async fn a_region_that_cannot_be_read_stops_no_other() {
    let ground = Ground::new().await;
    let store = ground.store();
    let damaged = "INSERT INTO regions (name, settings, view, lent_until, formed_at)
                   VALUES ('damaged', '{}', '', now(), now())";
    execute(store, damaged).await.unwrap();
    let running = ground.start_changed(|config| config.regions.enabled = true).await;
    running.until_hierarchy_is_loaded().await;
    for (seed, label) in [(1, "damaged"), (2, "damaged"), (3, "whole"), (4, "whole")] {
        let agent = FakeAgent::approved(&running, seed).await;
        let address = "http://127.0.0.1:9".to_owned();
        assert!(regions::announce(store, agent.id, &[address], Some(label)).await.unwrap());
    }
    until("the other region is formed", || async {
        form_regions::run(&running.coordinator.regions).await.unwrap();
        regions::list(store).await.unwrap().iter().any(|region| region.name == "whole")
    })
    .await;
    assert_eq!(regions::list(store).await.unwrap().len(), 2, "the name is not used again");
    let members = regions::members(store).await.unwrap();
    assert_eq!(members.values().map(Vec::len).collect::<Vec<_>>(), [2]);
    running.stop().await;
}

#[tokio::test]
async fn a_deposed_leader_publishes_nothing_and_stands_again() {
    let ground = Ground::new().await;
    let store = ground.store();
    let running = ground.start_changed(|config| config.regions.enabled = true).await;
    running.until_hierarchy_is_loaded().await;
    let announce = async |agent: &FakeAgent, address: &str| {
        regions::announce(store, agent.id, &[address.to_owned()], Some("whole")).await.unwrap()
    };
    let members = [FakeAgent::approved(&running, 1).await, FakeAgent::approved(&running, 2).await];
    for member in &members {
        assert!(announce(member, "http://127.0.0.1:9").await);
    }
    let leader = &running.coordinator.leader;
    let form = || form_regions::run(&running.coordinator.regions);
    until("the region is formed", || async {
        form().await.unwrap();
        !regions::list(store).await.unwrap().is_empty()
    })
    .await;
    let term = leader.term().unwrap();
    // Another coordinator is elected, and publishes a view.
    let elected = "WITH another AS (UPDATE settings SET value = to_jsonb(value::bigint + 1)
                                    WHERE name = 'leader_term')
                   UPDATE regions SET view = 'another'";
    execute(store, elected).await.unwrap();
    assert!(announce(&members[0], "http://127.0.0.1:10").await);
    until("it does not lead in that term any more", || async {
        form().await.unwrap();
        leader.term() != Some(term)
    })
    .await;
    until("it stands again", async || leader.is_leader()).await;
    assert_eq!(regions::list(store).await.unwrap()[0].view, b"another");
    running.stop().await;
}
