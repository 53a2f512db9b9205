//! Probes as those see them at whose doors they knock: who is let through, how often, and who is
//! never sent.

use std::{
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use jiff::{ToSpan as _, Zoned};
use protocol::{AgentState, ProbeId, ProbeMethod, ProbeOrder, ProbeResult};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
};

use crate::{
    probes::{measure, order},
    town::{Town, address},
};

/// A listener that counts connections and answers requests.
struct Door {
    at: SocketAddr,
    knocks: Arc<AtomicU32>,
    /// First lines of requests.
    asked: Arc<Mutex<Vec<String>>>,
}

impl Door {
    async fn open(ip: IpAddr) -> Self {
        Self::slow(ip, &[]).await
    }

    /// The nth request is answered after the nth of these pauses, and those after them at once.
    async fn slow(ip: IpAddr, pauses: &'static [Duration]) -> Self {
        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let at = listener.local_addr().unwrap();
        let (knocks, asked) = (Arc::<AtomicU32>::default(), Arc::<Mutex<Vec<String>>>::default());
        let (counted, heard) = (Arc::clone(&knocks), Arc::clone(&asked));
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(answer(stream, Arc::clone(&heard), pauses));
            }
        });
        Self { at, knocks, asked }
    }

    fn knocks(&self) -> u32 {
        self.knocks.load(Ordering::SeqCst)
    }

    fn order(&self, town: &Town, id: i64, methods: &[ProbeMethod]) -> ProbeOrder {
        let (port, host) = (self.at.port(), self.at.to_string());
        ProbeOrder { port, host, ..order(town, id, self.at.ip(), methods) }
    }
}

async fn answer(stream: TcpStream, heard: Arc<Mutex<Vec<String>>>, pauses: &[Duration]) {
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
            let mut heard = heard.lock().unwrap();
            heard.push(first.trim_end().to_owned());
            heard.len() - 1
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

/// An agent that may knock at the ports of these doors, with more lines for its configuration.
async fn town(doors: &[&Door], more: &[(&'static str, &str)]) -> Town {
    let mut town = Town::new(1).await;
    let ports: Vec<u16> = doors.iter().map(|door| door.at.port()).collect();
    town.configure("guard", &format!("ports = {ports:?}"));
    for (table, line) in more {
        town.configure(table, line);
    }
    town
}

fn refused_because(result: &ProbeResult, why: &str) -> bool {
    matches!(result, ProbeResult::Refused { reason } if reason.contains(why))
}

#[tokio::test(flavor = "multi_thread")]
async fn as_many_samples_as_the_order_says_and_the_smallest_counts() {
    const SLOW: Duration = Duration::from_secs(1);
    let (tcp, slow) = (Door::open(here(1)).await, Door::slow(here(2), &[SLOW]).await);
    let mut town = town(&[&tcp, &slow], &[("probe", "timeout_ms = 20000")]).await;
    town.start_approved().await;
    for (id, samples, knocks) in [(1, 1, 1), (2, 5, 6)] {
        let order = ProbeOrder { samples, ..tcp.order(&town, id, &[ProbeMethod::Tcp]) };
        let result = measure(&town, order).await;
        let ProbeResult::Measured { method: ProbeMethod::Tcp, samples: taken, .. } = result else {
            panic!("{result:?}")
        };
        town.until("all connections were counted", |_| tcp.knocks() >= knocks).await;
        assert_eq!((taken, tcp.knocks()), (samples, knocks));
    }
    let head = measure(&town, slow.order(&town, 3, &[ProbeMethod::Head])).await;
    let ProbeResult::Measured { method: ProbeMethod::Head, samples: 2, rtt_us } = head else {
        panic!("{head:?}")
    };
    assert!(Duration::from_micros(rtt_us.into()) < SLOW, "{rtt_us}");
    assert_eq!(*slow.asked.lock().unwrap(), ["HEAD / HTTP/1.1"; 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_method_reaches_both_families() {
    let six = IpAddr::V6(Ipv6Addr::LOCALHOST);
    let doors = [Door::open(here(1)).await, Door::open(six).await];
    let allow = ("guard", "allow = [\"127.1.0.0/16\", \"::1/128\"]");
    let mut town = town(&[&doors[0], &doors[1]], &[allow, ("probe", "timeout_ms = 20000")]).await;
    town.start_approved().await;
    let mut id = 0;
    for door in &doors {
        for wanted in [ProbeMethod::Tcp, ProbeMethod::Head] {
            id += 1;
            let result = measure(&town, door.order(&town, id, &[wanted])).await;
            assert!(
                matches!(result, ProbeResult::Measured { method, .. } if method == wanted),
                "{result:?}"
            );
        }
        // Where the system allows echoes they come first, and nobody's door is knocked at.
        let knocks = door.knocks();
        id += 1;
        let result =
            measure(&town, door.order(&town, id, &[ProbeMethod::Icmp, ProbeMethod::Tcp])).await;
        match result {
            ProbeResult::Measured { method: ProbeMethod::Icmp, .. } => {
                assert_eq!(door.knocks(), knocks);
            }
            ProbeResult::Measured { method: ProbeMethod::Tcp, .. } => {
                assert!(door.knocks() > knocks);
            }
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_behind_a_port_is_unreachable_and_no_refusal() {
    let door = Door::open(here(1)).await;
    let mut town = town(&[&door], &[("guard", "ports = [80, 9]")]).await;
    town.start_approved().await;
    let nobody = ProbeOrder { port: 9, ..door.order(&town, 1, &[ProbeMethod::Tcp]) };
    let result = measure(&town, nobody).await;
    assert!(
        matches!(&result, ProbeResult::Unreachable { reason } if reason.starts_with("tcp:")),
        "{result:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_owner_does_not_allow_is_never_sent() {
    let (denied, inside, closed) = (
        Door::open(here(9)).await,
        Door::open(Ipv4Addr::new(127, 66, 0, 1).into()).await,
        Door::open(here(1)).await,
    );
    let deny = ("guard", "deny = [\"127.1.0.9/32\"]");
    let mut town = town(&[&denied, &inside], &[deny, ("probe", "methods = [\"tcp\"]")]).await;
    town.start_approved().await;
    let both = [ProbeMethod::Tcp, ProbeMethod::Head];
    for (id, door, because) in
        [(1, &denied, "denies"), (2, &inside, "127.0.0.0/8"), (3, &closed, "port")]
    {
        let result = measure(&town, door.order(&town, id, &both)).await;
        assert!(refused_because(&result, because), "{result:?}");
    }
    for door in [&denied, &inside, &closed] {
        assert_eq!(door.knocks(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_that_waits_for_the_budget_is_not_sent_when_the_agent_may_not_work_any_more() {
    let (first, second) = (Door::open(here(1)).await, Door::open(here(2)).await);
    let mut town = town(&[&first, &second], &[("probe", "new_targets_per_minute = 1")]).await;
    town.start_approved().await;
    measure(&town, first.order(&town, 1, &[ProbeMethod::Tcp])).await;
    let waiting = second.order(&town, 2, &[ProbeMethod::Tcp]);
    town.coordinator.order(waiting);
    let taken = |town: &Town| {
        let delegation_table = town.coordinator.delegation_table();
        delegation_table
            .heartbeats
            .last()
            .is_some_and(|heartbeat| heartbeat.probes_taken.contains(&ProbeId::new(2)))
    };
    town.until("the order was taken", taken).await;
    assert_eq!(second.knocks(), 0, "one new target a minute");
    town.coordinator.change(|delegation_table| delegation_table.state = AgentState::Paused);
    let told =
        |town: &Town| town.coordinator.delegation_table().reports.contains_key(&ProbeId::new(2));
    town.until("the report has arrived", told).await;
    let result = town.coordinator.delegation_table().reports[&ProbeId::new(2)].clone();
    assert!(refused_because(&result, "paused"), "{result:?}");
    assert_eq!(second.knocks(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn outside_the_owners_hours_nothing_is_sent() {
    let door = Door::open(here(1)).await;
    let now = Zoned::now().with_time_zone(jiff::tz::TimeZone::UTC);
    let (start, end) = (&now - 6.hours(), &now - 3.hours());
    let span = format!("spans = [\"daily {}-{}\"]", start.strftime("%H:%M"), end.strftime("%H:%M"));
    let mut town = town(&[&door], &[("", &span)]).await;
    town.coordinator.order(door.order(&town, 1, &[ProbeMethod::Icmp, ProbeMethod::Tcp]));
    town.coordinator.approve();
    town.start().await;
    town.until("the agent says that it sleeps", |town| {
        town.coordinator.delegation_table().asleep()
    })
    .await;
    let (ended, _) = town.stop().await;
    assert!(ended.success());
    assert_eq!((door.knocks(), town.coordinator.delegation_table().reports.len()), (0, 0));
}
