//! Outcomes of fetches in the words of lists and counts.

use model::{ErrorKind, FetchOutcome};

use crate::page::{DisallowedBy, Outcome};

/// Beginnings of the reasons that agents give, with their causes. The first that matches counts, so
/// the longer ones come first. A test of the agent compares its reasons with this table.
const CAUSES: &[(&str, ErrorKind)] = &[
    ("robots.txt", ErrorKind::Robots),
    ("no connection in time", ErrorKind::Timeout),
    ("no answer in time", ErrorKind::Timeout),
    ("the answer took too long", ErrorKind::Timeout),
    ("the answer came too slowly", ErrorKind::Timeout),
    ("no connection", ErrorKind::Connection),
    ("the host closed the connection", ErrorKind::Connection),
    ("no complete HTTP answer", ErrorKind::Connection),
    ("TLS failed", ErrorKind::Tls),
    ("no TLS on this machine", ErrorKind::Tls),
    ("the body", ErrorKind::Content),
    ("content encoding", ErrorKind::Content),
    ("the page cannot be packed", ErrorKind::Content),
    ("the owner denies", ErrorKind::Refused),
    ("port ", ErrorKind::Refused),
];

/// Parts of reasons that begin with the name or the address of a host.
const PARTS: &[(&str, ErrorKind)] = &[
    (" cannot be resolved: ", ErrorKind::Dns),
    (" has no address that this agent can reach", ErrorKind::Dns),
    (" is on this machine's own network ", ErrorKind::Refused),
    (" is not on the public internet ", ErrorKind::Refused),
];

impl Outcome {
    /// The outcome without its content.
    pub fn kind(&self) -> FetchOutcome {
        match self {
            Self::Page(_) => FetchOutcome::Page,
            Self::Unchanged { .. } => FetchOutcome::Unchanged,
            Self::Redirect { .. } => FetchOutcome::Redirect,
            Self::Disallowed { .. } => FetchOutcome::Disallowed,
            Self::Other { status: 400.., .. } => FetchOutcome::HttpError,
            Self::Other { .. } => FetchOutcome::NotText,
            Self::Failed { .. } => FetchOutcome::Failed,
        }
    }

    /// Cause of the error; none when the outcome is no error.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Other { status: 500.., .. } => Some(ErrorKind::ServerError),
            Self::Other { status: 400.., .. } => Some(ErrorKind::ClientError),
            Self::Failed { reason } => Some(cause(reason)),
            _ => None,
        }
    }

    /// Whether the host answered, so that there is a site; none where the outcome does not tell. A
    /// server that only fails shows visitors no page either.
    pub fn has_answer(&self) -> Option<bool> {
        match self {
            // Nothing was sent.
            Self::Disallowed { by: DisallowedBy::RobotsTxt } => None,
            Self::Failed { reason } => has_answer(reason),
            outcome => Some(outcome.error_kind() != Some(ErrorKind::ServerError)),
        }
    }

    /// Description of the outcome in one line; empty if there is nothing to add to its kind.
    pub fn detail(&self) -> String {
        match self {
            Self::Page(_) => String::new(),
            Self::Redirect { status, location } => format!("HTTP {status} to {location}"),
            Self::Unchanged { status } | Self::Other { status, media_type: None } => {
                format!("HTTP {status}")
            }
            Self::Other { status, media_type: Some(media_type) } => {
                format!("HTTP {status}, {media_type}")
            }
            Self::Disallowed { by: DisallowedBy::RobotsTxt } => "by robots.txt".to_owned(),
            Self::Disallowed { by: DisallowedBy::NoIndex } => "by noindex".to_owned(),
            Self::Failed { reason } => reason.clone(),
        }
    }
}

/// Parts of reasons for which the agent is to blame.
const OF_THE_AGENT: [&str; 2] =
    ["no TLS on this machine", " has no address that this agent can reach"];
/// Part of the reason where the name of a host leads into a private network, as a name that was
/// given up often does.
const NOT_PUBLIC: &str = " is not on the public internet ";

/// Whether a fetch that failed for this reason had an answer.
fn has_answer(reason: &str) -> Option<bool> {
    if OF_THE_AGENT.iter().any(|part| reason.contains(part)) {
        return None;
    }
    match cause(reason) {
        ErrorKind::Refused if reason.contains(NOT_PUBLIC) => Some(false),
        ErrorKind::Refused | ErrorKind::Other => None,
        ErrorKind::Content => Some(true),
        ErrorKind::Dns
        | ErrorKind::Connection
        | ErrorKind::Tls
        | ErrorKind::Timeout
        | ErrorKind::ClientError
        | ErrorKind::ServerError
        | ErrorKind::Robots => Some(false),
    }
}

/// The cause that a reason names.
fn cause(reason: &str) -> ErrorKind {
    let begin = CAUSES.iter().find(|(text, _)| reason.starts_with(text));
    let part = || PARTS.iter().find(|(text, _)| reason.contains(text));
    begin.or_else(part).map_or(ErrorKind::Other, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(reason: &str) -> Option<ErrorKind> {
        Outcome::Failed { reason: reason.to_owned() }.error_kind()
    }

    #[test]
    fn errors_have_a_cause() {
        let status = |status| Outcome::Other { status, media_type: None }.error_kind();
        assert_eq!(status(200), None);
        assert_eq!(status(404), Some(ErrorKind::ClientError));
        assert_eq!(status(503), Some(ErrorKind::ServerError));
        assert_eq!(failed("a.test cannot be resolved: no records"), Some(ErrorKind::Dns));
        assert_eq!(failed("robots.txt could not be fetched: TLS failed"), Some(ErrorKind::Robots));
        assert_eq!(failed("what no agent says"), Some(ErrorKind::Other));
    }

    #[test]
    fn a_failure_of_the_agent_does_not_tell_whether_the_host_answers() {
        let failed = |reason: &str| Outcome::Failed { reason: reason.to_owned() }.has_answer();
        for reason in [
            "no connection: refused",
            "robots.txt answered with status 503",
            "a.test cannot be resolved: no such name",
            "10.0.0.7 is not on the public internet (private)",
        ] {
            assert_eq!(failed(reason), Some(false), "{reason}");
        }
        for reason in [
            "the owner denies 198.51.100.7",
            "192.0.2.7 is on this machine's own network 192.0.2.0/24",
            "a.test has no address that this agent can reach",
            "no TLS on this machine: its certificates could not be loaded",
            "robots.txt could not be fetched: no TLS on this machine: and so on",
            "a reason of a later version",
        ] {
            assert_eq!(failed(reason), None, "{reason}");
        }
        assert_eq!(failed("the body is too large"), Some(true));
        let other = |status| Outcome::Other { status, media_type: None }.has_answer();
        assert_eq!([204, 404, 429, 503].map(other), [true, true, true, false].map(Some));
        assert_eq!(Outcome::Disallowed { by: DisallowedBy::RobotsTxt }.has_answer(), None);
        assert_eq!(Outcome::Disallowed { by: DisallowedBy::NoIndex }.has_answer(), Some(true));
    }
}
