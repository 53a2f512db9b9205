//! Tests of the virtual internet with real packets through real namespaces.

use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::Command;
use std::time::{Duration, Instant};

use surge_ping::{Client, Config, ICMP, PingIdentifier, PingSequence};

use super::tun::Tun;
use super::*;

const SITES: u16 = 4;
const AGENT: &str = "192.0.2.10";
const AGENT6: &str = "2001:db8::10";
const HOSTS: [&str; 4] = ["198.51.100.1", "198.51.100.2", "203.0.113.3", "203.0.113.4"];
const HOST6: &str = "2001:db8:1::2";

/// Round trips between an agent at site 0 and hosts at sites 0 to 3, in milliseconds.
const RTT_MS: [f64; 4] = [0.6, 11.0, 80.0, 240.0];

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn placed(text: &str, site: u16) -> PlacedAddress {
    PlacedAddress { address: address(text), site: Site(site) }
}

/// One agent, and one node that is all the hosts.
fn plan(change: impl Fn(Path) -> Path) -> Plan {
    let rtt = |from: Site, to: Site| RTT_MS[usize::from(from.0.max(to.0))];
    let hosts =
        HOSTS.iter().zip(0..).map(|(host, site)| placed(host, site)).chain([placed(HOST6, 1)]);
    Plan {
        nodes: vec![
            NodePlan {
                name: "agent".to_owned(),
                addresses: vec![placed(AGENT, 0), placed(AGENT6, 0)],
            },
            NodePlan { name: "web".to_owned(), addresses: hosts.collect() },
        ],
        paths: Paths::new(SITES, |from, to| change(Path::half_of_rtt_ms(rtt(from, to)))),
        seed: 7,
    }
}

/// Fails where this machine or user cannot have a virtual internet.
fn open(plan: Plan) -> Internet {
    Internet::open(plan).unwrap()
}

fn listen(internet: &Internet, port: u16) -> TcpListener {
    let everywhere = SocketAddr::from((std::net::Ipv6Addr::UNSPECIFIED, port));
    internet.namespace("web").unwrap().run(|| TcpListener::bind(everywhere)).unwrap().unwrap()
}

/// Fails unless the shortest of a few round trips is that of the matrix. Of more, while all of them
/// are longer: other programs delay some.
async fn assert_matches(what: &str, rtt: f64, mut sample: impl AsyncFnMut() -> f64) {
    let allowed = 2.0 + rtt * 0.05;
    let mut shortest = f64::INFINITY;
    for taken in 0..64 {
        if taken >= 8 && shortest <= rtt + allowed {
            break;
        }
        shortest = shortest.min(sample().await);
    }
    assert!(
        (shortest - rtt).abs() <= allowed,
        "{what}: measured {shortest:.2} ms, the matrix says {rtt} ms"
    );
    eprintln!("{what}: {shortest:.3} ms for {rtt} ms");
}

/// A handshake from the agent, in milliseconds.
fn handshake_ms(internet: &Internet, to: SocketAddr) -> f64 {
    let connect = || {
        let start = Instant::now();
        TcpStream::connect_timeout(&to, Duration::from_secs(3)).unwrap();
        start.elapsed().as_secs_f64() * 1_000.0
    };
    internet.namespace("agent").unwrap().run(connect).unwrap()
}

async fn assert_handshakes(internet: &Internet, host: &str, rtt: f64) {
    let to = SocketAddr::from((address(host), 80));
    assert_matches(&format!("tcp {host}"), rtt, async || handshake_ms(internet, to)).await;
}

async fn assert_echoes(internet: &Internet, host: &str, rtt: f64) {
    let to = address(host);
    let runtime = tokio::runtime::Handle::current();
    let kind = if to.is_ipv4() { ICMP::V4 } else { ICMP::V6 };
    let inside = || {
        let _guard = runtime.enter();
        Client::new(&Config::builder().kind(kind).build())
    };
    let client = internet.namespace("agent").unwrap().run(inside).unwrap().unwrap();
    let mut pinger = client.pinger(to, PingIdentifier(9)).await;
    pinger.timeout(Duration::from_secs(3));
    let mut sequence = 0;
    let echo = async || {
        sequence += 1;
        // What it returns begins after the request was sent, and is too short when something else
        // ran in between.
        let before = Instant::now();
        pinger.ping(PingSequence(sequence), &[0; 32]).await.unwrap();
        before.elapsed().as_secs_f64() * 1_000.0
    };
    assert_matches(&format!("icmp {host}"), rtt, echo).await;
}

#[tokio::test]
#[ignore = "needs a TUN device"]
async fn icmp_and_tcp_round_trips_match_the_matrix() {
    let internet = open(plan(|path| path));
    let _listener = listen(&internet, 80);
    for (host, rtt) in HOSTS.iter().zip(RTT_MS) {
        assert_echoes(&internet, host, rtt).await;
        assert_handshakes(&internet, host, rtt).await;
    }
    assert_eq!(internet.links().traffic().unknown, 0);
}

#[tokio::test]
#[ignore = "needs a TUN device"]
async fn ipv6_round_trips_match_too() {
    let internet = open(plan(|path| path));
    let _listener = listen(&internet, 80);
    assert_echoes(&internet, HOST6, RTT_MS[1]).await;
    assert_handshakes(&internet, HOST6, RTT_MS[1]).await;
}

#[test]
#[ignore = "needs a TUN device"]
fn a_cut_way_is_silent_until_it_is_healed() {
    let internet = open(plan(|path| path));
    let _listener = listen(&internet, 80);
    let links = internet.links();
    let connect = |host: &str| {
        let to = SocketAddr::from((address(host), 80));
        let attempt = || TcpStream::connect_timeout(&to, Duration::from_millis(400)).map(drop);
        internet.namespace("agent").unwrap().run(attempt).unwrap()
    };
    links.cut(Scope::Sites(Site(1), Site(0))).unwrap();
    assert_eq!(connect(HOSTS[1]).unwrap_err().kind(), io::ErrorKind::TimedOut);
    connect(HOSTS[2]).unwrap();
    assert!(links.traffic().cut > 0);
    links.heal(Scope::Sites(Site(0), Site(1))).unwrap();
    connect(HOSTS[1]).unwrap();

    links.part(&[Site(0)], &[Site(1), Site(2)]).unwrap();
    assert!(connect(HOSTS[1]).is_err() && connect(HOSTS[2]).is_err());
    links.heal_all().unwrap();
    connect(HOSTS[2]).unwrap();
}

#[tokio::test]
#[ignore = "needs a TUN device"]
async fn a_slowed_host_is_slower_by_that_much() {
    let internet = open(plan(|path| path));
    let _listener = listen(&internet, 80);
    let scope = Scope::Address(address(HOSTS[1]));
    let slowdown = Slowdown { factor: 2.0, extra: Duration::from_millis(15) };
    internet.links().slow(scope, slowdown).unwrap();
    let to = SocketAddr::from((address(HOSTS[1]), 80));
    let rtt = RTT_MS[1] * 2.0 + 30.0;
    assert_matches("slowed", rtt, async || handshake_ms(&internet, to)).await;
}

#[test]
#[ignore = "needs a TUN device"]
fn nothing_leaves_and_the_proof_says_so() {
    let internet = open(plan(|path| path));
    let proof = internet.prove_isolated().unwrap();
    assert_eq!(proof.namespaces, 2);
    assert!(proof.routes >= 2, "both default routes are seen: {proof}");

    let shout = || UdpSocket::bind("0.0.0.0:0").unwrap().send_to(b"anybody?", "9.9.9.9:53");
    let agent = internet.namespace("agent").unwrap();
    agent.run(shout).unwrap().unwrap();
    wait_until("the stray packet is counted", || internet.links().traffic().unknown == 1);

    let stray = agent.run(|| Tun::create("backdoor0")).unwrap().unwrap();
    let error = internet.prove_isolated().unwrap_err();
    assert!(
        matches!(&error, NetError::NotIsolated { finding, .. } if finding.contains("backdoor0")),
        "{error}"
    );
    drop(stray);
}

#[test]
#[ignore = "needs a TUN device"]
fn a_program_started_inside_sees_only_the_inside() {
    let internet = open(plan(|path| path));
    let mut cat = Command::new("cat");
    cat.arg("/proc/net/dev");
    let output = internet.namespace("agent").unwrap().enter_command(&mut cat).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let names: Vec<_> =
        text.lines().filter_map(|l| l.split_once(':')).map(|(name, _)| name.trim()).collect();
    assert_eq!(names.len(), 2, "{text}");
    assert!(names.contains(&"lo") && names.contains(&"wan0"), "{text}");
}

#[test]
#[ignore = "needs a TUN device"]
fn jitter_keeps_the_order_and_loss_loses_its_share() {
    const SENT: u32 = 400;
    const BURST: u32 = 50;
    let rough = |path| Path { jitter: Duration::from_millis(20), loss: 0.25, ..path };
    let internet = open(plan(rough));
    let bind = |node: &str, at: String| {
        internet.namespace(node).unwrap().run(|| UdpSocket::bind(at)).unwrap().unwrap()
    };
    let receiver = bind("web", format!("{}:5000", HOSTS[1]));
    let sender = bind("agent", format!("{AGENT}:0"));
    receiver.set_read_timeout(Some(Duration::from_millis(10))).unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let mut buffer = [0; 4];
    let mut arrived = Vec::new();
    for number in 0..SENT {
        sender.send_to(&number.to_be_bytes(), (HOSTS[1], 5_000)).unwrap();
        // So many fit into every buffer on the way, however slow the machine is.
        while (number + 1) % BURST == 0
            && arrived.len() as u64 + internet.links().traffic().lost < u64::from(number + 1)
        {
            assert!(Instant::now() < deadline, "{} of {number} arrived", arrived.len());
            if receiver.recv(&mut buffer).is_ok() {
                arrived.push(u32::from_be_bytes(buffer));
            }
        }
    }
    assert!(arrived.is_sorted(), "{arrived:?}");
    let lost = SENT - arrived.len() as u32;
    assert!((SENT / 8..SENT * 3 / 8).contains(&lost), "lost {lost} of {SENT}");
    assert_eq!(internet.links().traffic().lost, u64::from(lost));
}

#[tokio::test]
#[ignore = "needs a TUN device"]
async fn a_door_leads_in_from_outside() {
    let internet = open(plan(|path| path));
    let listener = listen(&internet, 8_080);
    let answer = std::thread::spawn(move || {
        let (mut guest, _) = listener.accept().unwrap();
        let mut question = [0; 5];
        guest.read_exact(&mut question).unwrap();
        guest.write_all(&question).unwrap();
    });
    let outside = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let web = internet.namespace("web").unwrap().clone();
    let port_forward = PortForward::open(web, outside, "127.0.0.1:8080".parse().unwrap()).unwrap();
    let to = port_forward.outside();
    let ask = move || {
        let mut stream = TcpStream::connect(to).unwrap();
        stream.write_all(b"hello").unwrap();
        let mut back = [0; 5];
        stream.read_exact(&mut back).unwrap();
        back
    };
    assert_eq!(&tokio::task::spawn_blocking(ask).await.unwrap(), b"hello");
    answer.join().unwrap();
}

#[test]
fn wrong_plans_are_refused_before_anything_is_made() {
    let refused = |change: &dyn Fn(&mut Plan)| {
        let mut plan = plan(|path| path);
        change(&mut plan);
        let error = Internet::open(plan).unwrap_err();
        assert!(matches!(error, NetError::Plan(_)), "{error}");
        error.to_string()
    };
    let twice = refused(&|plan| plan.nodes[0].addresses.push(placed(HOSTS[0], 1)));
    assert!(twice.contains("198.51.100.1 is given twice"), "{twice}");
    refused(&|plan| plan.nodes[0].addresses.clear());
    refused(&|plan| plan.nodes[1].name = "agent".to_owned());
    refused(&|plan| plan.nodes[1].addresses[0].site = Site(SITES));
}

/// Waits for a level; the router works in its own thread.
fn wait_until(what: &str, level: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !level() {
        assert!(Instant::now() < deadline, "waited in vain until {what}");
        std::thread::yield_now();
    }
}
