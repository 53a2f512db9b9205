//! Hosts with names: a name server of our own says what they are.

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use coordinator::intake::dns::{Dns, LookupError};
use coordinator::placement::agent_administration::AgentAction;
use coordinator::runtime::clock::Clock;
use coordinator::runtime::events::Event;
use hickory_proto::op::{Message, MessageType, ResponseCode};
use hickory_proto::rr::rdata::A;
use hickory_proto::rr::{RData, Record, RecordType};
use store::stray_hosts;
use tokio::net::UdpSocket;

use crate::agent::FakeAgent;
use crate::world::{Ground, MovedClock, counts, until};

const HALF_AN_HOUR_MS: i64 = 30 * 60_000;

/// How long an answer about a slow name takes.
const SLOW: Duration = Duration::from_millis(700);

/// Answers for these names until the test ends; is silent about names with `dead` in them, and
/// takes long for those with `slow`; every other name does not exist. It fails for the IPv4
/// addresses of names with `broken` in them.
async fn name_server(names: Names) -> SocketAddr {
    changing_name_server(Arc::new(Mutex::new(names))).await
}

type Names = HashMap<&'static str, Ipv4Addr>;

async fn changing_name_server(names: Arc<Mutex<Names>>) -> SocketAddr {
    let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").await.unwrap());
    let address = socket.local_addr().unwrap();
    tokio::spawn(async move {
        let mut buffer = [0; 1_500];
        while let Ok((length, peer)) = socket.recv_from(&mut buffer).await {
            let question = Message::from_vec(&buffer[..length]).unwrap();
            let name = question.queries[0].name().to_utf8();
            if name.contains("dead") {
                continue;
            }
            let answer = answer(&question, &names.lock().unwrap()).to_vec().unwrap();
            let pause = if name.contains("slow") { SLOW } else { Duration::ZERO };
            let socket = Arc::clone(&socket);
            tokio::spawn(async move {
                tokio::time::sleep(pause).await;
                socket.send_to(&answer, peer).await.unwrap();
            });
        }
    });
    address
}

fn answer(question: &Message, names: &Names) -> Message {
    let mut answer = Message::response(question.metadata.id, question.metadata.op_code);
    answer.metadata.message_type = MessageType::Response;
    let query = question.queries[0].clone();
    let name = query.name().to_utf8();
    match names.get(name.trim_end_matches('.')) {
        Some(address) if query.query_type() == RecordType::A => {
            answer.add_answer(Record::from_rdata(query.name().clone(), 60, RData::A(A(*address))));
        }
        Some(_) => {}
        None if name.contains("broken") && query.query_type() == RecordType::A => {
            answer.metadata.response_code = ResponseCode::ServFail;
        }
        None if name.contains("broken") => {}
        None => answer.metadata.response_code = ResponseCode::NXDomain,
    }
    answer.add_query(query);
    answer
}

#[tokio::test]
async fn names_are_looked_up_and_those_that_do_not_exist_are_given_up_with_the_reason() {
    let server = name_server(HashMap::from([("home.example", Ipv4Addr::LOCALHOST)])).await;
    let ground = Ground::new().await.with_resolver(server);
    let clock = Arc::new(MovedClock::default());
    let running = ground.start_at(Arc::clone(&clock) as Arc<dyn Clock>).await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::enrol(&running, 1).await;
    running.order(agent.id, AgentAction::Approve).await;
    running.add_seeds(&["http://home.example/", "http://nowhere.example/"]).await;
    let routes = agent.routes(&running).await;
    assert_eq!(routes[0].url, "http://home.example/");
    for failed in [
        "UPDATE hosts SET attempts = attempts WHERE attempts = 1",
        "UPDATE hosts SET attempts = attempts WHERE attempts = 2",
    ] {
        until("the unknown name was looked up", || async {
            store::testing::execute(ground.store(), failed).await.unwrap() == 1
        })
        .await;
        assert_eq!(counts(&ground, &running).await.hosts.failed, 0);
        clock.0.fetch_add(HALF_AN_HOUR_MS, Ordering::SeqCst);
    }
    until("the unknown name is given up", || async {
        let hosts = counts(&ground, &running).await.hosts;
        hosts.failed == 1 && hosts.pending_urls == 0
    })
    .await;
    running.stop().await;
}

#[tokio::test]
async fn names_may_have_underscores() {
    let server = name_server(HashMap::from([("my_home.example", Ipv4Addr::LOCALHOST)])).await;
    let dns = Dns::new(Some(server)).unwrap();
    let address = dns.address("my_home.example", Duration::from_secs(10)).await;
    assert_eq!(address, Ok(Ipv4Addr::LOCALHOST.into()));
}

#[tokio::test]
async fn an_error_at_ipv4_is_no_name_without_addresses() {
    let server = name_server(HashMap::new()).await;
    let dns = Dns::new(Some(server)).unwrap();
    let address = dns.address("broken.example", Duration::from_secs(10)).await;
    assert!(matches!(address, Err(LookupError::NoAnswer { .. })), "{address:?}");
    let address = dns.address("nowhere.example", Duration::from_secs(10)).await;
    assert!(matches!(address, Err(LookupError::NoAddress(_))), "{address:?}");
}

#[tokio::test]
async fn a_host_that_its_agent_finds_elsewhere_is_followed_to_where_the_dns_says() {
    let home = Ipv4Addr::LOCALHOST;
    let names = ["moves.example", "stays.example", "broken.example"].map(|name| (name, home));
    let names = HashMap::from(names);
    let names = Arc::new(Mutex::new(names));
    let ground = Ground::new().await.with_resolver(changing_name_server(names.clone()).await);
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    let seeds = ["http://moves.example/", "http://stays.example/", "http://broken.example/"];
    running.add_seeds(&seeds).await;
    agent.routes(&running).await;
    until("all hosts are the agent's", || async {
        let delegated = "UPDATE hosts SET state = state WHERE state = 'delegated'";
        store::testing::execute(ground.store(), delegated).await.unwrap() == 3
    })
    .await;
    names.lock().unwrap().insert("moves.example", Ipv4Addr::new(203, 0, 113, 7));
    names.lock().unwrap().remove("broken.example");
    let strays = "INSERT INTO stray_hosts SELECT id, 3, now() FROM hosts WHERE state = 'delegated'";
    assert_eq!(store::testing::execute(ground.store(), strays).await.unwrap(), 3);
    running.coordinator.events.emit(Event::PackageIngested);
    until("the host is where it is", || async {
        let moved = "UPDATE hosts SET state = state WHERE authority = 'moves.example'
                     AND address = '203.0.113.7' AND first = '203.0.113.0'";
        store::testing::execute(ground.store(), moved).await.unwrap() == 1
    })
    .await;
    until("neither is looked up again for a week", || async {
        let left = "UPDATE hosts h SET state = state FROM stray_hosts s
                    WHERE h.id = s.host AND s.packages = 0
                      AND s.counted_at > now() + interval '6 days'
                      AND (h.authority = 'moves.example' OR h.address = '127.0.0.1')";
        store::testing::execute(ground.store(), left).await.unwrap() == 2
    })
    .await;
    until("the one whose name server fails is looked up after its next package", || async {
        let left = "UPDATE hosts h SET state = state FROM stray_hosts s
                    WHERE h.id = s.host AND h.authority = 'broken.example' AND s.packages = 2
                      AND s.counted_at < now() + interval '1 hour'";
        store::testing::execute(ground.store(), left).await.unwrap() == 1
    })
    .await;
    assert_eq!(stray_hosts::due(ground.store(), 9).await.unwrap(), []);
    until("a search for the subnet is open", || async {
        let open = "UPDATE searches SET state = state WHERE first = '203.0.113.0'";
        running.coordinator.events.emit(Event::PinNotApplied);
        store::testing::execute(ground.store(), open).await.unwrap() == 1
    })
    .await;
    running.stop().await;
}

const DEAD: usize = 1_500;

/// Looks up a new name while 1,500 names wait whose server is silent. Before, that took minutes:
/// the lookups of silent names filled all places.
async fn resolves_beside(dead: impl Fn(usize) -> String) {
    let server = name_server(HashMap::from([("home.example", Ipv4Addr::LOCALHOST)])).await;
    let ground = Ground::new().await.with_resolver(server);
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    let silent: Vec<String> = (0..DEAD).map(dead).collect();
    running.add_seeds(&silent.iter().map(String::as_str).collect::<Vec<_>>()).await;
    until("silent names were looked up", || async {
        let failed = "UPDATE hosts SET attempts = attempts WHERE attempts > 0";
        store::testing::execute(ground.store(), failed).await.unwrap() > 0
    })
    .await;
    running.add_seeds(&["http://home.example/"]).await;
    let routes = agent.routes(&running).await;
    assert_eq!(routes[0].url, "http://home.example/");
    let waiting = counts(&ground, &running).await.hosts.pending_urls;
    assert!(waiting > 0, "silent names still wait");
    running.stop().await;
}

#[tokio::test]
async fn a_silent_zone_does_not_delay_other_names() {
    resolves_beside(|number| format!("http://n{number}.dead.example/")).await;
}

#[tokio::test]
async fn many_silent_zones_do_not_delay_other_names() {
    resolves_beside(|number| format!("http://www.dead{number}.example/")).await;
}

/// Most of these names of one zone come before another name in both orders of lookups. Before, its
/// lookup waited for theirs, eight at a time, for minutes.
#[tokio::test]
async fn a_slow_zone_does_not_delay_other_names_of_its_source() {
    let server = name_server(HashMap::from([("home.example", Ipv4Addr::LOCALHOST)])).await;
    let ground = Ground::new().await.with_resolver(server);
    let running = ground.start().await;
    running.until_hierarchy_is_loaded().await;
    let mut agent = FakeAgent::approved(&running, 1).await;
    let slow = |side| (0..400).map(move |number| format!("http://{side}{number}.slow.example/"));
    let seeds: Vec<String> =
        slow("a").chain(["http://home.example/".to_owned()]).chain(slow("z")).collect();
    running.add_seeds(&seeds.iter().map(String::as_str).collect::<Vec<_>>()).await;
    let routes = agent.routes(&running).await;
    assert_eq!(routes[0].url, "http://home.example/");
    running.stop().await;
}
