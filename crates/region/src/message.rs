//! Messages between the parties of a region.
//!
//! Every message may be lost, delayed, repeated or overtaken by another one; the state machines
//! expect all of it. Durations, never points in time, are in messages.

use std::collections::BTreeSet;

use model::{AgentId, CrawlUrl};
use protocol::bounded::at_most;
use serde::{Deserialize, Deserializer, Serialize};

use crate::ownership::{HostAtAddress, SignedView};
use crate::ring::MAX_AGENTS;
use crate::roster::Version;

/// Most URLs in a batch.
pub const BATCH_URLS: usize = 1_000;
/// Most hosts in a request for bundles.
pub const REQUEST_HOSTS: usize = 1_000;
/// Largest bundle of a host, in bytes.
pub const BUNDLE_BYTES: usize = 64 << 20;
/// Bits of the number of a batch or bundle that count within one process; above is its incarnation.
pub(crate) const COUNTED_BITS: u32 = 40;

/// A message from one party to another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Message {
    /// The sender is alive.
    Heartbeat(Heartbeat),
    /// Roster and deltas, for a party with an older version.
    View(SignedView),
    /// The sender asks for a vote.
    LeaseRequest(LeaseRequest),
    /// The grant, or the reason for none.
    LeaseAnswer(LeaseAnswer),
    /// URLs of hosts that the receiver owns.
    Urls(Batch),
    /// The batch with this number is stored.
    UrlsTaken(u64),
    /// Asks for what the receiver knows of hosts that the sender now owns.
    BundleRequest(#[serde(deserialize_with = "at_most::<REQUEST_HOSTS, _, _>")] Vec<HostAtAddress>),
    /// Everything about a host.
    Bundle(Bundle),
    /// The bundle with this number is stored.
    BundleTaken(u64),
    /// The sender knows nothing of these hosts.
    NoBundle(#[serde(deserialize_with = "at_most::<REQUEST_HOSTS, _, _>")] Vec<HostAtAddress>),
    /// Asks the receiver's mailbox for the envelopes to the sender. The transport answers it.
    Collect,
}

/// Sign of life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// Number of the heartbeat: one that a later one has overtaken does not count.
    pub number: SerialNumber,
    /// Newest version that the sender knows.
    pub version: Version,
    /// Oldest version under which the sender grants leases.
    pub floor: Version,
    /// The sender does not work for this time.
    pub sleep_ms: Option<u64>,
}

/// Number of a lease request or of a heartbeat: either kind of an agent's messages is ordered
/// across its restarts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
pub struct SerialNumber {
    /// Start of the agent's process.
    pub incarnation: u64,
    /// Number of the message of its kind since.
    pub count: u64,
}

/// Most versions of a claim.
pub const MAX_VERSIONS: usize = 8;

/// Versions under all of which an agent must own a host to fetch it: the newest that it knows, and
/// older ones while the region moves on. Ascending, never empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Versions(#[serde(deserialize_with = "at_most::<MAX_VERSIONS, _, _>")] Vec<Version>);

/// Request for a lease, or for its renewal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseRequest {
    pub number: SerialNumber,
    /// No fetch relies any more on grants to requests before the one with this number.
    pub since: SerialNumber,
    /// Versions that the agent can follow.
    pub versions: Versions,
    /// The agent stops, and nothing that it fetches relies on any lease.
    pub release: bool,
}

/// What a voter permits an agent: hosts that it owns under all of `versions`, if every agent before
/// it in the host's order is in `out`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// Versions whose orders count.
    pub versions: Versions,
    /// Agents whose leases have ended, and which get none while this claim holds.
    #[serde(deserialize_with = "agents")]
    pub out: BTreeSet<AgentId>,
}

/// Reads a set of at most as many agents as a region takes.
fn agents<'de, D: Deserializer<'de>>(deserializer: D) -> Result<BTreeSet<AgentId>, D::Error> {
    at_most::<MAX_AGENTS, _, _>(deserializer).map(BTreeSet::from_iter)
}

/// Why a voter grants no lease.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum LeaseRefusal {
    /// The agent was taken for dead; the lease of another one on its hosts has not ended.
    TakenOver,
    /// The region has moved on from the versions that the agent follows.
    OldVersion,
    /// Another agent still follows only an older version.
    NewVersion,
    /// The sender is not in the voter's roster.
    NotListed,
}

/// Answer to the request with the same number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeaseAnswer {
    /// Number of the request.
    pub number: SerialNumber,
    /// The claim and its term in milliseconds from the moment of the request.
    pub outcome: Result<(Claim, u64), LeaseRefusal>,
}

/// URLs for one agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Batch {
    /// Number that the receiver acknowledges.
    pub number: u64,
    /// URLs, at most [`BATCH_URLS`].
    #[serde(deserialize_with = "at_most::<BATCH_URLS, _, _>")]
    pub urls: Vec<RoutedUrl>,
}

/// A URL on its way to the owner of its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoutedUrl {
    /// The URL itself.
    pub url: CrawlUrl,
    /// Position and address that determine the owner. The position must be that of the URL's host.
    pub host: HostAtAddress,
    /// How often it was passed on.
    pub hops: u8,
    /// What the receiver must do with it.
    pub purpose: UrlPurpose,
    /// Number of links from a URL of the coordinator to this one, by the way on which it was found.
    pub depth: u16,
    /// Number of redirects that led to it.
    pub redirects: u8,
}

/// Why a URL is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum UrlPurpose {
    /// The owner must fetch it.
    Fetch,
    /// Notice for a next-nearest agent: the owner has to fetch it, and may die before.
    Known,
    /// Notice for a next-nearest agent: the owner has fetched it.
    Fetched,
}

/// A host with everything that the sender knows of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bundle {
    /// Number that the receiver acknowledges; 0 for a copy that the receiver asked for.
    pub number: u64,
    /// Whether the sender keeps the host.
    pub is_copy: bool,
    /// The host whose bundle this is.
    pub host: HostAtAddress,
    /// A URL of the host, by which it is found again.
    pub front: CrawlUrl,
    /// The bundle in the agent's own format; this crate does not read it.
    pub bytes: Vec<u8>,
}

/// Lane of a message. Bundles are numbered, kept and carried apart from all other messages: on a
/// slow line one takes minutes, and an agent whose heartbeats wait for its end counts as dead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Lane {
    /// Heartbeats, votes, URLs and all other messages.
    #[default]
    Others,
    /// Bundles of hosts.
    Bundles,
}

impl Lane {
    pub const ALL: [Self; 2] = [Self::Others, Self::Bundles];
}

impl Message {
    /// The lane in which the message travels.
    pub fn lane(&self) -> Lane {
        if matches!(self, Self::Bundle(_)) { Lane::Bundles } else { Lane::Others }
    }
}

impl RoutedUrl {
    /// A URL from which a way begins: no link and no redirect led to it.
    pub fn first(url: CrawlUrl, host: HostAtAddress, purpose: UrlPurpose) -> Self {
        Self { url, host, hops: 0, purpose, depth: 0, redirects: 0 }
    }
}

impl Versions {
    /// These versions; none if there are none or too many.
    pub fn new(versions: impl IntoIterator<Item = Version>) -> Option<Self> {
        let mut list: Vec<Version> = versions.into_iter().collect();
        list.sort_unstable();
        list.dedup();
        (1..=MAX_VERSIONS).contains(&list.len()).then_some(Self(list))
    }

    /// Whether the list is ascending and of a permitted length, which another party may violate.
    pub fn is_valid(&self) -> bool {
        (1..=MAX_VERSIONS).contains(&self.0.len()) && self.0.is_sorted_by(|a, b| a < b)
    }

    /// The versions in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = Version> + '_ {
        self.0.iter().copied()
    }

    pub fn newest(&self) -> Version {
        self.0.last().copied().unwrap_or_default()
    }

    pub fn oldest(&self) -> Version {
        self.0.first().copied().unwrap_or_default()
    }

    /// Whether some version is in both: two agents cannot own one host under the same version.
    pub fn share_one(&self, other: &Self) -> bool {
        self.0.iter().any(|version| other.0.contains(version))
    }

    /// The newest version alone, the newest two, and so on to all.
    pub fn newest_first(&self) -> impl Iterator<Item = Self> + '_ {
        (0..self.0.len()).rev().map(|from| Self(self.0[from..].to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::ownership::HostPosition;

    fn is_read(message: &Message) -> bool {
        let bytes = postcard::to_allocvec(message).unwrap();
        postcard::from_bytes(&bytes).as_ref() == Ok(message)
    }

    #[test]
    fn messages_with_endless_lists_are_refused() {
        let host =
            HostAtAddress { position: HostPosition(0), address: IpAddr::from([10, 0, 0, 7]) };
        let url = CrawlUrl::parse("http://a.example/").unwrap();
        let url = RoutedUrl::first(url, host, UrlPurpose::Fetch);
        let batch = |urls| Message::Urls(Batch { number: 1, urls: vec![url.clone(); urls] });
        assert!(is_read(&batch(BATCH_URLS)) && !is_read(&batch(BATCH_URLS + 1)));
        for hosts in [Message::BundleRequest, Message::NoBundle] {
            assert!(is_read(&hosts(vec![host; REQUEST_HOSTS])));
            assert!(!is_read(&hosts(vec![host; REQUEST_HOSTS + 1])));
        }
        let versions = |number| Versions(vec![Version::default(); number]);
        let number = SerialNumber::default();
        let request = |versions| {
            let request = LeaseRequest { number, since: number, versions, release: false };
            Message::LeaseRequest(request)
        };
        assert!(is_read(&request(versions(MAX_VERSIONS))));
        assert!(!is_read(&request(versions(MAX_VERSIONS + 1))));
        let answer = |agents| {
            let out = (1..).take(agents).map(AgentId::new).collect();
            let claim = Claim { versions: versions(1), out };
            Message::LeaseAnswer(LeaseAnswer { number, outcome: Ok((claim, 1)) })
        };
        assert!(is_read(&answer(MAX_AGENTS)) && !is_read(&answer(MAX_AGENTS + 1)));
    }
}
