//! Outcomes of fetches in the words of lists and counts.

use model::{ErrorKind, FetchOutcome};

use crate::page::{DisallowedBy, Outcome};

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
            Self::Failed(_) => FetchOutcome::Failed,
        }
    }

    /// Cause of the error; none when the outcome is no error.
    pub fn error_kind(&self) -> Option<ErrorKind> {
        match self {
            Self::Other { status: 500.., .. } => Some(ErrorKind::ServerError),
            Self::Other { status: 400.., .. } => Some(ErrorKind::ClientError),
            Self::Failed(failure) => Some(failure.cause),
            _ => None,
        }
    }

    /// Whether the host answered, so that there is a site; none where the outcome does not tell. A
    /// server that only fails shows visitors no page either.
    pub fn has_answer(&self) -> Option<bool> {
        match self {
            // Nothing was sent.
            Self::Disallowed { by: DisallowedBy::RobotsTxt } => None,
            Self::Failed(failure) => has_answer(failure.cause),
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
            Self::Failed(failure) => failure.reason.clone(),
        }
    }
}

/// Whether a host answered where a fetch failed for this cause; none where it does not tell.
fn has_answer(cause: ErrorKind) -> Option<bool> {
    match cause {
        ErrorKind::Refused | ErrorKind::Other | ErrorKind::Agent => None,
        ErrorKind::Content => Some(true),
        // The name of a site that was given up often leads to a private address.
        ErrorKind::NotPublic
        | ErrorKind::Dns
        | ErrorKind::Connection
        | ErrorKind::Tls
        | ErrorKind::Timeout
        | ErrorKind::ClientError
        | ErrorKind::ServerError
        | ErrorKind::Robots => Some(false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Failure;

    #[test]
    fn errors_have_a_cause() {
        let status = |status| Outcome::Other { status, media_type: None }.error_kind();
        assert_eq!(status(200), None);
        assert_eq!(status(404), Some(ErrorKind::ClientError));
        assert_eq!(status(503), Some(ErrorKind::ServerError));
        let failed = Outcome::Failed(Failure::new(ErrorKind::Dns, "no records"));
        assert_eq!(failed.error_kind(), Some(ErrorKind::Dns));
    }

    #[test]
    fn a_failure_of_the_agent_does_not_tell_whether_the_host_answers() {
        let failed = |cause| Outcome::Failed(Failure::new(cause, "a reason")).has_answer();
        let of_the_host =
            [ErrorKind::Connection, ErrorKind::Robots, ErrorKind::Dns, ErrorKind::NotPublic];
        assert_eq!(of_the_host.map(failed), [Some(false); 4]);
        let of_the_agent = [ErrorKind::Refused, ErrorKind::Agent, ErrorKind::Other];
        assert_eq!(of_the_agent.map(failed), [None; 3]);
        assert_eq!(failed(ErrorKind::Content), Some(true));
        let other = |status| Outcome::Other { status, media_type: None }.has_answer();
        assert_eq!([204, 404, 429, 503].map(other), [true, true, true, false].map(Some));
        assert_eq!(Outcome::Disallowed { by: DisallowedBy::RobotsTxt }.has_answer(), None);
        assert_eq!(Outcome::Disallowed { by: DisallowedBy::NoIndex }.has_answer(), Some(true));
    }
}
