//! Agents that ship packages of made-up pages of their own machine, one after the other.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use model::UnixMillis;
use protocol::package::{self, FinishedPackage, PackageName};
use protocol::page::{ContentHash, Entry, Fetch, Outcome, Page, Timing};
use tests::harness::Admin;

use crate::scripted::{Desk, now};

/// Pages in a package.
pub(crate) const PAGES: u64 = 3;
/// A word that each page contains.
pub(crate) const WORD: &str = "perennial";
/// Pause between two packages, as fetches would cause.
const PAUSE: Duration = Duration::from_millis(100);

/// What the coordinators acknowledged to an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Acknowledged {
    pub(crate) packages: u64,
    last: Instant,
    /// Longest time between two acknowledgements.
    pub(crate) longest_gap: Duration,
}

/// An agent at work until the value is dropped.
pub(crate) struct Crawling {
    acknowledged: Arc<Mutex<Acknowledged>>,
    work: tokio::task::JoinHandle<()>,
}

impl Crawling {
    /// Sets agent `number` to work, which has its own machine delegated.
    pub(crate) fn start(number: usize, mut desk: Desk) -> Self {
        let begin = Acknowledged { packages: 0, last: Instant::now(), longest_gap: Duration::ZERO };
        let acknowledged = Arc::new(Mutex::new(begin));
        let noted = Arc::clone(&acknowledged);
        let work = tokio::spawn(async move {
            for seq in 1.. {
                let package = package(&desk, number, seq);
                while desk.ship(&package).await.is_none() {
                    tokio::time::sleep(PAUSE).await;
                }
                note(&mut noted.lock().unwrap());
                tokio::time::sleep(PAUSE).await;
            }
        });
        Self { acknowledged, work }
    }

    pub(crate) fn acknowledged(&self) -> Acknowledged {
        *self.acknowledged.lock().unwrap()
    }

    /// Ends the work between two packages, and returns what was acknowledged.
    pub(crate) async fn stop(self) -> Acknowledged {
        // A package may be on its way without its acknowledgement: the next one is awaited.
        let seen = self.acknowledged().packages;
        while self.acknowledged().packages == seen {
            assert!(!self.work.is_finished(), "the agent stopped by itself");
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        self.work.abort();
        self.acknowledged()
    }
}

impl Drop for Crawling {
    fn drop(&mut self) {
        self.work.abort();
    }
}

fn note(acknowledged: &mut Acknowledged) {
    acknowledged.packages += 1;
    acknowledged.longest_gap = acknowledged.longest_gap.max(acknowledged.last.elapsed());
    acknowledged.last = Instant::now();
}

/// Enrols agent `number` (from 127.0.1.`number`) and lets it be approved.
pub(crate) async fn enrol(number: usize, at: Vec<SocketAddr>, admin: &Admin) -> Desk {
    let token = admin.join_token(&format!("agent {number}")).await.unwrap();
    let desk = Desk::enrol(number, at, token).await;
    admin.approve(desk.id).await.unwrap();
    desk
}

/// The URL that makes a host of agent `number` known.
pub(crate) fn host(number: usize) -> String {
    format!("http://127.0.1.{number}/")
}

fn package(desk: &Desk, number: usize, seq: u64) -> FinishedPackage {
    let url = |page| format!("{}{seq}-{page}", host(number));
    let entries: Vec<Entry> = (0..PAGES).map(|page| fetch(&url(page))).collect();
    let name = PackageName { agent: desk.id, epoch: 1, seq };
    package::build(&entries, name, now(), &desk.key).unwrap()
}

fn fetch(url: &str) -> Entry {
    let page = Page {
        status: 200,
        media_type: "text/html".into(),
        charset: "utf-8".into(),
        lang: None,
        title: String::new(),
        headings: String::new(),
        text: WORD.into(),
        sha256: ContentHash::default(),
        canonical: None,
        max_snippet: None,
        links: Vec::new(),
    };
    let fetched_at: UnixMillis = now();
    Entry::Fetch(Box::new(Fetch {
        url: url.into(),
        fetched_at,
        address: None,
        timing: Some(Timing { connect_us: 0, tcp_us: 0, first_byte_us: 1, total_us: 1 }),
        wire_bytes: 100,
        outcome: Outcome::Page(page),
        trend: None,
    }))
}
