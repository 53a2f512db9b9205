//! Probes as their targets see them: which are sent, how often, and which never are.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use model::{AgentState, ProbeId, ProbeMethod};
use protocol::{ProbeOrder, ProbeResult};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{
    probes::{measure, order},
    testbed::{TestBed, address},
};

/// A listener that counts connections and answers requests.
struct ProbeTarget {
    at: SocketAddr,
    connections: Arc<AtomicU32>,
    /// First lines of requests.
    asked: Arc<Mutex<Vec<String>>>,
}

impl ProbeTarget {
    async fn open(ip: IpAddr) -> Self {
        Self::slow(ip, &[]).await
    }

    /// The nth request is answered after the nth of these pauses, and those after them at once.
    async fn slow(ip: IpAddr, pauses: &'static [Duration]) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let connections = Arc::<AtomicU32>::default();
        let asked = Arc::<Mutex<Vec<String>>>::default();
        let counted = Arc::clone(&connections);
        let requests = Arc::clone(&asked);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, Arc::clone(&requests), pauses));
            }
        });
        Self { at, connections, asked }
    }

    fn connections(&self) -> u32 {
        self.connections.load(Ordering::SeqCst)
    }

    fn order(&self, bed: &TestBed, id: i64, methods: &[ProbeMethod]) -> ProbeOrder {
        let port = self.at.port();
        let host = self.at.to_string();
        ProbeOrder { port, host, ..order(bed, id, self.at.ip(), methods) }
    }
}

async fn answer(stream: TcpStream, requests: Arc<Mutex<Vec<String>>>, pauses: &[Duration]) {
    let mut stream = BufReader::new(stream);
    let mut first = String::new();
    // A connection without a request was a TCP probe.
    while stream.read_line(&mut first).await.is_ok_and(|read| read > 0) {
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if !stream.read_line(&mut line).await.is_ok_and(|read| read > 0) {
                return;
            }
        }
        let nth = {
            let mut requests = requests.lock().unwrap();
            requests.push(first.trim_end().to_owned());
            requests.len() - 1
        };
        tokio::time::sleep(pauses.get(nth).copied().unwrap_or_default()).await;
        first.clear();
        if stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.is_err() {
            return;
        }
    }
}

fn here(n: u8) -> IpAddr {
    address(n).into()
}

/// An agent that may contact the ports of these targets, with more lines of configuration.
async fn bed(targets: &[&ProbeTarget], more: &[(&'static str, &str)]) -> TestBed {
    let mut bed = TestBed::new(1).await;
    let ports: Vec<u16> = targets.iter().map(|target| target.at.port()).collect();
    bed.configure("guard", &format!("ports = {ports:?}"));
    for (table, line) in more {
        bed.configure(table, line);
    }
    bed
}

fn refused_because(result: &ProbeResult, why: &str) -> bool {
    matches!(result, ProbeResult::Refused { reason } if reason.contains(why))
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_samples_as_the_order_says_and_the_smallest_counts() {
    const SLOW: Duration = Duration::from_secs(1);
    let tcp = ProbeTarget::open(here(1)).await;
    let slow = ProbeTarget::slow(here(2), &[Duration::ZERO, SLOW]).await;
    let mut bed = bed(&[&tcp, &slow], &[("probe", "timeout_ms = 20000")]).await;
    bed.start_approved().await;
    for (id, samples, connections) in [(1, 1, 1), (2, 5, 6)] {
        let order = ProbeOrder { samples, ..tcp.order(&bed, id, &[ProbeMethod::Tcp]) };
        let result = measure(&bed, order).await;
        let ProbeResult::Measured { method: ProbeMethod::Tcp, samples: taken, .. } = result else {
            panic!("{result:?}")
        };
        bed.until("all connections were counted", |_| tcp.connections() >= connections).await;
        assert_eq!((taken, tcp.connections()), (samples, connections));
    }
    let head = measure(&bed, slow.order(&bed, 3, &[ProbeMethod::Head])).await;
    let ProbeResult::Measured { method: ProbeMethod::Head, samples: 2, rtt_us } = head else {
        panic!("{head:?}")
    };
    assert!(Duration::from_micros(rtt_us.into()) < SLOW, "{rtt_us}");
    let head = "HEAD / HTTP/1.1";
    assert_eq!(*slow.asked.lock().unwrap(), ["GET /robots.txt HTTP/1.1", head, head]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_reaches_both_families() {
    let six = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let targets = [ProbeTarget::open(here(1)).await, ProbeTarget::open(six).await];
    let allow = ("guard", "allow = [\"127.1.0.0/16\", \"::1/128\"]");
    let mut bed = bed(&[&targets[0], &targets[1]], &[allow, ("probe", "timeout_ms = 20000")]).await;
    bed.start_approved().await;
    let mut id = 0;
    for target in &targets {
        for wanted in [ProbeMethod::Tcp, ProbeMethod::Head] {
            id += 1;
            let result = measure(&bed, target.order(&bed, id, &[wanted])).await;
            assert!(
                matches!(result, ProbeResult::Measured { method, .. } if method == wanted),
                "{result:?}"
            );
        }
        // Where the system allows echoes they come first, and no connection is made.
        let connections = target.connections();
        id += 1;
        let result =
            measure(&bed, target.order(&bed, id, &[ProbeMethod::Icmp, ProbeMethod::Tcp])).await;
        match result {
            ProbeResult::Measured { method: ProbeMethod::Icmp, .. } => {
                assert_eq!(target.connections(), connections);
            }
            ProbeResult::Measured { method: ProbeMethod::Tcp, .. } => {
                assert!(target.connections() > connections);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_port_is_unreachable_not_refused() {
    let target = ProbeTarget::open(here(1)).await;
    let mut bed = bed(&[&target], &[("guard", "ports = [80, 9]")]).await;
    bed.start_approved().await;
    let host = "127.1.0.1:9".into();
    let closed = ProbeOrder { port: 9, host, ..target.order(&bed, 1, &[ProbeMethod::Tcp]) };
    let result = measure(&bed, closed).await;
    assert!(
        matches!(&result, ProbeResult::Unreachable { reason } if reason.starts_with("tcp:")),
        "{result:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn forbidden_probes_are_never_sent() {
    let denied = ProbeTarget::open(here(9)).await;
    let inside = ProbeTarget::open(Ipv4Addr::new(127, 66, 0, 1).into()).await;
    let closed = ProbeTarget::open(here(1)).await;
    let deny = ("guard", "deny = [\"127.1.0.9/32\"]");
    let mut bed = bed(&[&denied, &inside], &[deny, ("probe", "methods = [\"tcp\"]")]).await;
    bed.start_approved().await;
    let both = [ProbeMethod::Tcp, ProbeMethod::Head];
    for (id, target, because) in
        [(1, &denied, "denies"), (2, &inside, "127.0.0.0/8"), (3, &closed, "port")]
    {
        let result = measure(&bed, target.order(&bed, id, &both)).await;
        assert!(refused_because(&result, because), "{result:?}");
    }
    for target in [&denied, &inside, &closed] {
        assert_eq!(target.connections(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_drops_a_probe_without_an_answer_and_it_can_be_ordered_again() {
    let first = ProbeTarget::open(here(1)).await;
    let second = ProbeTarget::open(here(2)).await;
    let mut bed = bed(&[&first, &second], &[("probe", "new_targets_per_minute = 1")]).await;
    bed.start_approved().await;
    measure(&bed, first.order(&bed, 1, &[ProbeMethod::Tcp])).await;
    // It waits for the owner's budget: one new target a minute.
    bed.coordinator.order(second.order(&bed, 2, &[ProbeMethod::Tcp]));
    let says = |bed: &TestBed, takes_probes: bool, accepted: bool| {
        let state = bed.coordinator.state();
        state.heartbeats.last().is_some_and(|heartbeat| {
            let has_it = heartbeat.probes_accepted.contains(&ProbeId::new(2));
            (heartbeat.takes_probes, has_it) == (takes_probes, accepted)
        })
    };
    bed.until("the order is accepted", |bed| says(bed, true, true)).await;
    assert!(bed.run(&["pause"]).await.status.success());
    bed.until("the order is dropped", |bed| says(bed, false, false)).await;
    assert!(!bed.coordinator.state().reports.contains_key(&ProbeId::new(2)));
    assert!(bed.run(&["resume"]).await.status.success());
    bed.until("the repeated order is accepted", |bed| says(bed, true, true)).await;
    // An admin's pause does the same; the coordinator knows of it.
    bed.coordinator.change(|state| state.state = AgentState::Paused);
    bed.until("the order is dropped again", |bed| says(bed, true, false)).await;
    assert!(!bed.coordinator.state().reports.contains_key(&ProbeId::new(2)));
    assert_eq!(second.connections(), 0);
}
