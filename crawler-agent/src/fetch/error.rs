//! What can go wrong with a fetch.

use protocol::page::Timing;

/// A fetch that brought no complete answer.
#[derive(Debug, thiserror::Error)]
#[error("the fetch failed")]
pub struct FetchError {
    /// Why.
    #[source]
    pub problem: Problem,
    /// How long it took until then.
    pub timing: Timing,
    /// Bytes of the body that arrived.
    pub wire_bytes: u64,
}

/// Why there is no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The URL can't be put into a request.
    #[error("the URL can't be put into a request")]
    Request,
    /// No connection.
    #[error("no connection")]
    Connect(#[source] std::io::Error),
    /// No connection in time.
    #[error("no connection in time")]
    ConnectTimeout,
    /// TLS is wanted and could not be set up on this machine.
    #[error("no TLS on this machine: its certificates could not be loaded")]
    NoTls,
    /// No agreement about TLS.
    #[error("TLS failed")]
    Tls(#[source] std::io::Error),
    /// The host closed the connection before it took the request.
    #[error("the host closed the connection")]
    Closed,
    /// Not HTTP, or cut short.
    #[error("no complete HTTP answer")]
    Http(#[source] hyper::Error),
    /// No answer in time.
    #[error("no answer in time")]
    FirstByteTimeout,
    /// The answer took too long.
    #[error("the answer took too long")]
    Timeout,
    /// The answer came too slowly.
    #[error("the answer came too slowly")]
    TooSlow,
    /// The body is larger than the owner allows.
    #[error("the body has more than {0} bytes")]
    TooLarge(u64),
    /// The body inflates to more than the owner allows.
    #[error("the body inflates to more than {0} bytes")]
    Bomb(u64),
    /// A content encoding that was not asked for.
    #[error("content encoding {0:?} was not asked for")]
    Encoding(String),
    /// The body is not what its content encoding says.
    #[error("the body can't be inflated")]
    Inflate(#[source] std::io::Error),
}

impl Problem {
    /// Whether asking again could bring something else.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Connect(_)
            | Self::ConnectTimeout
            | Self::Tls(_)
            | Self::Closed
            | Self::Http(_)
            | Self::FirstByteTimeout
            | Self::Timeout
            | Self::TooSlow => true,
            Self::Request
            | Self::NoTls
            | Self::TooLarge(_)
            | Self::Bomb(_)
            | Self::Encoding(_)
            | Self::Inflate(_) => false,
        }
    }
}
