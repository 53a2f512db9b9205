//! Hosts leave one agent for another and never have two.

use hierarchy::Range;
use model::{AgentId, HostTask, Reason, Strategy, UnixMillis};
use store::agents::{self, Heartbeat, Order};
use store::delegations::{self, Decision, DelegationOutcome};
use store::host_bundles::{self, ReceivedBundle};
use store::searches::{self, NewSearch, Retries, SearchKind};
use store::testing::{begin, execute};
use store::{handovers, hosts, routes};

use crate::world::{self, NOW, World, ip, range, url};

pub(crate) const SUBNET: &str = "198.51.100.0/24";

/// A host with two agents around: the first has it and got the first of two URLs as a route.
pub(crate) async fn world() -> (World, AgentId, AgentId) {
    let world = World::new().await;
    let old = world.approved(1, None).await;
    let new = world.approved(2, None).await;
    world.queue(&["http://a.example/1", "http://a.example/2"]).await;
    world.settle_hosts("198.51.100.7", SUBNET).await;
    decide(&world, old, NOW).await;
    assert_eq!(routes::route(world.store(), 1, 100).await.unwrap().len(), 1);
    (world, old, new)
}

/// Delegates the subnet by a search of its own.
pub(crate) async fn decide(world: &World, agent: AgentId, now: UnixMillis) {
    let subnet: Range = range(SUBNET);
    let target = ip("198.51.100.7");
    let host = "a.example".to_owned();
    let new = NewSearch { subnet, target, host, port: 80 };
    searches::open(world.store(), &[new], Strategy::Threshold, 50_000, now).await.unwrap();
    let open = world.open_searches(SearchKind::Undelegated).await;
    let search = &open[0];
    let decision = Decision {
        search: search.id,
        subnet,
        agent,
        fencing_number: search.fencing_number,
        reason: Reason::Threshold,
        provisional: false,
        rtt_us: Some(9_000),
        moved_from: None,
        skipped: &[],
    };
    assert!(matches!(
        delegations::decide_all(world.store(), &[decision], now).await.unwrap()[0],
        DelegationOutcome::Applied(_)
    ));
}

pub(crate) async fn told(world: &World, agent: AgentId) -> Vec<u64> {
    let open = handovers::open(world.store(), agent, &[], 10).await.unwrap();
    assert!(
        open.iter()
            .all(|order| order.host == "http://a.example" && order.task == HostTask::Release)
    );
    open.iter().map(|order| order.number).collect()
}

/// Who has the host and gets its URLs.
async fn owner_of_routes(world: &World) -> Vec<(AgentId, String)> {
    let routed = routes::route(world.store(), 100, 100).await.unwrap();
    routed.into_iter().map(|route| (route.agent, route.url)).collect()
}

#[tokio::test]
async fn a_host_goes_over_when_its_agent_has_let_go_and_not_before() {
    let (world, old, new) = world().await;
    decide(&world, new, NOW).await;
    let numbers = told(&world, old).await;
    assert_eq!(numbers.len(), 1);
    assert!(told(&world, new).await.is_empty());
    assert_eq!(owner_of_routes(&world).await, [], "nobody gets anything meanwhile");
    assert!(
        routes::after(world.store(), old, 0, 10).await.unwrap().is_empty(),
        "routes are taken back"
    );
    assert_eq!(
        handovers::confirm(world.store(), new, &numbers, NOW).await.unwrap(),
        0,
        "not its to say"
    );
    assert_eq!(handovers::confirm(world.store(), old, &numbers, NOW).await.unwrap(), 1);
    assert_eq!(handovers::confirm(world.store(), old, &numbers, NOW).await.unwrap(), 0, "repeated");
    assert!(told(&world, old).await.is_empty());
    let mut urls = owner_of_routes(&world).await;
    urls.sort_by(|a, b| a.1.cmp(&b.1));
    let expected = ["/", "/1", "/2"].map(|path| (new, format!("http://a.example{path}")));
    assert_eq!(urls, expected, "what was on its way, what waited, and the front page");
}

#[tokio::test]
async fn a_host_of_a_silent_part_of_a_subnet_is_taken_from_its_agent() {
    let (world, old, _) = world().await;
    let part = "UPDATE hosts SET last = '198.51.100.127' WHERE authority = 'a.example'";
    execute(world.store(), part).await.unwrap();
    let end = async |subnet| {
        let search = NewSearch {
            subnet: range(subnet),
            target: ip("198.51.100.7"),
            host: "a.example".into(),
            port: 80,
        };
        let strategy = Strategy::Predictive;
        searches::open(world.store(), &[search], strategy, 50_000, NOW).await.unwrap();
        let open = world.open_searches(SearchKind::Undelegated).await;
        let id = open.into_iter().find(|open| open.subnet == range(subnet)).unwrap().id;
        let retries = Retries { next_at: [NOW; 3], attempts: 4, given_up_until: NOW };
        searches::end_unanswered(world.store(), id, "nobody", retries, NOW).await.unwrap();
    };
    end("203.0.113.0/24").await;
    assert_eq!(told(&world, old).await.len(), 0, "another subnet");
    end("198.51.100.0/25").await;
    let orders = told(&world, old).await;
    assert_eq!(orders.len(), 1);
    handovers::confirm(world.store(), old, &orders, NOW).await.unwrap();
    let waits = "UPDATE hosts SET reason = reason WHERE state = 'resolved' AND agent IS NULL";
    assert_eq!(execute(world.store(), waits).await.unwrap(), 1, "it is searched for like others");
}

#[tokio::test]
async fn a_host_is_not_given_to_an_agent_whose_delegation_is_ending() {
    let (world, old, new) = world().await;
    decide(&world, new, NOW).await;
    let orders = told(&world, old).await;
    let end = begin(
        world.store(),
        "UPDATE delegations SET ended_at = now() WHERE agent = 2 AND ended_at IS NULL",
    );
    let end = end.await.unwrap();
    let ended = async {
        let waiting = "SELECT FROM pg_stat_activity
                       WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while execute(world.store(), waiting).await.unwrap() == 0 {
            tokio::task::yield_now().await;
        }
        end.commit().await.unwrap();
    };
    let confirmed = handovers::confirm(world.store(), old, &orders, NOW);
    let (confirmed, ()) = tokio::join!(confirmed, ended);
    assert_eq!(confirmed.unwrap(), 1);
    let free = "UPDATE hosts SET reason = reason WHERE state = 'resolved' AND agent IS NULL";
    assert_eq!(execute(world.store(), free).await.unwrap(), 1);
}

#[tokio::test]
async fn a_host_is_foreign_to_an_agent_before_it_starts_and_after_it_released_it() {
    let (world, old, new) = world().await;
    let names = [url("http://a.example/").url.host_key()];
    let foreign = async |agent| hosts::foreign(world.store(), agent, &names).await.unwrap().len();
    decide(&world, new, NOW).await;
    assert_eq!((foreign(old).await, foreign(new).await), (0, 1), "still the old one's");
    let numbers = told(&world, old).await;
    handovers::confirm(world.store(), old, &numbers, NOW.plus_ms(10)).await.unwrap();
    assert_eq!((foreign(old).await, foreign(new).await), (1, 0));
}

#[tokio::test]
async fn a_move_that_is_taken_back_ends_where_it_began() {
    let (world, old, new) = world().await;
    decide(&world, new, NOW).await;
    let numbers = told(&world, old).await;
    decide(&world, old, NOW).await;
    assert_eq!(told(&world, old).await, numbers, "it may have let go already");
    handovers::confirm(world.store(), old, &numbers, NOW).await.unwrap();
    let routed = owner_of_routes(&world).await;
    assert!(routed.len() == 3 && routed.iter().all(|(agent, _)| *agent == old), "{routed:?}");
    decide(&world, new, NOW).await;
    let again = told(&world, old).await;
    assert!(again.len() == 1 && again != numbers, "a new order for a new move");
}

/// Whether the bundle of an order is late, as it is offered at this time; none if it is not.
async fn is_late(world: &World, agent: AgentId, now: UnixMillis) -> Option<bool> {
    let offered = host_bundles::offered(world.store(), agent, 10, now).await.unwrap();
    offered.first().map(|offer| offer.is_late)
}

/// An agent that slept while its order lapsed had shipped everything before.
#[tokio::test]
async fn a_bundle_is_late_only_if_results_were_lost() {
    for has_lost in [false, true] {
        let (world, old, new) = world().await;
        decide(&world, new, NOW).await;
        let order = told(&world, old).await[0];
        let host = host_bundles::sender_of(world.store(), old, order).await.unwrap().unwrap();
        let named = ["http://a.example".to_owned(), "http://other.example".to_owned()];
        handovers::note_lost_results(world.store(), old, &named).await.unwrap();
        let later = NOW.plus_ms(1);
        assert_eq!(handovers::lapse(world.store(), later, later).await.unwrap(), 1);
        let bundle = ReceivedBundle { order, host, agent: old, object: "b", bytes: 1 };
        assert!(host_bundles::enter(world.store(), &bundle, later).await.unwrap());
        assert_eq!(is_late(&world, new, later).await, None, "results may be on their way");
        let next_day = later.plus_ms(24 * 3_600_000);
        assert_eq!(is_late(&world, new, next_day).await, Some(true), "nobody knows");
        if has_lost {
            handovers::note_lost_results(world.store(), new, &named).await.unwrap();
            handovers::note_lost_results(world.store(), old, &named).await.unwrap();
        }
        handovers::confirm(world.store(), old, &[order], later).await.unwrap();
        assert_eq!(is_late(&world, new, later).await, Some(has_lost));
    }
}

#[tokio::test]
async fn an_agent_that_is_not_heard_of_loses_its_lease_and_is_told_when_it_is_back() {
    let (world, old, new) = world().await;
    decide(&world, new, NOW).await;
    let numbers = told(&world, old).await;
    assert_eq!(
        handovers::lapse(world.store(), NOW, NOW).await.unwrap(),
        0,
        "asked at this very moment"
    );
    assert_eq!(handovers::lapse(world.store(), NOW.plus_ms(1), NOW.plus_ms(1)).await.unwrap(), 1);
    assert_eq!(handovers::lapse(world.store(), NOW.plus_ms(1), NOW.plus_ms(1)).await.unwrap(), 0);
    assert!(owner_of_routes(&world).await.iter().all(|(agent, _)| *agent == new));
    assert_eq!(told(&world, old).await, numbers);
    handovers::confirm(world.store(), old, &numbers, NOW).await.unwrap();
    assert!(told(&world, old).await.is_empty());
    assert!(
        routes::after(world.store(), new, 0, 10).await.unwrap().len() == 3,
        "the next agent keeps the host"
    );
}

/// The agent is heard of and confirms nothing.
async fn heartbeat(world: &World, agent: AgentId, now: UnixMillis) {
    heartbeat_of(world, agent, true, now).await;
}

async fn heartbeat_of(world: &World, agent: AgentId, wants_region: bool, now: UnixMillis) {
    let status = serde_json::json!({});
    let heartbeat = Heartbeat { wants_region, ..world::heartbeat(agent, &status) };
    agents::heartbeat(world.store(), &heartbeat, now, now).await.unwrap().unwrap();
}

#[tokio::test]
async fn an_agent_that_leaves_its_region_begins_its_hosts_anew() {
    let (world, old, _) = world().await;
    let routed = owner_of_routes(&world).await;
    assert!(routed.iter().all(|(_, url)| url != "http://a.example/"), "{routed:?}");
    execute(world.store(), "UPDATE agents SET peer_addresses = '[]' WHERE id = 1").await.unwrap();
    heartbeat(&world, old, NOW).await;
    assert_eq!(owner_of_routes(&world).await, [], "it stays");
    for front_pages in [vec![(old, "http://a.example/".to_owned())], vec![]] {
        heartbeat_of(&world, old, false, NOW).await;
        assert_eq!(owner_of_routes(&world).await, front_pages);
    }
}

#[tokio::test]
async fn a_revoked_agent_keeps_its_hosts_until_its_lease_ends() {
    let (world, old, new) = world().await;
    heartbeat(&world, old, NOW).await;
    let revoked_at = NOW.plus_ms(10);
    agents::order(world.store(), old, Order::Revoke, "admin", revoked_at).await.unwrap();
    decide(&world, new, revoked_at).await;
    assert_eq!(owner_of_routes(&world).await, [], "the old agent may still fetch");
    assert_eq!(handovers::lapse(world.store(), NOW, revoked_at).await.unwrap(), 0);
    let after_lease = NOW.plus_ms(1);
    assert_eq!(handovers::lapse(world.store(), after_lease, revoked_at).await.unwrap(), 1);
    assert!(told(&world, old).await.is_empty(), "it never asks again");
    let routed = owner_of_routes(&world).await;
    assert!(routed.len() == 3 && routed.iter().all(|(agent, _)| *agent == new), "{routed:?}");
}

#[tokio::test]
async fn a_release_that_was_under_way_at_the_revocation_waits_for_the_lease_as_well() {
    let (world, old, new) = world().await;
    heartbeat(&world, old, NOW).await;
    decide(&world, new, NOW).await;
    agents::order(world.store(), old, Order::Revoke, "admin", NOW).await.unwrap();
    assert_eq!(owner_of_routes(&world).await, []);
    assert_eq!(handovers::lapse(world.store(), NOW, NOW).await.unwrap(), 0);
    assert_eq!(handovers::lapse(world.store(), NOW.plus_ms(1), NOW).await.unwrap(), 1);
    assert_eq!(owner_of_routes(&world).await.len(), 3);
}

#[tokio::test]
async fn an_agent_that_confirms_no_release_loses_the_host_with_the_lease() {
    for pauses in [false, true] {
        let (world, old, new) = world().await;
        decide(&world, new, NOW).await;
        if pauses {
            agents::order(world.store(), old, Order::Pause, "admin", NOW).await.unwrap();
        }
        let later = NOW.plus_ms(3_600_000);
        heartbeat(&world, old, later).await;
        let names = [url("http://a.example/").url.host_key()];
        let foreign = async || hosts::foreign(world.store(), old, &names).await.unwrap().len();
        assert_eq!(handovers::lapse(world.store(), NOW, later).await.unwrap(), 0);
        assert_eq!(foreign().await, 0, "it has the host as long as its lease");
        assert_eq!(handovers::lapse(world.store(), NOW.plus_ms(1), later).await.unwrap(), 1);
        let routed = owner_of_routes(&world).await;
        assert!(routed.len() == 3 && routed.iter().all(|(agent, _)| *agent == new), "{routed:?}");
        assert_eq!(foreign().await, 1);
    }
}

/// Puts the host into another subnet, as a new generation of the hierarchy does.
async fn cut_out(world: &World, subnet: &str) -> Vec<AgentId> {
    let host =
        hosts::with_address(world.store(), model::HostId::new(0), 1).await.unwrap().remove(0);
    hosts::remap(world.store(), &[(host.id, range(subnet))], NOW).await.unwrap()
}

/// The subnets of the hosts that an agent has.
async fn subnets_with_an_agent(world: &World) -> Vec<Range> {
    let after = model::HostId::new(0);
    let (hosts, last) = hosts::delegated(world.store(), after, 10).await.unwrap();
    assert_eq!(last.is_some(), !hosts.is_empty());
    hosts.iter().map(|host| host.subnet).collect()
}

#[tokio::test]
async fn a_host_follows_the_delegation_of_the_subnet_that_it_is_in_now() {
    let (world, old, _) = world().await;
    let part = "198.51.100.0/28";
    assert_eq!(cut_out(&world, part).await, []);
    assert_eq!(
        owner_of_routes(&world).await,
        [(old, "http://a.example/2".into())],
        "it stays until a search decides"
    );
    assert_eq!(subnets_with_an_agent(&world).await, [range(part)]);
    assert_eq!(cut_out(&world, SUBNET).await, []);
    assert_eq!(subnets_with_an_agent(&world).await, [range(SUBNET)]);

    let third = world.approved(3, Some(part)).await;
    assert_eq!(cut_out(&world, part).await, [old]);
    assert_eq!(cut_out(&world, part).await, [old], "it is told once");
    world.queue(&["http://a.example/3"]).await;
    assert_eq!(owner_of_routes(&world).await, [], "it is nobody's while it moves");
    let orders = told(&world, old).await;
    assert_eq!(orders.len(), 1);
    handovers::confirm(world.store(), old, &orders, NOW).await.unwrap();
    let owners: Vec<AgentId> =
        owner_of_routes(&world).await.into_iter().map(|(agent, _)| agent).collect();
    assert!(!owners.is_empty() && owners.iter().all(|owner| *owner == third), "{owners:?}");
}

#[tokio::test]
async fn a_host_on_its_way_goes_to_who_has_the_subnet_that_it_is_in_now() {
    let (world, old, new) = world().await;
    decide(&world, new, NOW).await;
    let third = world.approved(3, Some("198.51.100.0/28")).await;
    assert_eq!(cut_out(&world, "198.51.100.0/28").await, [old]);
    let orders = told(&world, old).await;
    handovers::confirm(world.store(), old, &orders, NOW).await.unwrap();
    let owners: Vec<AgentId> =
        owner_of_routes(&world).await.into_iter().map(|(agent, _)| agent).collect();
    assert!(!owners.is_empty() && owners.iter().all(|owner| *owner == third), "{owners:?}");
}
