//! Errors that end the agent.

use tokio::task::JoinError;

use crate::{
    coordinator_client::CoordinatorError,
    frontier::FrontierError,
    outbox::OutboxError,
    owner::{readings::ReadingError, usage_file::UsageFileError},
    peers::PeersError,
    resolve::ResolveError,
};

/// Reason for which the agent ends by itself.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The outbox failed.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// A bundle of a released host cannot be kept.
    #[error(transparent)]
    Bundle(#[from] crate::file::FileError),
    /// What was used of the budgets cannot be read.
    #[error(transparent)]
    Usage(#[from] UsageFileError),
    /// Whether others use the machine cannot be read.
    #[error(transparent)]
    Reading(#[from] ReadingError),
    /// The resolver cannot be set up.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The agent's part of the region failed.
    #[error(transparent)]
    Peers(#[from] PeersError),
    /// The coordinator refuses every call of this agent.
    #[error(transparent)]
    Banned(CoordinatorError),
    /// The coordinator does not let the agent leave.
    #[error(
        "the coordinator does not deregister the agent, so that its data stays here; do what the \
         reason says and run `nearcrawl-agent leave` again, or ask the operator to revoke the agent"
    )]
    NotDeregistered(#[source] CoordinatorError),
    /// The coordinator did not answer the last call.
    #[error(
        "the coordinator did not answer, so that the agent is still registered; run \
         `nearcrawl-agent leave` again later"
    )]
    StillRegistered,
    /// An admin revoked the agent.
    #[error("the operator has revoked this agent; nothing more is fetched in your name")]
    Revoked,
    /// An operation on the machine failed.
    #[error("{attempt} failed")]
    Machine {
        /// What was attempted.
        attempt: &'static str,
        /// Error of the operating system.
        #[source]
        source: std::io::Error,
    },
    /// A task panicked.
    #[error("a task of the agent has crashed")]
    Crashed(#[source] JoinError),
}

impl AgentError {
    /// Whether the coordinator will refuse the agent at the next start, too.
    pub fn is_banned(&self) -> bool {
        match self {
            Self::Banned(_) | Self::Revoked => true,
            Self::NotDeregistered(error) => error.is_banned() || error.is_other_version(),
            _ => false,
        }
    }
}

pub(super) fn machine(attempt: &'static str) -> impl FnOnce(std::io::Error) -> AgentError {
    move |source| AgentError::Machine { attempt, source }
}
