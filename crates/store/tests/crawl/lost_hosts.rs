//! Hosts that lost their agent with all that it knew of them.

use store::host_bundles::{self, ReceivedBundle};
use store::lost_hosts::{self, LostHost};
use store::testing::execute;
use store::urls::NewUrl;
use store::{handovers, routes};

use crate::handovers::{decide, told, world};
use crate::world::{NOW, World, url};

/// A host that has moved to the second agent, with a bundle of the first or without.
async fn moved(pages: &'static str, has_bundle: bool) -> World {
    let (world, old, new) = world().await;
    execute(world.store(), pages).await.unwrap();
    decide(&world, new, NOW).await;
    let order = told(&world, old).await[0];
    if has_bundle {
        let host = model::HostId::new(1);
        let bundle = ReceivedBundle { order, host, agent: old, object: "b", bytes: 1 };
        assert!(host_bundles::enter(world.store(), &bundle, NOW).await.unwrap());
    }
    assert_eq!(handovers::confirm(world.store(), old, &[order], NOW).await.unwrap(), 1);
    world
}

async fn next(world: &World, most: u32) -> Option<LostHost> {
    lost_hosts::next(world.store(), most, 1).await.unwrap().pop()
}

#[tokio::test]
async fn only_hosts_with_pages_and_without_a_bundle_are_noted() {
    let without_pages = "UPDATE hosts SET pages = 0";
    let with_pages = "UPDATE hosts SET pages = 2";
    for (pages, has_bundle, is_noted) in
        [(with_pages, false, true), (with_pages, true, false), (without_pages, false, false)]
    {
        let world = moved(pages, has_bundle).await;
        assert_eq!(next(&world, 10).await.is_some(), is_noted, "{pages}, bundle: {has_bundle}");
    }
}

/// The index of the hosts whose pages can be queued has no others.
#[tokio::test]
async fn only_a_host_with_an_agent_is_looked_at() {
    let world = moved("UPDATE hosts SET pages = 2", false).await;
    let looked_at = async || {
        let with_agent = "SELECT FROM lost_hosts l JOIN hosts h ON h.agent = l.agent";
        execute(world.store(), with_agent).await.unwrap()
    };
    assert_eq!((looked_at().await, next(&world, 10).await.is_some()), (1, true));
    let taken = "UPDATE hosts SET state = 'moving'";
    execute(world.store(), taken).await.unwrap();
    assert_eq!((looked_at().await, next(&world, 10).await), (0, None));
    let given_up = "UPDATE hosts SET state = 'failed', agent = NULL";
    execute(world.store(), given_up).await.unwrap();
    assert_eq!((looked_at().await, next(&world, 10).await), (0, None));
    let met_again = "UPDATE hosts SET state = 'delegated', agent = (SELECT min(id) FROM agents)";
    execute(world.store(), met_again).await.unwrap();
    assert_eq!((looked_at().await, next(&world, 10).await.is_some()), (1, true));
}

#[tokio::test]
async fn its_pages_are_queued_a_part_at_a_time() {
    let world = moved("UPDATE hosts SET pages = 2", false).await;
    assert_eq!(next(&world, 2).await, None, "three URLs wait for its agent already");
    while !routes::route(world.store(), 10, 10).await.unwrap().is_empty() {}
    let host = next(&world, 0).await.unwrap();
    assert_eq!((host.key.as_str(), host.queued_to.as_str()), ("http://a.example", ""));
    let page = |path: &str| NewUrl { redirects: 0, ..url(&format!("http://a.example/{path}")) };
    let queue = async |host: &LostHost, path, next| {
        let pages = [page(path)];
        lost_hosts::queue_pages(world.store(), host, &pages, next, NOW).await.unwrap()
    };
    assert_eq!(queue(&host, "a", Some("http://a.example/a")).await, 1);
    let begun = next(&world, 10).await.unwrap();
    assert_eq!(begun.queued_to, "http://a.example/a");
    queue(&host, "a", None).await;
    assert_eq!(next(&world, 10).await, Some(begun.clone()), "another run has gone on");
    assert_eq!(queue(&begun, "b", None).await, 1);
    assert_eq!(next(&world, 10).await, None, "it is done");
    assert_eq!(routes::route(world.store(), 10, 10).await.unwrap().len(), 2);
}
