//! Tests of environments with real packets, names and pages.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::choose;
use crate::referee::Rules;
use crate::web::crawler::crawl;
use crate::world::*;

fn small() -> Size {
    Size { agents: 3, hosts: 8, countries: 3, near_ms: None }
}

/// Measurements until one is as it should be: a machine that does something else in between makes
/// them longer, never shorter.
const TRIES: usize = 100;

fn is_near(took: Duration, rtt_ms: f64) -> bool {
    (took.as_secs_f64() * 1_000.0 - rtt_ms).abs() <= 2.0 + rtt_ms * 0.05
}

fn assert_near(what: &str, took: Duration, rtt_ms: f64) {
    let measured = took.as_secs_f64() * 1_000.0;
    assert!(is_near(took, rtt_ms), "{what}: {measured:.2} ms for {rtt_ms:.2} ms");
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a TUN device"]
async fn on_the_internet_stage_distances_names_and_pages_are_those_of_the_world() {
    let environment = Environment::open(choose(small()), 40).unwrap();
    let proof = environment.prove_isolated().unwrap().unwrap();
    assert_eq!(proof.namespaces, 6);
    for host in 0..environment.world().hosts.len() {
        let to = SocketAddr::new(environment.world().hosts[host].address, 80);
        let connect = || {
            let start = Instant::now();
            TcpStream::connect_timeout(&to, Duration::from_secs(3)).unwrap();
            start.elapsed()
        };
        let rtt_ms = environment.world().rtt_ms(1, host);
        let shortest = || {
            let mut shortest = connect();
            for _ in 1..TRIES {
                if is_near(shortest, rtt_ms) {
                    break;
                }
                shortest = shortest.min(connect());
            }
            shortest
        };
        assert_near("a handshake", environment.run(Node::Agent(1), shortest).unwrap(), rtt_ms);
    }
    // An honest crawl from inside, with every socket opened there.
    let crawl = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(crawl(environment.web()))
    };
    let seen = environment.run(Node::Agent(0), crawl).unwrap();
    let report = environment.referee().report(&Rules { least_gap: Duration::ZERO });
    assert!(report.coverage.is_complete() && report.disallowed_fetched == 0, "{report}");
    assert_eq!(seen.statuses.len(), report.unique);
    assert_eq!(report.agents[0].address, environment.address(Node::Agent(0)).unwrap());
    assert_eq!(environment.links().unwrap().traffic().unknown, 0);
}

/// Hosts that each agent of the whole demo visits.
const EACH: usize = 8;

/// Asks a host for its robots.txt, the plain way.
fn ask_for_robots(host: &Participant) -> String {
    let mut stream =
        TcpStream::connect_timeout(&SocketAddr::new(host.address, 80), Duration::from_secs(10))
            .unwrap();
    write!(stream, "GET /robots.txt HTTP/1.0\r\nHost: {}\r\n\r\n", host.name).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a TUN device"]
async fn the_whole_demo_fits_on_the_stage() {
    let opening = Instant::now();
    let environment = Environment::open(choose(Size::default()), 6_000).unwrap();
    eprintln!("opened in {:?}", opening.elapsed());
    assert_eq!(environment.prove_isolated().unwrap().unwrap().namespaces, 15);
    let agents = environment.world().agents.len();
    let visit = &|agent: usize| {
        for host in environment.world().hosts.iter().skip(agent).step_by(agents).take(EACH) {
            let answer = ask_for_robots(host);
            assert!(
                answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.0 404"),
                "{answer}"
            );
        }
    };
    std::thread::scope(|scope| {
        for agent in 0..agents {
            let environment = &environment;
            scope.spawn(move || environment.run(Node::Agent(agent), || visit(agent)).unwrap());
        }
    });
    let report = environment.referee().report(&Rules { least_gap: Duration::ZERO });
    assert_eq!((report.hosts_seen, report.agents.len()), (12 * EACH, 12));
    assert!(report.robots_again.is_empty() && report.shared_hosts.is_empty());
    let traffic = environment.links().unwrap().traffic();
    eprintln!("{traffic}");
    assert_eq!((traffic.unknown, traffic.refused, traffic.malformed), (0, 0, 0));
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a TUN device"]
async fn the_name_server_answers_inside() {
    let environment = Environment::open(choose(small()), 40).unwrap();
    let host = &environment.world().hosts[0];
    let mut question = hickory_proto::op::Message::query();
    let name = host.name.parse::<hickory_proto::rr::Name>().unwrap();
    question.add_query(hickory_proto::op::Query::query(name, hickory_proto::rr::RecordType::A));
    let ask = || {
        let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        socket.send_to(&question.to_vec().unwrap(), environment.resolver()).unwrap();
        let mut buffer = [0; 512];
        let length = socket.recv(&mut buffer).unwrap();
        hickory_proto::op::Message::from_vec(&buffer[..length]).unwrap()
    };
    let answer = environment.run(Node::Agent(2), ask).unwrap();
    assert_eq!(answer.answers[0].data.ip_addr(), Some(host.address));
}

#[tokio::test]
async fn on_loopback_the_web_imposes_the_distances() {
    let mirror = choose(small()).on_loopback().unwrap();
    let environment = Environment::open(mirror.world, 40).unwrap();
    assert!(environment.prove_isolated().unwrap().is_none() && environment.links().is_none());
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut probes = 0;
    for agent in 0..3 {
        let client = reqwest::Client::builder()
            .no_proxy()
            .local_address(environment.address(Node::Agent(agent)));
        let client = client.build().unwrap();
        for host in [0, 5] {
            let url = format!(
                "http://{}:{}/",
                environment.world().hosts[host].address,
                environment.web().port()
            );
            let rtt_ms = environment.world().rtt_ms(agent, host);
            let mut took = Duration::MAX;
            for _ in 0..TRIES {
                let start = Instant::now();
                client.head(&url).send().await.unwrap();
                probes += 1;
                took = took.min(start.elapsed());
                if is_near(took, rtt_ms) {
                    break;
                }
            }
            assert_near("a HEAD", took, rtt_ms);
        }
    }
    assert_eq!(environment.referee().report(&Rules { least_gap: Duration::ZERO }).probes, probes);
}
