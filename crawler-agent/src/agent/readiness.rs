//! May the agent work now? And if not, why? Every reason has a name, which the owner sees in
//! `status` and admins in the dashboard.

use std::fmt;

use model::{AgentState, UnixMillis};

use crate::{clock, disk::Shortage};

/// What decides.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readiness {
    /// Where the agent stands with the operator; none until the coordinator has said.
    pub state: Option<AgentState>,
    /// Outside the owner's spans; until when, if that ever ends.
    pub asleep: Option<Option<UnixMillis>>,
    /// What is short on the disk.
    pub shortage: Option<Shortage>,
    /// Why the coordinator could not be reached last time.
    pub unreachable: Option<String>,
    /// The coordinator was not heard of for so long that hosts may have gone to others.
    pub lease_expired: bool,
    /// The program is ending.
    pub draining: bool,
}

/// Why nothing is fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdleReason {
    /// The program is ending.
    Draining,
    /// Outside the owner's spans.
    Asleep(Option<UnixMillis>),
    /// The coordinator has not answered since the start.
    NotConnected(Option<String>),
    /// An admin has yet to approve.
    Pending,
    /// An admin has paused the agent.
    Paused,
    /// An admin has revoked the agent.
    Revoked,
    /// No room on the disk.
    Disk(Shortage),
    /// No host has anything to fetch.
    NothingToDo,
}

impl Readiness {
    /// What keeps the agent from fetching and probing, if anything.
    pub fn idle_reason(&self) -> Option<IdleReason> {
        if self.draining {
            return Some(IdleReason::Draining);
        }
        if let Some(until) = self.asleep {
            return Some(IdleReason::Asleep(until));
        }
        match self.state {
            None => return Some(IdleReason::NotConnected(self.unreachable.clone())),
            Some(AgentState::Pending) => return Some(IdleReason::Pending),
            Some(AgentState::Paused) => return Some(IdleReason::Paused),
            Some(AgentState::Revoked) => return Some(IdleReason::Revoked),
            Some(AgentState::Approved) if self.lease_expired => {
                return Some(IdleReason::NotConnected(self.unreachable.clone()));
            }
            Some(AgentState::Approved) => {}
        }
        self.shortage.map(IdleReason::Disk)
    }

    /// Whether what is going on must end soon too.
    pub fn must_end(&self) -> bool {
        self.draining || self.asleep.is_some() || self.state == Some(AgentState::Revoked)
    }
}

impl IdleReason {
    /// A word for programs.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Draining => "draining",
            Self::Asleep(_) => "asleep",
            Self::NotConnected(_) => "not_connected",
            Self::Pending => "pending",
            Self::Paused => "paused",
            Self::Revoked => "revoked",
            Self::Disk(_) => "disk",
            Self::NothingToDo => "nothing_to_do",
        }
    }
}

impl fmt::Display for IdleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Draining => f.write_str("stopping"),
            Self::Asleep(Some(until)) => {
                write!(
                    f,
                    "outside the hours in which it may work, until {}",
                    clock::timestamp(*until)
                )
            }
            Self::Asleep(None) => f.write_str("outside the hours in which it may work"),
            Self::NotConnected(None) => f.write_str("connecting to the coordinator"),
            Self::NotConnected(Some(why)) => f.write_str(why),
            Self::Pending => f.write_str("waiting for an admin's approval"),
            Self::Paused => f.write_str("paused by an admin"),
            Self::Revoked => f.write_str("revoked by an admin"),
            Self::Disk(shortage) => shortage.fmt(f),
            Self::NothingToDo => f.write_str("nothing to fetch"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owners_reasons_come_before_the_operators() {
        let mut readiness = Readiness::default();
        let word = |c: &Readiness| c.idle_reason().map(|idle| idle.as_str());
        assert_eq!(word(&readiness), Some("not_connected"));
        for (state, expected) in [
            (AgentState::Pending, Some("pending")),
            (AgentState::Paused, Some("paused")),
            (AgentState::Revoked, Some("revoked")),
            (AgentState::Approved, None),
        ] {
            readiness.state = Some(state);
            assert_eq!(word(&readiness), expected);
        }
        readiness.lease_expired = true;
        assert_eq!(word(&readiness), Some("not_connected"));
        readiness.lease_expired = false;
        readiness.shortage = Some(Shortage::Cap { used: 2, cap: 1 });
        assert_eq!(word(&readiness), Some("disk"));
        assert!(!readiness.must_end(), "what is going on may end by itself");
        readiness.asleep = Some(Some(UnixMillis(0)));
        assert_eq!(word(&readiness), Some("asleep"));
        assert!(readiness.idle_reason().unwrap().to_string().contains("1970-01-01T00:00:00Z"));
        readiness.draining = true;
        assert_eq!(word(&readiness), Some("draining"));
        assert!(readiness.must_end());
    }
}
