//! Readiness: whether the agent may work now, and if not, why.
//!
//! The owner sees the reason in `nearcrawl-agent status`, admins see it in the dashboard.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicI64, Ordering},
    },
    time::Duration,
};

use model::{AgentState, UnixMillis};
use tokio::sync::watch;

use super::idle_reason::IdleReason;
use crate::{
    disk::Shortage,
    owner::{allowance::RestReason, budget::UsedUp, machine::Busy},
    visit::Visitor,
};

pub use crate::owner::allowance::Sleep;

/// An hour, in milliseconds. With such a difference of the clocks the agent does not work.
const HOUR_MS: i64 = 3_600_000;

/// Everything that can keep the agent from working.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Readiness {
    /// The agent's state with the operator; none until the coordinator has answered.
    pub state: Option<AgentState>,
    /// Present outside the owner's spans.
    pub asleep: Option<Sleep>,
    /// The owner has paused the agent.
    pub paused_by_owner: bool,
    /// Present while a budget of the owner is used up.
    pub used_up: Option<UsedUp>,
    /// Present while the machine is left to others.
    pub busy: Option<Busy>,
    /// Whole hours by which the clock is ahead of the coordinator's (below 0: behind); present
    /// where that is too much.
    pub clock_ahead_hours: Option<i64>,
    /// What is short on the disk.
    pub shortage: Option<Shortage>,
    /// Error of the last call to the coordinator; none when it succeeded.
    pub unreachable: Option<String>,
    /// The lease is over, so that hosts may have been given to other agents.
    pub lease_expired: bool,
    /// Whether the program is about to end.
    pub phase: Phase,
}

/// Phase of the program's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Phase {
    /// It works as far as nothing else keeps it.
    #[default]
    Working,
    /// It ends once it has shipped what it has.
    Finishing,
    /// It hands its hosts over and is deregistered, because the owner ends it for good.
    Leaving,
    /// It is ending.
    Draining,
}

impl Readiness {
    /// What keeps the agent from fetching and probing; none when it may work.
    pub fn idle_reason(&self) -> Option<IdleReason> {
        // The owner's own reasons come first: they are what the owner can change.
        if let Some(reason) = self.owners_reason() {
            return Some(reason);
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
        let clock = self.clock_ahead_hours.map(IdleReason::Clock);
        clock.or_else(|| self.shortage.map(IdleReason::Disk))
    }

    /// Whether the agent can carry out probe orders. What the coordinator knows anyway, or ends by
    /// its next answer, is left out.
    pub fn takes_probes(&self) -> bool {
        self.owners_reason().is_none()
            && self.clock_ahead_hours.is_none()
            && self.shortage.is_none()
    }

    /// Why the owner or the owner's rules let the agent do nothing.
    fn owners_reason(&self) -> Option<IdleReason> {
        match self.phase {
            Phase::Draining => return Some(IdleReason::Draining),
            Phase::Finishing => return Some(IdleReason::Finishing),
            Phase::Leaving => return Some(IdleReason::Leaving),
            Phase::Working => {}
        }
        if let Some(sleep) = self.asleep {
            return Some(IdleReason::Asleep(sleep));
        }
        if self.paused_by_owner {
            return Some(IdleReason::PausedByOwner);
        }
        if let Some(used_up) = self.used_up {
            return Some(IdleReason::UsedUp(used_up));
        }
        self.busy.map(IdleReason::Busy)
    }

    /// Notes why the owner lets nothing start.
    pub fn withhold(&mut self, withheld: RestReason) {
        match withheld {
            RestReason::Asleep(sleep) => self.asleep = Some(sleep),
            RestReason::UsedUp(used_up) => self.used_up = Some(used_up),
        }
    }

    /// Notes how far the clock is ahead of the coordinator's.
    pub fn compare_clocks(&mut self, ahead_ms: i64) {
        let hours = ahead_ms / HOUR_MS;
        self.clock_ahead_hours = (hours != 0).then_some(hours);
    }

    /// Error of the last call to the coordinator, while calls are made: none outside the spans, in
    /// which nothing is tried again.
    pub fn call_error(&self) -> Option<&str> {
        self.unreachable.as_deref().filter(|_| self.asleep.is_none())
    }

    /// Whether the program is ending.
    pub fn is_draining(&self) -> bool {
        self.phase == Phase::Draining
    }

    /// Whether running requests must be cut off soon, too.
    pub fn must_end(&self) -> bool {
        self.is_draining() || self.asleep.is_some() || self.state == Some(AgentState::Revoked)
    }
}

/// Why the agent is not crawling; none when it is.
pub(super) fn idle_reason(readiness: &Readiness, visitor: &Visitor) -> Option<IdleReason> {
    let no_work = || (!visitor.schedule.has_work()).then_some(IdleReason::NothingToDo);
    hindrance(readiness, visitor).or_else(no_work)
}

/// What keeps the agent from crawling, whether it has anything to fetch or not.
pub(super) fn hindrance(readiness: &Readiness, visitor: &Visitor) -> Option<IdleReason> {
    readiness.idle_reason().or_else(|| visitor.long_outage().map(IdleReason::Offline))
}

/// The current readiness, which tasks change and wait for. Clones share it.
#[derive(Clone)]
pub(super) struct ReadinessSignal {
    readiness: watch::Sender<Readiness>,
    /// When the coordinator last answered, in milliseconds; 0 before. It is kept apart, so that an
    /// answer that changes nothing else notifies no task.
    answered_at: Arc<AtomicI64>,
    /// Whether the coordinator has had another package under a number of this process.
    has_package_conflict: Arc<AtomicBool>,
}

impl ReadinessSignal {
    pub(super) fn new(readiness: Readiness) -> Self {
        Self {
            readiness: watch::Sender::new(readiness),
            answered_at: Arc::default(),
            has_package_conflict: Arc::default(),
        }
    }

    /// Waits for `least`, and on for as long as the coordinator `asked`. An agent that ends has
    /// little time, so that it does not wait beyond `least`.
    pub(super) async fn pause(&self, least: Duration, asked: Duration) {
        tokio::time::sleep(least).await;
        let mut readiness = self.subscribe();
        let ending = readiness
            .wait_for(|readiness| matches!(readiness.phase, Phase::Finishing | Phase::Leaving));
        // Either is the end of the pause.
        drop(tokio::time::timeout(asked.saturating_sub(least), ending).await);
    }

    /// Notes that the coordinator has answered.
    pub(super) fn note_answer(&self, now: UnixMillis) {
        self.answered_at.store(now.0, Ordering::Relaxed);
    }

    /// When the coordinator last answered this process; none before the first answer.
    pub(super) fn answered_at(&self) -> Option<UnixMillis> {
        let at = self.answered_at.load(Ordering::Relaxed);
        (at != 0).then_some(UnixMillis(at))
    }

    /// Notes that the coordinator has had another package under the number of one; returns whether
    /// that is new.
    pub(super) fn note_package_conflict(&self) -> bool {
        !self.has_package_conflict.swap(true, Ordering::Relaxed)
    }

    /// Whether that has happened to this process.
    pub(super) fn has_package_conflict(&self) -> bool {
        self.has_package_conflict.load(Ordering::Relaxed)
    }

    /// Changes the readiness; notifies subscribers only if it is different afterwards.
    pub(super) fn change(&self, change: impl FnOnce(&mut Readiness)) {
        self.readiness.send_if_modified(|readiness| {
            let before = readiness.clone();
            change(readiness);
            *readiness != before
        });
    }

    pub(super) fn current(&self) -> Readiness {
        self.readiness.borrow().clone()
    }

    /// Waits outside the spans, in which nothing is sent.
    pub(super) async fn until_awake(&self) {
        let mut readiness = self.subscribe();
        // An error means that the agent is stopping.
        drop(readiness.wait_for(|readiness| readiness.asleep.is_none()).await);
    }

    /// Does `work` while the owner's hours last; none where their end has cut it off.
    pub(super) async fn while_awake<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.unless(|readiness| readiness.asleep.is_some(), work).await
    }

    /// Does `work` until this is so; none where that has cut it off.
    pub(super) async fn unless<T>(
        &self,
        ends: impl FnMut(&Readiness) -> bool,
        work: impl Future<Output = T>,
    ) -> Option<T> {
        let mut readiness = self.subscribe();
        tokio::select! {
            biased;
            _ = readiness.wait_for(ends) => None,
            done = work => Some(done),
        }
    }

    pub(super) fn subscribe(&self) -> watch::Receiver<Readiness> {
        self.readiness.subscribe()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::owner::budget::BudgetKind;

    #[tokio::test(start_paused = true)]
    async fn an_agent_that_ends_does_not_wait_as_long_as_it_is_asked_to() {
        let signal = ReadinessSignal::new(Readiness::default());
        let least = Duration::from_secs(3);
        let asked = Duration::from_mins(5);
        let begun = tokio::time::Instant::now();
        signal.pause(least, asked).await;
        assert_eq!(begun.elapsed(), asked);
        let ending = async {
            tokio::time::sleep(Duration::from_mins(1)).await;
            signal.change(|readiness| readiness.phase = Phase::Finishing);
        };
        tokio::join!(signal.pause(least, asked), ending);
        assert_eq!(begun.elapsed(), asked + Duration::from_mins(1), "it ends meanwhile");
        signal.pause(least, asked).await;
        assert_eq!(begun.elapsed(), asked + Duration::from_mins(1) + least);
    }

    #[tokio::test]
    async fn the_end_of_the_owners_hours_cuts_work_off() {
        let signal = ReadinessSignal::new(Readiness::default());
        assert_eq!(signal.while_awake(async { 1 }).await, Some(1));
        let ending = async {
            signal.change(|readiness| readiness.asleep = Some(Sleep { until: None }));
        };
        let (cut_off, ()) = tokio::join!(signal.while_awake(std::future::pending::<()>()), ending);
        assert_eq!(cut_off, None);
    }

    #[test]
    fn an_agent_that_sleeps_does_not_try_again() {
        let unreachable = Some("no answer".to_owned());
        let mut readiness = Readiness { unreachable, ..Readiness::default() };
        assert_eq!(readiness.call_error(), Some("no answer"));
        readiness.asleep = Some(Sleep { until: None });
        assert_eq!(readiness.call_error(), None);
    }

    #[test]
    fn the_owners_reasons_come_before_the_operators() {
        let mut readiness = Readiness::default();
        let word = |readiness: &Readiness| readiness.idle_reason().map(|idle| idle.as_str());
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
        for (ahead_ms, expected) in
            [(HOUR_MS - 1, None), (1 - HOUR_MS, None), (HOUR_MS, Some("clock"))]
        {
            readiness.compare_clocks(ahead_ms);
            assert_eq!(word(&readiness), expected, "{ahead_ms}");
        }
        assert!(!readiness.takes_probes(), "orders would come again and again");
        readiness.compare_clocks(-30 * HOUR_MS);
        let said = readiness.idle_reason().unwrap().to_string();
        assert!(said.starts_with("the clock is 30 h behind"), "{said}");
        readiness.compare_clocks(0);
        readiness.shortage = Some(Shortage::Cap { used: 2, cap: 1, log: 0 });
        assert_eq!(word(&readiness), Some("disk"));
        assert!(!readiness.must_end(), "running requests may end by themselves");
        readiness.busy = Some(Busy::Battery);
        assert_eq!(word(&readiness), Some("busy"));
        let used_up = UsedUp { what: BudgetKind::BytesOfMonth, until: UnixMillis(0) };
        readiness.withhold(RestReason::UsedUp(used_up));
        assert_eq!(word(&readiness), Some("used_up"));
        readiness.paused_by_owner = true;
        assert_eq!(word(&readiness), Some("paused_by_owner"));
        assert!(!readiness.must_end());
        readiness.withhold(RestReason::Asleep(Sleep { until: Some(UnixMillis(0)) }));
        assert_eq!(word(&readiness), Some("asleep"));
        assert!(readiness.must_end(), "nothing is sent outside the owner's hours");
        assert!(readiness.idle_reason().unwrap().to_string().contains("1970-01-01T00:00:00Z"));
        readiness.phase = Phase::Finishing;
        assert_eq!(word(&readiness), Some("finishing"));
        readiness.asleep = None;
        readiness.phase = Phase::Draining;
        assert_eq!(word(&readiness), Some("draining"));
        assert!(readiness.must_end());
        let revoked = Readiness { state: Some(AgentState::Revoked), ..Readiness::default() };
        assert!(revoked.must_end());
    }
}
