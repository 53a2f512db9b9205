//! Filling: brings hosts that have work from the frontier's file into the workbench, by due time.

use std::{sync::Arc, time::Duration};

use model::UnixMillis;
use tokio::time::Instant;

use super::{
    Schedule, millis,
    stored_times::{wait_for_work, wait_until},
};
use crate::frontier::{
    DueHosts, DueQuery, Frontier, FrontierError, FrontierHandle, HostNumber, HostWithWork,
};

/// How long before a host has work it may come in: its name is looked up ahead of its request.
const HORIZON: Duration = Duration::from_secs(10);

/// Pause before it is decided again whether hosts are wanted, while enough are due.
const PAUSE: Duration = Duration::from_millis(50);

/// Most hosts that come in at once.
const BATCH: usize = 256;

/// Most hosts that are offered when the times of all have changed.
const MOST_ANEW: usize = 4_096;

/// What decides when a host may be visited, in addition to its stored times.
#[derive(Debug, Clone, Copy)]
pub struct FillRules {
    /// The present time.
    pub now: UnixMillis,
    /// Least time between two requests to a host.
    pub delay: Duration,
    /// How long after their revisit bases pages are visited again; none when they are not.
    pub revisit_period: Option<Duration>,
}

impl Schedule {
    /// Brings in the hosts whose work begins first. Dropped unfinished, it forgets which are
    /// outside.
    pub async fn fill(
        self: &Arc<Self>,
        store: &FrontierHandle,
        rules: FillRules,
    ) -> Result<(), FrontierError> {
        let then = self.now() + millis(HORIZON);
        self.search(store, rules, BATCH, move |schedule, host| {
            schedule.workbench().is_passed_over(host, then)
        })
        .await
    }

    /// Offers the first hosts again, because the times of all have changed; the others come in when
    /// they are due.
    pub async fn offer_anew(
        self: &Arc<Self>,
        store: &FrontierHandle,
        rules: FillRules,
    ) -> Result<(), FrontierError> {
        self.search(store, rules, MOST_ANEW, |_, _| false).await
    }

    async fn search(
        self: &Arc<Self>,
        store: &FrontierHandle,
        rules: FillRules,
        most: usize,
        skip: impl Fn(&Self, HostNumber) -> bool + Send + 'static,
    ) -> Result<(), FrontierError> {
        let period_ms = |period: Duration| i64::try_from(period.as_millis()).unwrap_or(i64::MAX);
        let query = DueQuery {
            until: rules.now.plus(HORIZON),
            most,
            revisit_period_ms: rules.revisit_period.map(period_ms),
        };
        self.workbench().start_search(self.now());
        let schedule = Arc::clone(self);
        let find =
            move |frontier: &Frontier| frontier.due_hosts(query, |host| skip(&schedule, host));
        let found = store.read(find).await?;
        self.bring_in(found, rules);
        Ok(())
    }

    fn bring_in(&self, found: DueHosts, rules: FillRules) {
        let now = self.now();
        let due_at = |due: UnixMillis| now + wait_until(due, rules.now);
        let work_at = |work: UnixMillis| now + wait_for_work(work, rules.now);
        let mut workbench = self.workbench();
        for HostWithWork { host, due, work, crawl_delay_ms } in found.hosts {
            // A request may have been running when the agent was killed. Its host is left alone
            // for its full delay first.
            let rested = millis(rules.delay).max(crawl_delay_ms.into());
            workbench.bring_in(host, due_at(due).max(rested), work_at(work));
        }
        workbench.end_search(found.next.map(work_at), now + millis(HORIZON));
        self.wake_if_due(&workbench);
    }

    /// Notes that hosts outside may have work after this time.
    pub fn expect_work(&self, after: Duration) {
        let mut workbench = self.workbench();
        workbench.expect_work(self.now() + millis(after));
        self.wake_filler(&workbench);
    }

    /// How long a host stays outside that [`Claim::hold`](super::Claim::hold) has sent away because
    /// many hosts wait for its address; none where it was not sent away.
    pub fn away(&self, host: HostNumber) -> Option<Duration> {
        let due = self.workbench().away_until(host)?;
        Some(Duration::from_millis(due.saturating_sub(self.now())))
    }

    /// Forgets how long a host stays outside that was sent away: the frontier has the time by now.
    pub fn rest_is_stored(&self, host: HostNumber) {
        let mut workbench = self.workbench();
        workbench.rest_is_stored(host);
        self.wake_filler(&workbench);
    }

    /// Waits until hosts are wanted.
    pub async fn until_wanted(&self) {
        loop {
            let pause = {
                let workbench = self.workbench();
                let now = self.now();
                let then = now + millis(HORIZON);
                if workbench.wants_hosts(now, then) {
                    return;
                }
                let first = workbench.first_outside();
                self.filling_alarm.set(first);
                first.map(|first| Duration::from_millis(first.saturating_sub(then)).max(PAUSE))
            };
            let until = pause.and_then(|pause| Instant::now().checked_add(pause));
            self.filling_alarm.wait(until).await;
        }
    }
}
