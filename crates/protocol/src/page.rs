//! Results of fetches. Their texts are owned, or borrowed from where they are stored.
//!
//! Agents store these types as postcard bytes: a change of their fields, or an attribute that
//! leaves a field out, needs new versions of the frontier's file and of its log.

use std::net::IpAddr;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize, Serializer};

use model::{ErrorKind, UnixMillis};

/// Longest chain of redirects that is followed (RFC 9110 section 15.4 leaves the number to the
/// client).
pub const MAX_REDIRECTS: u8 = 5;

/// One entry in the body of a package.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry<T = String> {
    /// A fetch that ended, with or without success.
    Fetch(Box<Fetch<T>>),
    /// A URL of a host that is not the agent's; sent once per URL.
    Discovered(Discovered<T>),
}

/// A link to a host of another agent, or a URL of a host that the agent has released.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovered<T = String> {
    /// Absolute, normalised http or https URL without fragment.
    pub url: T,
    /// Number of redirects that led to this URL.
    pub redirects: u8,
    /// Whether the URL belongs to a released host and is handed back for the next agent.
    pub handed_back: bool,
}

/// A fetch that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fetch<T = String> {
    /// The URL, normalised, without fragment.
    pub url: T,
    /// The agent's clock at the start of the request.
    pub fetched_at: UnixMillis,
    /// Address that was contacted; none when nothing was sent.
    pub address: Option<IpAddr>,
    /// Durations of the fetch; none when nothing was sent.
    pub timing: Option<Timing>,
    /// Size of the body on the wire, in bytes.
    pub wire_bytes: u64,
    /// Result of the fetch.
    pub outcome: Outcome<T>,
    /// Comparison with earlier fetches of the same page; none while there are too few of them.
    pub trend: Option<Trend>,
}

/// Response time of a page compared with its own past, without the time of setting up connections
/// (IPMicra section III.F).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trend {
    /// As fast as usual.
    Usual,
    /// Slow, but not yet as often in a row as the policy asks.
    Slow,
    /// Slow as often in a row as the policy asks.
    Slower {
        /// Recent time over usual time; above 1.
        ratio: f64,
    },
}

/// Durations of one fetch, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Setting up the connection, TLS included; zero when one was reused.
    pub connect_us: u32,
    /// TCP handshake of the connection, even if that is reused now: one round trip. Zero where it
    /// may not be taken for the round trip to the host.
    pub tcp_us: u32,
    /// From sending the request until the first byte of the answer.
    pub first_byte_us: u32,
    /// From the start to the last byte of the body.
    pub total_us: u32,
}

/// Result of a fetch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome<T = String> {
    /// A document for the index.
    Page(Page<T>),
    /// A redirect to another URL.
    Redirect {
        /// HTTP status, 3xx.
        status: u16,
        /// Absolute URL of the target.
        location: T,
    },
    /// An answer without a document to index: an error status, or a type that is not text.
    Other {
        /// HTTP status of the answer.
        status: u16,
        /// Media type of the answer, when given.
        media_type: Option<T>,
    },
    /// Robots rules forbid fetching or indexing.
    Disallowed {
        /// Source of the rule.
        by: DisallowedBy,
    },
    /// A revisited page with the same content.
    Unchanged {
        /// HTTP status: 304, or 2xx with the same content.
        status: u16,
    },
    /// There is no complete answer.
    Failed(Failure<T>),
}

/// Why a fetch has no complete answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure<T = String> {
    /// What kind of cause it is.
    pub cause: ErrorKind,
    /// The reason, in one line.
    pub reason: T,
}

impl Failure {
    /// A failure for this reason.
    pub fn new(cause: ErrorKind, reason: impl Into<String>) -> Self {
        Self { cause, reason: reason.into() }
    }
}

/// Source of a robots rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisallowedBy {
    /// robots.txt (RFC 9309): nothing was sent for the URL.
    RobotsTxt,
    /// `noindex` in the X-Robots-Tag header or the robots meta element.
    NoIndex,
}

/// Content of a document.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page<T = String> {
    /// HTTP status, 2xx.
    pub status: u16,
    /// Media type without parameters.
    pub media_type: T,
    /// Encoding of the body, by its WHATWG name.
    pub charset: T,
    /// Language, ISO 639-1 where there is one, in lower case; none when unknown.
    pub lang: Option<T>,
    /// Title; may be empty.
    pub title: T,
    /// Headings, a line each.
    pub headings: T,
    /// Visible text with white space folded.
    pub text: T,
    /// Hash of the decoded body and of what decided how it was read, such as its encoding.
    pub sha256: ContentHash,
    /// URL that the page names as its canonical one.
    pub canonical: Option<T>,
    /// Most characters of its text that a search result may show; none where the page sets no
    /// limit.
    pub max_snippet: Option<u32>,
    /// Distinct links in their order.
    pub links: Vec<Link<T>>,
}

/// A link of a page.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link<T = String> {
    /// Absolute, normalised http or https URL without fragment.
    pub url: T,
    /// Text of the link; may be empty.
    pub anchor: T,
    /// Whether the page asks not to follow the link.
    pub nofollow: bool,
    /// Whether a user of the site made the link.
    pub ugc: bool,
    /// Whether the link is an advertisement.
    pub sponsored: bool,
}

/// SHA-256 of the content of a page; hexadecimal in JSON, which is written alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub struct ContentHash(pub [u8; 32]);

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            return serializer.serialize_str(&HEXLOWER.encode(&self.0));
        }
        self.0.serialize(serializer)
    }
}
