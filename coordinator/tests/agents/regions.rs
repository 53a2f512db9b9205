//! Regions whose rows cannot be read.

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
