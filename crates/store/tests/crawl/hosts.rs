//! From a name to a subnet; names that have no address.

use store::hosts::{self, FailedLookup};

use crate::world::{NOW, World, ip, range, url};

#[tokio::test]
async fn the_same_url_waits_once() {
    let world = World::new().await;
    assert_eq!(
        world.queue(&["http://a.example/", "http://a.example/", "http://b.example/"]).await,
        2
    );
    assert_eq!(world.queue(&["http://a.example/", "http://a.example/x"]).await, 1);
    assert_eq!(world.queue(&[]).await, 0);
    let unresolved = hosts::list_unresolved(world.store(), 10, &[], NOW).await.unwrap();
    let names: Vec<&str> = unresolved.iter().map(|host| host.authority.as_str()).collect();
    assert_eq!(names, ["a.example", "b.example"]);
}

#[tokio::test]
async fn a_host_without_an_address_is_tried_again_then_given_up_then_revived() {
    let world = World::new().await;
    world.queue(&["http://gone.example/"]).await;
    let id = hosts::list_unresolved(world.store(), 10, &[], NOW).await.unwrap()[0].id;
    let failure = |ms, give_up| FailedLookup {
        id,
        reason: "no answer".into(),
        retry_at: NOW.plus_ms(ms),
        counts: true,
        give_up,
    };
    hosts::record_failed_lookups(world.store(), &[failure(1_000, false)]).await.unwrap();
    assert!(hosts::list_unresolved(world.store(), 10, &[], NOW).await.unwrap().is_empty());
    let again = hosts::list_unresolved(world.store(), 10, &[], NOW.plus_ms(1_000)).await.unwrap();
    assert_eq!(again[0].attempts, 1);
    hosts::record_failed_lookups(world.store(), &[failure(5_000, true)]).await.unwrap();
    assert!(
        hosts::list_unresolved(world.store(), 10, &[], NOW.plus_ms(9_000))
            .await
            .unwrap()
            .is_empty()
    );
    let address = "UPDATE hosts SET address = '192.168.1.1'";
    store::testing::execute(world.store(), address).await.unwrap();
    assert_eq!(world.queue(&["http://gone.example/new"]).await, 0, "given up just now");
    let late = NOW.plus_ms(5_000);
    let url = url("http://gone.example/new");
    assert_eq!(store::testing::queue(world.store(), &[url], late).await.unwrap(), 1);
    let revived = hosts::list_unresolved(world.store(), 10, &[], late).await.unwrap();
    assert_eq!((revived.len(), revived[0].attempts), (1, 0));
}

#[tokio::test]
async fn a_seed_revives_a_host_that_the_dns_did_not_know() {
    let world = World::new().await;
    world.queue(&["http://gone.example/"]).await;
    let id = hosts::list_unresolved(world.store(), 1, &[], NOW).await.unwrap()[0].id;
    let reason = "no address".into();
    let retry_at = NOW.plus_ms(5_000);
    let failure = FailedLookup { id, reason, retry_at, counts: true, give_up: true };
    hosts::record_failed_lookups(world.store(), &[failure]).await.unwrap();
    let keys = [url("http://gone.example/").url.host_key()];
    assert_eq!(hosts::given_up(world.store(), &keys, NOW).await.unwrap(), []);
    assert_eq!(world.queue(&["http://gone.example/"]).await, 1);
}

#[tokio::test]
async fn a_failed_lookup_that_does_not_count_leaves_the_attempts() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    let host = hosts::list_unresolved(world.store(), 1, &[], NOW).await.unwrap().remove(0);
    let reason = "no answer".into();
    let retry_at = NOW.plus_ms(5_000);
    let failure = FailedLookup { id: host.id, reason, retry_at, counts: false, give_up: false };
    hosts::record_failed_lookups(world.store(), &[failure]).await.unwrap();
    assert!(next(&world, 1).await.is_empty());
    let again = hosts::list_unresolved(world.store(), 1, &[], retry_at).await.unwrap();
    assert_eq!(again, [host]);
}

#[tokio::test]
async fn a_host_that_is_revived_has_no_address_before_its_lookup() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    let id = hosts::list_unresolved(world.store(), 1, &[], NOW).await.unwrap()[0].id;
    hosts::set_addresses(world.store(), &[(id, ip("192.168.1.1"))]).await.unwrap();
    hosts::give_up(world.store(), &[(id, "private".into())], NOW).await.unwrap();
    assert_eq!(world.queue(&["http://a.example/"]).await, 1);
    let unknown = "UPDATE hosts SET state = state WHERE state = 'unresolved' AND address IS NULL";
    assert_eq!(store::testing::execute(world.store(), unknown).await.unwrap(), 1);
}

/// Names of the next hosts to look up.
async fn next(world: &World, limit: u32) -> Vec<String> {
    let hosts = hosts::list_unresolved(world.store(), limit, &[], NOW).await.unwrap();
    hosts.into_iter().map(|host| host.authority).collect()
}

#[tokio::test]
async fn sources_take_turns_and_a_backlog_does_not_hide_new_hosts() {
    let world = World::new().await;
    let urls: Vec<String> = (0..300).map(|number| format!("http://n{number}.example/")).collect();
    world.queue(&urls.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let flood = "UPDATE hosts SET found_by = 1";
    store::testing::execute(world.store(), flood).await.unwrap();
    world.queue(&["http://seed.example/"]).await;
    assert!(next(&world, 2).await.contains(&"seed.example".to_owned()), "another source");
    store::testing::execute(world.store(), flood).await.unwrap();
    assert!(next(&world, 2).await.contains(&"seed.example".to_owned()), "the newest of its source");
    let failed = "UPDATE hosts SET attempts = 1 WHERE authority = 'seed.example'";
    store::testing::execute(world.store(), failed).await.unwrap();
    assert!(!next(&world, 200).await.contains(&"seed.example".to_owned()), "first lookups first");
    assert_eq!(next(&world, 1_000).await.last().unwrap(), "seed.example");
}

#[tokio::test]
async fn a_deferred_lookup_waits_without_a_counted_attempt() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    let host = hosts::list_unresolved(world.store(), 1, &[], NOW).await.unwrap().remove(0);
    assert!(
        hosts::list_unresolved(world.store(), 1, &[host.id], NOW).await.unwrap().is_empty(),
        "it is being looked up"
    );
    let later = NOW.plus_ms(5_000);
    hosts::defer_lookups(world.store(), &[(host.id, later)]).await.unwrap();
    assert!(next(&world, 1).await.is_empty());
    let again = hosts::list_unresolved(world.store(), 1, &[], later).await.unwrap();
    assert_eq!(again, [host]);
}

#[tokio::test]
async fn a_subnet_without_an_agent_waits_for_an_agent_once() {
    let world = World::new().await;
    world.queue(&["http://a.example/", "http://b.example:8080/"]).await;
    assert!(world.waiting(NOW, NOW).await.is_empty());
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    let waiting = world.waiting(NOW, NOW).await;
    assert_eq!(waiting.len(), 1);
    assert_eq!(waiting[0].subnet, range("198.51.100.0/24"));
    assert_eq!(
        (waiting[0].address, waiting[0].authority.as_str()),
        (ip("198.51.100.7"), "a.example")
    );
    let agent = world.approved(1, Some("198.51.100.0/24")).await;
    assert!(world.waiting(NOW, NOW).await.is_empty());
    let names = ["http://a.example/", "https://a.example/"].map(|text| url(text).url.host_key());
    let foreign = hosts::foreign(world.store(), agent, &names).await.unwrap();
    assert_eq!(foreign, ["https://a.example"]);
}

#[tokio::test]
async fn hosts_that_wait_come_in_pages() {
    let world = World::new().await;
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    world.queue(&["http://b.example/"]).await;
    world.settle_hosts("203.0.113.7", "203.0.113.0/24").await;
    let mut after = model::HostId::new(0);
    let mut seen = Vec::new();
    while let Some((last, subnet)) =
        hosts::waiting_for_agent(world.store(), after, 1, NOW).await.unwrap().pop()
    {
        seen.push(subnet);
        after = last;
    }
    assert_eq!(seen, [range("198.51.100.0/24"), range("203.0.113.0/24")]);
}

#[tokio::test]
async fn subnets_that_hosts_wait_in_are_found_by_their_ranges() {
    let world = World::new().await;
    let found = async |ranges: &[&str]| {
        let ranges: Vec<_> = ranges.iter().map(|text| range(text)).collect();
        store::delegations::undelegated_subnets(world.store(), &ranges).await.unwrap()
    };
    world.queue(&["http://a.example/"]).await;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    world.queue(&["http://b.example/", "http://c.example/"]).await;
    world.settle_hosts("203.0.113.7", "203.0.113.0/24").await;
    assert_eq!(found(&[]).await, []);
    assert_eq!(found(&["192.0.0.0/8", "198.51.100.0/25"]).await, [range("198.51.100.0/24")]);
    assert_eq!(found(&["203.0.113.0/24", "203.0.0.0/8"]).await, [range("203.0.113.0/24")]);
    world.approved(1, Some("203.0.113.0/24")).await;
    assert_eq!(found(&["0.0.0.0/0"]).await, [range("198.51.100.0/24")], "without an agent");
}

#[tokio::test]
async fn hosts_are_listed_for_a_new_generation_whoever_has_them() {
    let world = World::new().await;
    world.queue(&["http://a.example/", "http://b.example/"]).await;
    world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
    world.queue(&["http://nowhere.example/"]).await;
    assert!(hosts::without_subnet(world.store(), 10).await.unwrap().is_empty());
    let first =
        hosts::with_address(world.store(), model::HostId::new(0), 1).await.unwrap().remove(0);
    assert_eq!((first.address, first.subnet), (ip("198.51.100.7"), Some(range("198.51.100.0/24"))));
    world.approved(1, Some("198.51.100.0/24")).await;
    assert_eq!(hosts::with_address(world.store(), first.id, 10).await.unwrap().len(), 1);
}
