//! Quotas on what agents discover.

use serde_json::json;

use crate::agent::link;
use crate::agents::two_agents;
use crate::browser::Browser;
use crate::world::{Ground, counts, until};

#[tokio::test]
async fn what_is_beyond_the_quotas_of_an_agent_is_refused_and_shown() {
    let ground = Ground::new().await;
    let running = ground.start().await;
    let browser = Browser::signed_in(&ground, &running).await;
    let quotas = json!({ "discovered_hosts_per_agent": 2, "discovered_urls_per_agent": 4 });
    let policy = browser.put("/api/v1/policy", quotas).await.well();
    assert_eq!(policy["discovered_hosts_per_agent"], 2);
    let (one, two) = two_agents(&running).await;
    let days = |id| {
        let browser = browser.clone();
        async move { browser.read(&format!("/api/v1/agents/{id}/discovery")).await["days"].clone() }
    };
    let links: Vec<_> = (1..6).map(|host| link(&format!("http://198.51.100.{host}/"))).collect();
    one.ship_well(&running, 1, one.package(1, &links)).await;
    until("the package is ingested", || async {
        days(one.id).await[0]["refused_urls"].as_u64() == Some(3)
            && days(one.id).await[0]["urls"].as_u64() == Some(2)
    })
    .await;
    assert_eq!(days(one.id).await[0]["new_hosts"], 2);
    // The same day, next package: two more URLs, and no new host.
    let more: Vec<_> = (1..6).map(|page| link(&format!("http://198.51.100.1/{page}"))).collect();
    one.ship_well(&running, 2, one.package(2, &more)).await;
    until("the second package is ingested", || async {
        days(one.id).await[0]["refused_urls"].as_u64() == Some(6)
            && days(one.id).await[0]["urls"].as_u64() == Some(4)
    })
    .await;
    // Quotas are those of one agent.
    two.ship_well(&running, 1, two.package(1, &links)).await;
    until("the package of the other agent is ingested", || async {
        days(two.id).await[0]["refused_urls"].as_u64().is_some_and(|refused| refused < 5)
    })
    .await;
    assert!(counts(&ground, &running).await.hosts.known <= 4);
    running.stop().await;
}
