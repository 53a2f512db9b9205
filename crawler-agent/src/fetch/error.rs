//! Errors of a fetch.

use std::{io, net::IpAddr};

use model::ErrorKind;
use protocol::page::{Failure, Timing};

use super::metered::CutOff;
use crate::{error_line, owner::allowance::RestReason};

/// A fetch without a complete answer.
#[derive(Debug, thiserror::Error)]
#[error("the fetch failed")]
pub struct FetchError {
    /// Reason of the failure.
    #[source]
    pub problem: Problem,
    /// Durations until the failure.
    pub timing: Timing,
    /// Bytes of the body that had arrived.
    pub wire_bytes: u64,
    /// Whether a connection was made for the request.
    pub is_connected: bool,
}

/// Reason for which there is no complete answer.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// The owner lets nothing start; nothing was sent.
    #[error("{0}")]
    Withheld(RestReason),
    /// A budget of bytes was used up before the end of the answer.
    #[error("the owner's budget of bytes is used up")]
    CutOff,
    /// The URL does not fit into a request.
    #[error("the URL does not fit into a request")]
    Request,
    /// The TCP connection failed.
    #[error("no connection")]
    Connect(#[source] io::Error),
    /// The connection was not established in time.
    #[error("no connection in time")]
    ConnectTimeout,
    /// The URL needs TLS, which this machine cannot provide.
    #[error("no TLS on this machine: its certificates could not be loaded")]
    NoTls,
    /// The TLS handshake failed.
    #[error("TLS failed")]
    Tls(#[source] io::Error),
    /// The host closed the connection before it took the request.
    #[error("the host closed the connection")]
    Closed,
    /// The answer is not HTTP, or was cut short.
    #[error("no complete HTTP answer")]
    Http(#[source] hyper::Error),
    /// The head of the answer did not arrive in time.
    #[error("no answer in time")]
    FirstByteTimeout,
    /// The whole answer did not arrive in time.
    #[error("the answer took too long")]
    Timeout,
    /// The body stalled or arrived below the least rate.
    #[error("the answer came too slowly")]
    TooSlow,
    /// The body exceeds the limit on the wire, in bytes.
    #[error("the body has more than {0} bytes")]
    TooLarge(u64),
    /// The decoded body exceeds the limit or the plausible ratio, in bytes.
    #[error("the body inflates to more than {0} bytes")]
    Bomb(u64),
    /// The content encoding was not offered.
    #[error("content encoding {0:?} was not asked for")]
    Encoding(String),
    /// The body has more content encodings, one in another, than are decoded.
    #[error("the body has {0} content encodings, one in another")]
    TooManyEncodings(usize),
    /// The bodies that arrive at the same time take too much memory.
    #[error("no memory for the body in time")]
    Memory,
    /// The body is not what its content encoding says.
    #[error("the body cannot be decoded")]
    Inflate(#[source] io::Error),
}

impl From<hyper::Error> for Problem {
    fn from(error: hyper::Error) -> Self {
        if CutOff::caused(&error) { Self::CutOff } else { Self::Http(error) }
    }
}

impl Problem {
    /// A failed TLS handshake.
    pub(super) fn tls(error: io::Error) -> Self {
        if CutOff::caused(&error) { Self::CutOff } else { Self::Tls(error) }
    }

    /// Whether the owner's rules are the reason, and neither URL nor host.
    pub fn is_owners(&self) -> bool {
        matches!(self, Self::Withheld(_) | Self::CutOff)
    }

    /// Whether nothing came from this address: the host is down, or the agent's line is. To be
    /// asked only where no connection was made for the request. Many machines have no IPv6 route,
    /// which is no outage.
    pub(super) fn is_silence(&self, address: IpAddr) -> bool {
        match self {
            // The latter occurs here only on a connection that was kept.
            Self::ConnectTimeout | Self::FirstByteTimeout => true,
            Self::Connect(error) if error.kind() == io::ErrorKind::NetworkUnreachable => {
                address.is_ipv4()
            }
            Self::Connect(error) => matches!(
                error.kind(),
                io::ErrorKind::HostUnreachable
                    | io::ErrorKind::NetworkDown
                    | io::ErrorKind::AddrNotAvailable
                    | io::ErrorKind::TimedOut
            ),
            _ => false,
        }
    }

    /// Whether a later attempt may soon succeed.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Withheld(_)
            | Self::CutOff
            | Self::Connect(_)
            | Self::ConnectTimeout
            | Self::NoTls
            | Self::Tls(_)
            | Self::Closed
            | Self::Http(_)
            | Self::FirstByteTimeout
            | Self::Timeout
            | Self::TooSlow
            | Self::Memory => true,
            // The same as a body that ends before its Content-Length.
            Self::Inflate(error) => error.kind() == io::ErrorKind::UnexpectedEof,
            Self::Request
            | Self::TooLarge(_)
            | Self::Bomb(_)
            | Self::Encoding(_)
            | Self::TooManyEncodings(_) => false,
        }
    }

    /// What the coordinator counts it as.
    fn cause(&self) -> ErrorKind {
        match self {
            Self::Connect(_) | Self::Closed | Self::Http(_) => ErrorKind::Connection,
            Self::ConnectTimeout | Self::FirstByteTimeout | Self::Timeout | Self::TooSlow => {
                ErrorKind::Timeout
            }
            Self::NoTls => ErrorKind::Agent,
            Self::Tls(_) => ErrorKind::Tls,
            Self::TooLarge(_)
            | Self::Bomb(_)
            | Self::Encoding(_)
            | Self::TooManyEncodings(_)
            | Self::Inflate(_) => ErrorKind::Content,
            Self::Withheld(_) | Self::CutOff | Self::Request | Self::Memory => ErrorKind::Other,
        }
    }

    /// What is reported of it.
    pub fn failure(&self) -> Failure {
        Failure::new(self.cause(), error_line::of(self))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Error;

    use super::*;

    #[test]
    fn every_problem_has_a_cause_and_its_sources_in_the_reason() {
        let io = || Error::other("connection refused");
        for (problem, wanted) in [
            (Problem::Connect(io()), ErrorKind::Connection),
            (Problem::ConnectTimeout, ErrorKind::Timeout),
            (Problem::NoTls, ErrorKind::Agent),
            (Problem::Tls(io()), ErrorKind::Tls),
            (Problem::Closed, ErrorKind::Connection),
            (Problem::FirstByteTimeout, ErrorKind::Timeout),
            (Problem::Timeout, ErrorKind::Timeout),
            (Problem::TooSlow, ErrorKind::Timeout),
            (Problem::TooLarge(1), ErrorKind::Content),
            (Problem::Bomb(1), ErrorKind::Content),
            (Problem::Encoding("br".to_owned()), ErrorKind::Content),
            (Problem::TooManyEncodings(9), ErrorKind::Content),
            (Problem::Inflate(io()), ErrorKind::Content),
            (Problem::Request, ErrorKind::Other),
            (Problem::Memory, ErrorKind::Other),
        ] {
            assert_eq!(problem.failure().cause, wanted, "{problem}");
        }
        assert_eq!(Problem::Tls(io()).failure().reason, "TLS failed: connection refused");
    }
}
