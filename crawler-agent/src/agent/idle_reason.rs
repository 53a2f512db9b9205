//! Reasons for which nothing is fetched.

use std::{fmt, time::Duration};

use strum::{IntoStaticStr, VariantNames};

use crate::{
    disk::Shortage,
    owner::{allowance::Sleep, budget::UsedUp, machine::Busy},
};

/// Reason for which nothing is fetched.
#[derive(Debug, Clone, PartialEq, Eq, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum IdleReason {
    /// The program is ending.
    Draining,
    /// The program ends once it has shipped what it has.
    Finishing,
    /// The agent hands its hosts over and ends for good.
    Leaving,
    /// The time is outside the owner's spans.
    Asleep(Sleep),
    /// The owner has paused the agent.
    PausedByOwner,
    /// A budget of the owner is used up.
    UsedUp(UsedUp),
    /// The machine is left to others.
    Busy(Busy),
    /// The coordinator has not answered since the start, or not for as long as the lease; with the
    /// last error.
    NotConnected(Option<String>),
    /// An admin has yet to approve the agent.
    Pending,
    /// An admin has paused the agent.
    Paused,
    /// An admin has revoked the agent.
    Revoked,
    /// The clock is ahead of the coordinator's by this many hours, or behind: the owner's hours and
    /// budgets would not hold, and pages would get wrong times.
    Clock(i64),
    /// The disk is too full.
    Disk(Shortage),
    /// No host was reached for this time. Visits go on at long intervals, to see when it ends.
    Offline(Duration),
    /// No host has anything to fetch.
    NothingToDo,
}

impl IdleReason {
    /// Keyword in the status file.
    pub fn as_str(&self) -> &'static str {
        self.into()
    }
}

impl fmt::Display for IdleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Draining => f.write_str("stopping"),
            Self::Finishing => f.write_str("finishing: ships what it has, then ends"),
            Self::Leaving => f.write_str("leaving: hands its hosts over, then ends for good"),
            Self::Asleep(sleep) => sleep.fmt(f),
            Self::UsedUp(used_up) => used_up.fmt(f),
            Self::Busy(busy) => busy.fmt(f),
            Self::PausedByOwner => f.write_str("paused by its owner"),
            Self::NotConnected(None) => f.write_str("connecting to the coordinator"),
            Self::NotConnected(Some(error)) => f.write_str(error),
            Self::Pending => f.write_str("waiting for an admin's approval"),
            Self::Paused => f.write_str("paused by an admin"),
            Self::Revoked => f.write_str("revoked by an admin"),
            Self::Clock(hours) => {
                let side = if *hours > 0 { "ahead of" } else { "behind" };
                let hours = hours.unsigned_abs();
                write!(
                    f,
                    "the clock is {hours} h {side} the coordinator's; set it, for example with \
                     NTP, or tell the operator if it is right"
                )
            }
            Self::Disk(shortage) => shortage.fmt(f),
            Self::Offline(outage) => {
                let minutes = outage.as_secs() / 60;
                write!(f, "no host was reached for {minutes} min; check network and name servers")
            }
            Self::NothingToDo => f.write_str("nothing to fetch"),
        }
    }
}
