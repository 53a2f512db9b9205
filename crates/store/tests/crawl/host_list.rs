//! Lists of hosts for people.

use model::{AgentId, HostSort, HostState};
use store::bounded_count::BoundedCount;
use store::host_list::{self, HostCursor, HostFilter};

use crate::world::{World, range};

/// Six hosts, whose mean times are 10 to 60 ms: the first five of the first agent, one of them
/// moving, and the last of the second.
async fn two_agents_with_hosts(world: &World) -> (AgentId, AgentId) {
    let one = world.approved(1, None).await;
    let two = world.approved(2, None).await;
    let names = ["a", "b", "c", "d", "e", "f"];
    let urls = names.map(|name| format!("http://{name}.example/"));
    world.queue(&urls.each_ref().map(String::as_str)).await;
    for statement in [
        format!("UPDATE hosts SET state = 'delegated', agent = {}", one.get()),
        format!("UPDATE hosts SET agent = {} WHERE authority = 'f.example'", two.get()),
        "UPDATE hosts SET state = 'moving' WHERE authority = 'b.example'".to_owned(),
        "INSERT INTO host_fetches
         SELECT id, agent, now(), 0, 0, 100, 10 * row_number() OVER (ORDER BY id), '[]' FROM hosts"
            .to_owned(),
    ] {
        store::testing::execute(world.store(), Box::leak(statement.into_boxed_str()))
            .await
            .unwrap();
    }
    (one, two)
}

/// Names of a page with two hosts, and the place after it.
async fn page(
    world: &World,
    filter: &HostFilter,
    after: Option<HostCursor>,
) -> (Vec<String>, Option<HostCursor>) {
    let order = HostSort::Slowest;
    let hosts = host_list::list(world.store(), filter, order, after, 2).await.unwrap();
    let last = hosts.last().map(|host| host.cursor(order));
    (hosts.into_iter().map(|host| host.authority).collect(), last)
}

#[tokio::test]
async fn the_slowest_hosts_of_an_agent_come_page_by_page() {
    let world = World::new().await;
    let (one, _) = two_agents_with_hosts(&world).await;
    let filter = HostFilter { agent: Some(one), ..HostFilter::default() };
    let mut after = None;
    let mut seen = Vec::new();
    while seen.len() < 5 {
        let (names, last) = page(&world, &filter, after).await;
        assert!(!names.is_empty(), "{seen:?}");
        seen.extend(names);
        after = last;
    }
    assert_eq!(seen, ["e.example", "d.example", "c.example", "b.example", "a.example"]);
    assert_eq!(page(&world, &filter, after).await.0, [""; 0]);
    let moving = HostFilter { state: Some(HostState::Moving), ..filter };
    assert_eq!(page(&world, &moving, None).await.0, ["b.example"]);
}

#[tokio::test]
async fn the_slowest_hosts_of_an_agent_are_those_that_it_fetched_from_last() {
    let world = World::new().await;
    let (one, two) = two_agents_with_hosts(&world).await;
    let given = format!("UPDATE host_fetches SET agent = {} WHERE mean_ms = 50", two.get());
    store::testing::execute(world.store(), Box::leak(given.into_boxed_str())).await.unwrap();
    for (agent, names) in [(one, vec!["d.example", "c.example"]), (two, vec!["f.example"])] {
        let filter = HostFilter { agent: Some(agent), ..HostFilter::default() };
        assert_eq!(page(&world, &filter, None).await.0, names);
    }
}

#[tokio::test]
async fn hosts_of_a_subnet_are_not_those_of_subnets_within_it() {
    let world = World::new().await;
    two_agents_with_hosts(&world).await;
    let placed = "UPDATE hosts SET address = '192.0.2.1', first = '192.0.2.0', last =
        CASE WHEN authority < 'c' THEN '192.0.2.255' ELSE '192.0.2.127' END::inet";
    assert_eq!(store::testing::execute(world.store(), placed).await.unwrap(), 6);
    let subnet = Some(range("192.0.2.0/24"));
    let filter = HostFilter { subnet, ..HostFilter::default() };
    assert_eq!(page(&world, &filter, None).await.0, ["b.example", "a.example"]);
    let newest = host_list::list(world.store(), &filter, HostSort::Newest, None, 9).await.unwrap();
    assert_eq!(newest.len(), 2);
    let within = HostFilter { subnet: None, addresses: subnet, ..filter };
    let within = host_list::list(world.store(), &within, HostSort::Newest, None, 9).await.unwrap();
    assert_eq!(within.len(), 6);
}

#[tokio::test]
async fn hosts_of_an_agent_are_delegated_or_moving() {
    let world = World::new().await;
    let (one, two) = two_agents_with_hosts(&world).await;
    for (agent, delegated, moving) in [(one, 4, 1), (two, 1, 0)] {
        // The filter by state does not change what is counted.
        let state = Some(HostState::Moving);
        let filter = HostFilter { agent: Some(agent), state, ..HostFilter::default() };
        let counts = host_list::count_by_state(world.store(), &filter).await.unwrap();
        let expected = [
            (HostState::Unresolved, 0),
            (HostState::Resolved, 0),
            (HostState::Delegated, delegated),
            (HostState::Moving, moving),
            (HostState::Failed, 0),
        ];
        assert_eq!(counts, expected.map(|(state, count)| (state, BoundedCount::exact(count))));
    }
}
