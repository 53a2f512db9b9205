//! Probes that belong to no search.

use model::ProbeMethod;
use protocol::{ProbeReport, ProbeResult};
use store::probes::{self, NewReports};
use store::testing::execute;

use crate::world::{NOW, World, ip};

#[tokio::test]
async fn an_address_is_checked_without_a_search() {
    let world = World::new().await;
    let agent = world.approved(1, None).await;
    let check = "INSERT INTO probes (purpose, agent, target, target_host, target_port, asked_at)
         SELECT 'check', id, '198.51.100.7', 'a.example:81', 81, to_timestamp(1800000000)
         FROM agents";
    execute(world.store(), check).await.unwrap();
    let address = ip("198.51.100.7");
    let orders = probes::orders(world.store(), agent, &[], 10, 10).await.unwrap();
    let order = &orders[0];
    assert_eq!((orders.len(), order.samples), (1, 10));
    assert_eq!((order.address, order.host.as_str(), order.port), (address, "a.example:81", 81));
    assert_eq!(probes::expire(world.store(), NOW, NOW.plus_ms(-60_000), NOW).await.unwrap(), 1);
    let result = ProbeResult::Measured { method: ProbeMethod::Tcp, rtt_us: 9_000, samples: 10 };
    let report = [ProbeReport { probe: order.probe, result }];
    let news = probes::report(world.store(), agent, &report, NOW).await.unwrap();
    assert_eq!(news, NewReports { check: 1, ..NewReports::default() }, "late is better than never");
    assert_eq!(
        probes::report(world.store(), agent, &report, NOW).await.unwrap(),
        NewReports::default()
    );
    let spent = probes::count_since(world.store(), NOW).await.unwrap();
    assert_eq!((spent.len(), spent[0].address, spent[0].probes), (1, address, 1));
    assert!(probes::count_since(world.store(), NOW.plus_ms(1)).await.unwrap().is_empty());
}

#[tokio::test]
async fn each_purpose_has_what_it_needs() {
    let world = World::new().await;
    world.approved(1, None).await;
    for wrong in [
        "INSERT INTO probes (purpose, agent) VALUES ('check', 1)",
        "INSERT INTO probes (purpose, agent, target, target_host) VALUES ('check', 1, \
         '192.0.2.1', 'a')",
        "INSERT INTO probes (purpose, agent, target, target_host, target_port, step)
         VALUES ('check', 1, '192.0.2.1', 'a', 80, 1)",
        "INSERT INTO probes (purpose, agent, target, target_host, target_port)
         VALUES ('home', 1, '192.0.2.1', 'a', 80)",
        "INSERT INTO probes (purpose, agent, step, phase, level_first, level_last)
         VALUES ('search', 1, 1, 'rest', '0.0.0.0', '255.255.255.255')",
        "INSERT INTO probes (purpose, agent, target, target_host, target_port)
         VALUES ('whim', 1, '192.0.2.1', 'a', 80)",
    ] {
        assert!(execute(world.store(), wrong).await.is_err(), "{wrong}");
    }
}
