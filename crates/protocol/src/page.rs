//! What an agent tells about the URLs it fetched.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};

use model::UnixMillis;

/// Redirects after which a chain is given up (RFC 9110 section 15.4 leaves the number to the
/// client).
pub const MAX_REDIRECTS: u8 = 5;

/// One line of a package's body.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Entry {
    /// A URL was fetched, or could not be.
    Fetch(Box<Fetch>),
    /// A link to a host that is not the agent's; sent once per URL.
    Discovered(Discovered),
}

/// A link out of the agent's hosts, or a URL of a host that was the agent's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Discovered {
    /// Absolute, normalised http or https URL without fragment.
    pub url: String,
    /// Redirects followed on the way to this URL.
    pub redirects: u8,
    /// Whether it is of a host that the agent let go of: handed back, for the next agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub handed_back: bool,
}

/// What became of one URL.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fetch {
    /// The URL, normalised, without fragment.
    pub url: String,
    /// The agent's clock when the request started.
    pub fetched_at: UnixMillis,
    /// The address that answered; none when nothing was sent.
    pub address: Option<IpAddr>,
    /// How long it took; none when nothing was sent.
    pub timing: Option<Timing>,
    /// Bytes of the body as they came over the wire.
    pub wire_bytes: u64,
    /// What came of it.
    pub outcome: Outcome,
    /// How fast it was beside earlier fetches of the same page; none while there are too few to
    /// compare with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trend: Option<Trend>,
}

/// How fast a page answered beside its own past (IPMicra III.F); the past leaves connection set-up
/// out.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "trend")]
pub enum Trend {
    /// As fast as usual.
    Usual,
    /// Slow, but not yet often enough to be told.
    Slow,
    /// Slower than it used to be, so often in a row as the policy asks.
    Slower {
        /// Recent time over usual time; above 1.
        ratio: f64,
    },
}

/// Times of one fetch, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timing {
    /// Until the connection stood; zero when one was reused.
    pub connect_us: u32,
    /// Until TCP stood when the connection was made, also if it is reused now: one round trip. Zero
    /// where TCP says nothing of the way.
    #[serde(default)]
    pub tcp_us: u32,
    /// From sending the request until the first byte of the answer.
    pub first_byte_us: u32,
    /// From start to the last byte of the body.
    pub total_us: u32,
}

/// What came of a fetch.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Outcome {
    /// A document that may be indexed.
    Page(Page),
    /// An answer that says where to go instead.
    Redirect {
        /// HTTP status, 3xx.
        status: u16,
        /// Absolute target.
        location: String,
    },
    /// An answer without a document to index: an error status, or a type that is not text.
    Other {
        /// HTTP status.
        status: u16,
        /// Its media type, when given.
        media_type: Option<String>,
    },
    /// robots.txt or the page's own robots rules forbid it.
    Disallowed {
        /// Which rule.
        by: DisallowedBy,
    },
    /// A page that was visited again and is as it was.
    Unchanged {
        /// HTTP status: 304, or 2xx with the same content.
        status: u16,
    },
    /// No complete answer.
    Failed {
        /// Why, in one line.
        reason: String,
    },
}

/// The rule that kept a URL out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DisallowedBy {
    /// robots.txt (RFC 9309): nothing was sent for the URL.
    RobotsTxt,
    /// `noindex` in the X-Robots-Tag header or the robots meta element.
    NoIndex,
}

/// A document's content.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Page {
    /// HTTP status, 2xx.
    pub status: u16,
    /// Media type without parameters.
    pub media_type: String,
    /// Encoding that the text was read in, by its WHATWG name.
    pub charset: String,
    /// Language, ISO 639-1 where there is one, in lower case; none when unknown.
    pub lang: Option<String>,
    /// Title; may be empty.
    pub title: String,
    /// Text as a reader would see it, white space folded.
    pub text: String,
    /// SHA-256 of the decoded body, hexadecimal.
    pub sha256: String,
    /// Number of links on the page.
    pub links: u32,
}
