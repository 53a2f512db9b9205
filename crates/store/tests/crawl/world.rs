//! A little world to begin a test from.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, CrawlUrl, HostId, SearchId, UnixMillis};
use protocol::enrol::AgentProfile;
use protocol::key::AgentKey;
use serde_json::Value;
use store::agents::{self, Enrolment, Heartbeat, Newcomer, Order};
use store::hosts::WaitingHost;
use store::searches::{self, OpenSearch, OpenSearchFilter, SearchKind};
use store::testing::{TestDatabase, queue};
use store::urls::NewUrl;
use store::{Store, hosts, join_tokens};

/// When every test begins.
pub(crate) const NOW: UnixMillis = UnixMillis(1_800_000_000_000);

pub(crate) struct World {
    database: TestDatabase,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self { database: TestDatabase::new().await.unwrap() }
    }

    pub(crate) fn store(&self) -> &Store {
        self.database.store()
    }

    /// One host each of the subnets in which hosts wait.
    pub(crate) async fn waiting(&self, forgiven: UnixMillis, now: UnixMillis) -> Vec<WaitingHost> {
        let in_line =
            hosts::waiting_for_agent(self.store(), HostId::new(0), 10, now).await.unwrap();
        let mut subnets: Vec<_> = in_line.into_iter().map(|(_, subnet)| subnet).collect();
        subnets.dedup();
        hosts::waiting_in_subnets(self.store(), &subnets, forgiven, now).await.unwrap()
    }

    /// At most ten open searches, oldest first.
    pub(crate) async fn open_searches(&self, kind: SearchKind) -> Vec<OpenSearch> {
        searches::list_open(self.store(), OpenSearchFilter::all(kind), SearchId::new(0), 10)
            .await
            .unwrap()
    }

    /// A join token; its hash is its text.
    pub(crate) async fn token(&self, text: &str) {
        let new = join_tokens::New {
            sha256: text.as_bytes(),
            name: text,
            created_by: "admin",
            expires_at: NOW.plus_ms(60_000),
        };
        join_tokens::create(self.store(), &new, NOW).await.unwrap();
    }

    pub(crate) async fn enrol(&self, token: &str, seed: u8, now: UnixMillis) -> Enrolment {
        let key = AgentKey::from_seed([seed; 32]).public();
        let profile = profile(seed);
        let home = ip(&format!("192.0.2.{seed}"));
        let newcomer = Newcomer { key: &key, profile: &profile, home };
        agents::enrol(self.store(), token.as_bytes(), &newcomer, now).await.unwrap()
    }

    /// An agent that was approved, with or without a home.
    pub(crate) async fn approved(&self, seed: u8, home: Option<&str>) -> AgentId {
        let token = format!("token {seed}");
        self.token(&token).await;
        let Enrolment::Enrolled { agent, .. } = self.enrol(&token, seed, NOW).await else {
            panic!("not enrolled")
        };
        let order = Order::Approve { home: home.map(range) };
        agents::order(self.store(), agent, order, "admin", NOW).await.unwrap();
        agent
    }

    pub(crate) async fn queue(&self, texts: &[&str]) -> u64 {
        self.queue_at(texts, NOW).await
    }

    pub(crate) async fn queue_at(&self, texts: &[&str], at: UnixMillis) -> u64 {
        let list: Vec<NewUrl> = texts.iter().map(|text| url(text)).collect();
        queue(self.store(), &list, at).await.unwrap()
    }

    /// Gives every host that has none an address and puts it into a subnet.
    pub(crate) async fn settle_hosts(&self, address: &str, subnet: &str) {
        let unresolved = hosts::list_unresolved(self.store(), 100, &[], NOW).await.unwrap();
        let found: Vec<_> = unresolved.iter().map(|host| (host.id, ip(address))).collect();
        hosts::set_addresses(self.store(), &found).await.unwrap();
        let places: Vec<_> = found.iter().map(|(id, _)| (*id, range(subnet))).collect();
        hosts::set_subnets(self.store(), &places).await.unwrap();
    }
}

/// A heartbeat of an agent that works, from the home of the first one.
pub(crate) fn heartbeat(agent: AgentId, status: &Value) -> Heartbeat<'_> {
    Heartbeat {
        agent,
        asleep_until: None,
        takes_probes: true,
        wants_region: true,
        status,
        place: None,
        routes_after: 0,
        source: ip("192.0.2.1"),
    }
}

pub(crate) fn profile(seed: u8) -> AgentProfile {
    AgentProfile {
        name: format!("agent {seed}"),
        contact: "https://example.org/bot".into(),
        version: "0.1.0".into(),
        capacity_pages_per_day: 1_000,
        zone: "UTC".into(),
        spans: vec!["mon-fri 22:00-06:00".into()],
        place: None,
    }
}

pub(crate) fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

pub(crate) fn range(text: &str) -> Range {
    text.parse().unwrap()
}

/// Takes an http URL apart.
pub(crate) fn url(text: &str) -> NewUrl {
    NewUrl { url: CrawlUrl::parse(text).unwrap(), redirects: 0 }
}
