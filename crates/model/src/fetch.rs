//! Fetches: what became of them, in the words of tables, pages and the API.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Result of a fetch, without its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum FetchOutcome {
    /// A document for the index.
    Page,
    /// A revisited page with the same content.
    Unchanged,
    /// A redirect to another URL.
    Redirect,
    /// An answer without a text to index.
    NotText,
    /// Robots rules forbid fetching or indexing.
    Disallowed,
    /// An HTTP error status.
    HttpError,
    /// There is no complete answer.
    Failed,
}

/// Cause of a fetch that failed. The order is part of the format of packages: new causes go to the
/// end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ErrorKind {
    /// The host's name has no address.
    Dns,
    /// No connection could be made, or it was cut.
    Connection,
    /// The TLS handshake failed.
    Tls,
    /// The host did not answer in time.
    Timeout,
    /// An HTTP status 4xx.
    ClientError,
    /// An HTTP status 5xx.
    ServerError,
    /// The answer is too large or cannot be decoded.
    Content,
    /// The agent's owner, or the network of the agent, rules the address, the port or the host out.
    Refused,
    /// robots.txt cannot be read, so that nothing may be fetched.
    Robots,
    /// A reason that fits none of these.
    Other,
    /// The host's name leads to an address that is not on the public internet.
    NotPublic,
    /// The agent has no TLS, or no way to the addresses of the host. It says nothing of the host.
    Agent,
}

spelling!(FetchOutcome, ErrorKind);
