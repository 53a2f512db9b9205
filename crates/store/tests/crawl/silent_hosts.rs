//! Hosts that have not answered for long.

use model::{AgentId, FetchOutcome, UnixMillis};
use store::host_list::{self, FetchSummary};
use store::host_tally::{HostTally, RecentFetch, Silence};
use store::packages::{InTurn, Ingestion, ingest, pending};
use store::silent_hosts;

use crate::packages::{enter, header};
use crate::world::{NOW, World};

fn day(days: i64) -> UnixMillis {
    NOW.plus_ms(days * 24 * 3_600_000)
}

/// One fetch without an answer, or two.
fn silence((first, last): (i64, i64)) -> Silence {
    let fetches = if first == last { 1 } else { 2 };
    Silence { since: day(first), until: day(last), fetches }
}

/// A world with a host and its agent, whose packages are ingested one after the other.
struct Crawl {
    world: World,
    agent: AgentId,
    seq: u64,
}

impl Crawl {
    async fn new() -> Self {
        let world = World::new().await;
        world.queue(&["http://a.example:8080/"]).await;
        world.settle_hosts("198.51.100.7", "198.51.100.0/24").await;
        let agent = world.approved(1, None).await;
        Self { world, agent, seq: 0 }
    }

    /// Ingests a package with fetches of the host: its last answer, and the first and the last
    /// fetch without an answer after it, each by its day.
    async fn ingest(&mut self, answered: Option<i64>, unanswered: Option<(i64, i64)>) {
        self.seq += 1;
        let header = header(self.agent, self.seq);
        enter(&self.world, &header, b"one").await;
        let store = self.world.store();
        let position = pending(store, &InTurn::default(), NOW, 1).await.unwrap()[0].position;
        let fetch = RecentFetch {
            url: "http://a.example:8080/".into(),
            at: NOW,
            outcome: FetchOutcome::Failed,
            detail: String::new(),
            ms: None,
            bytes: 0,
        };
        let host = HostTally {
            scheme: "http".into(),
            authority: "a.example:8080".into(),
            pages: 1,
            fetches: 1,
            recent: vec![fetch],
            answered_at: answered.map(day),
            silence: unanswered.map(silence),
            ..HostTally::default()
        };
        let hosts = vec![host];
        let ingestion =
            Ingestion { position, name: header.name, received_at: NOW, hosts, discovered: vec![] };
        ingest(store, &ingestion, NOW).await.unwrap().unwrap();
    }

    /// The silent hosts; what the list of hosts says must agree.
    async fn silent(&self) -> Vec<String> {
        let silent = silent_hosts::list(self.world.store(), 10).await.unwrap();
        assert_eq!(self.fetched().await.is_silent, !silent.is_empty());
        silent
    }

    async fn fetched(&self) -> FetchSummary {
        let mut hosts = host_list::named(self.world.store(), "a.example:8080").await.unwrap();
        hosts.remove(0).fetched.unwrap()
    }
}

#[tokio::test]
async fn a_host_is_silent_after_thirty_days_until_it_answers() {
    let mut crawl = Crawl::new().await;
    crawl.ingest(Some(0), None).await;
    crawl.ingest(Some(39), Some((40, 40))).await;
    assert_eq!(crawl.silent().await, [""; 0], "one fetch without an answer proves nothing");
    crawl.ingest(None, Some((70, 70))).await;
    assert_eq!(crawl.silent().await, [""; 0], "nor do two");
    crawl.ingest(None, None).await;
    assert_eq!(crawl.silent().await, [""; 0], "nor one that does not tell");
    crawl.ingest(None, Some((41, 41))).await;
    assert_eq!(crawl.silent().await, ["http://a.example:8080"]);
    let fetched = crawl.fetched().await;
    assert_eq!((fetched.answered_at, fetched.unanswered_since), (Some(day(39)), Some(day(40))));
    crawl.ingest(Some(71), Some((72, 72))).await;
    assert_eq!(crawl.silent().await, [""; 0], "it has answered");
    assert_eq!(crawl.fetched().await.unanswered_since, Some(day(72)), "and stopped again");
    crawl.ingest(None, Some((99, 101))).await;
    assert_eq!(crawl.silent().await, [""; 0], "29 days");
    crawl.ingest(None, Some((102, 102))).await;
    assert_eq!(crawl.silent().await, ["http://a.example:8080"]);
    crawl.ingest(Some(103), None).await;
    assert_eq!(crawl.silent().await, [""; 0]);
    assert_eq!(crawl.fetched().await.unanswered_since, None);
}

#[tokio::test]
async fn a_host_without_pages_is_not_listed() {
    let mut crawl = Crawl::new().await;
    crawl.ingest(None, Some((0, 29))).await;
    crawl.ingest(None, Some((30, 30))).await;
    assert_eq!(crawl.silent().await.len(), 1);
    store::testing::execute(crawl.world.store(), "UPDATE hosts SET pages = 0").await.unwrap();
    assert_eq!(silent_hosts::list(crawl.world.store(), 10).await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn more_hosts_than_one_statement_reads_are_listed_by_the_time_of_their_silence() {
    let world = World::new().await;
    world.approved(1, None).await;
    for statement in [
        "INSERT INTO hosts (scheme, authority, pages)
         SELECT 'http', n || '.example', n % 2 FROM generate_series(1, 12000) n",
        // Several fell silent in the same moment.
        "INSERT INTO host_fetches (host, agent, fetched_at, errors, disallowed, wire_bytes, mean_ms,
             recent, unanswered_since, unanswered_until, unanswered_fetches)
         SELECT h.id, a.id, now(), 0, 0, 0, 0, '[]', s.since, s.since + interval '31 days', 3
         FROM agents a, hosts h, LATERAL (
             SELECT timestamptz '2020-01-01' - (split_part(h.authority, '.', 1)::int / 7)
                 * interval '1 minute' AS since) s",
    ] {
        store::testing::execute(world.store(), statement).await.unwrap();
    }
    let number = |host: &String| -> i32 {
        host.trim_start_matches("http://").trim_end_matches(".example").parse().unwrap()
    };
    let silent = silent_hosts::list(world.store(), 50_000).await.unwrap();
    let mut numbers: Vec<i32> = silent.iter().map(number).collect();
    assert!(numbers.is_sorted_by_key(|number| -(number / 7)));
    numbers.sort_unstable();
    assert!(numbers.into_iter().eq((1..=12_000).step_by(2)), "those without pages are left out");
    assert_eq!(silent_hosts::list(world.store(), 5_500).await.unwrap(), silent[..5_500]);
}

#[tokio::test]
async fn packages_in_another_order_make_no_host_silent() {
    let mut crawl = Crawl::new().await;
    crawl.ingest(Some(50), None).await;
    // That of another agent, with earlier fetches.
    crawl.ingest(None, Some((5, 10))).await;
    assert_eq!(crawl.fetched().await.unanswered_since, None);
    crawl.ingest(None, Some((55, 60))).await;
    crawl.ingest(Some(20), None).await;
    let fetched = crawl.fetched().await;
    assert_eq!((fetched.answered_at, fetched.unanswered_since), (Some(day(50)), Some(day(55))));
}
