//! The schedule: the workbench, shared by many tasks and driven by the runtime's clock.

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use model::UnixMillis;
use tokio::{sync::Notify, time::Instant};

use crate::frontier::{HostNumber, Workbench};

/// Longest wait for a stored due time. A wall clock that was set back must not keep hosts waiting
/// for years.
const LONGEST_WAIT_MS: i64 = 24 * 3_600 * 1_000;

/// Horizon of [`Schedule::has_work`].
const WORK_HORIZON: Duration = Duration::from_hours(1);

/// Says which host is due next.
pub struct Schedule {
    workbench: Mutex<Workbench>,
    /// Notified when a host may have become due earlier.
    changed: Notify,
    started: Instant,
}

/// A host that a task may send one request to, with the address if one is held. Dropping the claim
/// gives both back, so that nothing stays busy when a task is cancelled.
pub struct Claim {
    schedule: Arc<Schedule>,
    host: HostNumber,
    address: Option<IpAddr>,
    /// Another host that receives a request on behalf of the first.
    other: Option<HostNumber>,
    /// How long the hosts are left alone when the claim is dropped.
    pause: Duration,
    over: bool,
}

impl Schedule {
    /// An empty schedule whose clock starts now.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            workbench: Mutex::default(),
            changed: Notify::new(),
            started: Instant::now(),
        })
    }

    /// Offers a host that may be visited from the wall clock's `due` on, but not before `pause`
    /// from now.
    pub fn offer(&self, host: HostNumber, due: UnixMillis, now: UnixMillis, pause: Duration) {
        // Stored times are wall-clock times; from here on only the monotonic clock counts.
        let wait = due.0.saturating_sub(now.0).clamp(0, LONGEST_WAIT_MS) as u64;
        let due = self.now() + wait.max(millis(pause));
        self.workbench().offer(host, due);
        self.changed.notify_one();
    }

    /// Offers a host like that which has work only from the wall clock's `work` on.
    pub fn offer_later(
        &self,
        host: HostNumber,
        due: UnixMillis,
        work: UnixMillis,
        now: UnixMillis,
        pause: Duration,
    ) {
        let wait = |at: UnixMillis| at.0.saturating_sub(now.0).clamp(0, LONGEST_WAIT_MS) as u64;
        let least = self.now() + wait(due).max(millis(pause));
        let work = self.now() + wait(work);
        self.workbench().offer_later(host, least, work);
        self.changed.notify_one();
    }

    /// Stops all further visits of the host; a running request may end.
    pub fn retire(&self, host: HostNumber) {
        self.workbench().retire(host);
        self.changed.notify_one();
    }

    /// Waits until the last request to a retired host is over.
    pub async fn until_idle(&self, host: HostNumber) {
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        loop {
            tick.tick().await;
            if self.workbench().is_idle(host) {
                return;
            }
        }
    }

    /// Forgets that the host was retired, after it was released.
    pub fn forget(&self, host: HostNumber) {
        self.workbench().forget(host);
    }

    /// Claims the next host that is due. `pause` is how long it is left alone if the claim is
    /// dropped unfinished.
    pub fn take(self: &Arc<Self>, pause: Duration) -> Option<Claim> {
        let host = self.workbench().take(self.now())?;
        let schedule = Arc::clone(self);
        Some(Claim { schedule, host, address: None, other: None, pause, over: false })
    }

    /// Waits until a host may be due or the schedule has changed.
    pub async fn wait(&self) {
        let next = self.workbench().next_due();
        // `notify_one` stores a permit, so a change between these two lines is not missed.
        let changed = self.changed.notified();
        match next {
            Some(due) => {
                let at = self.started + Duration::from_millis(due);
                // A timeout means that a host is due.
                drop(tokio::time::timeout_at(at, changed).await);
            }
            None => changed.await,
        }
    }

    /// Waits until no request to `address` is running, and allows none until the result is dropped.
    pub async fn hold_address(self: &Arc<Self>, address: IpAddr) -> HeldAddress {
        let mut tick = tokio::time::interval(Duration::from_millis(50));
        loop {
            tick.tick().await;
            if self.workbench().hold_address(address) {
                return HeldAddress { schedule: Arc::clone(self), address };
            }
        }
    }

    /// Number of running requests.
    pub fn in_flight(&self) -> usize {
        self.workbench().in_flight()
    }

    /// Whether any host has work within the hour. Revisits that are due next week do not count.
    pub fn has_work(&self) -> bool {
        self.workbench().has_work_until(self.now() + millis(WORK_HORIZON))
    }

    fn now(&self) -> u64 {
        millis(self.started.elapsed())
    }

    /// Time of the schedule that is at least `pause` from now.
    fn after(&self, pause: Duration) -> u64 {
        // One more, because both terms are rounded down.
        self.now() + 1 + millis(pause)
    }

    fn workbench(&self) -> MutexGuard<'_, Workbench> {
        self.workbench.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

impl Claim {
    /// The claimed host.
    pub fn host(&self) -> HostNumber {
        self.host
    }

    /// Sets how long the host is left alone if the claim is dropped unfinished.
    pub fn set_pause(&mut self, pause: Duration) {
        self.pause = pause;
    }

    /// Holds the address for this claim. Where another request uses it, the claim ends and the host
    /// queues for the address.
    pub fn hold(mut self, address: IpAddr) -> Option<Self> {
        if self.schedule.workbench().hold(self.host, address) {
            self.address = Some(address);
            return Some(self);
        }
        // The workbench has queued the host already; dropping the claim must not release it.
        self.over = true;
        self.give_back_other(Duration::ZERO);
        None
    }

    /// Claims another host as well. Where that one may not be visited now, this claim ends and its
    /// host is due again later.
    pub fn borrow(mut self, other: HostNumber, ask_again: Duration) -> Option<Self> {
        let now = self.schedule.now();
        let borrowed = self.schedule.workbench().borrow(other, now, now + millis(ask_again));
        match borrowed {
            Ok(()) => {
                self.other = Some(other);
                Some(self)
            }
            Err(due) => {
                self.end(due, true);
                None
            }
        }
    }

    /// Ends the request. The host is due again after `pause` if it has `more` work.
    pub fn finish(self, pause: Duration, more: bool) {
        self.finish_until(pause, more.then_some(Duration::ZERO));
    }

    /// Ends the request. The host may be visited after `pause`, and has work after `work`, if at
    /// all.
    pub fn finish_until(mut self, pause: Duration, work: Option<Duration>) {
        let least = self.schedule.after(pause);
        self.pause = pause;
        let longest = Duration::from_millis(LONGEST_WAIT_MS.unsigned_abs());
        let due = work.map(|work| self.schedule.after(work.min(longest)));
        self.end_until(least, due);
    }

    fn end(&mut self, due: u64, more: bool) {
        self.end_until(due, more.then_some(due));
    }

    fn end_until(&mut self, least: u64, due: Option<u64>) {
        self.over = true;
        self.give_back_other(self.pause);
        let mut workbench = self.schedule.workbench();
        if let Some(address) = self.address.take() {
            workbench.free_address(address);
        }
        workbench.release_until(self.host, least, due);
        drop(workbench);
        self.schedule.changed.notify_one();
    }

    fn give_back_other(&mut self, pause: Duration) {
        if let Some(other) = self.other.take() {
            let due = self.schedule.after(pause);
            self.schedule.workbench().release(other, due, false);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.over {
            let due = self.schedule.after(self.pause);
            self.end(due, true);
        }
    }
}

/// An address to which no other request is sent.
pub struct HeldAddress {
    schedule: Arc<Schedule>,
    address: IpAddr,
}

impl Drop for HeldAddress {
    fn drop(&mut self) {
        self.schedule.workbench().free_address(self.address);
        self.schedule.changed.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostNumber = HostNumber(1);
    const OTHER: HostNumber = HostNumber(2);
    const ADDRESS: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const NOW: UnixMillis = UnixMillis(1_000_000);
    const SECOND: Duration = Duration::from_secs(1);

    #[tokio::test(start_paused = true)]
    async fn a_cancelled_request_gives_everything_back() {
        let schedule = Schedule::new();
        schedule.offer(HOST, NOW, NOW, Duration::ZERO);
        let claim = schedule.take(SECOND).unwrap().hold(ADDRESS).unwrap();
        assert_eq!(schedule.in_flight(), 1);
        drop(claim);
        assert_eq!(schedule.in_flight(), 0);
        assert!(schedule.take(SECOND).is_none(), "the host rests for its pause");
        tokio::time::advance(SECOND * 2).await;
        assert!(schedule.take(SECOND).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn waiting_ends_when_a_host_is_due_or_offered() {
        let schedule = Schedule::new();
        schedule.offer(HOST, NOW.plus_ms(5_000), NOW, Duration::ZERO);
        schedule.wait().await;
        schedule.wait().await;
        assert!(schedule.take(SECOND).is_some(), "the runtime's clock advanced by itself");
        let waiting = tokio::spawn({
            let schedule = Arc::clone(&schedule);
            async move { schedule.wait().await }
        });
        schedule.offer(OTHER, NOW, NOW, Duration::ZERO);
        waiting.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn extreme_times_do_not_block_a_host_forever() {
        let schedule = Schedule::new();
        schedule.offer(HOST, UnixMillis(i64::MAX), NOW, Duration::ZERO);
        schedule.offer(OTHER, UnixMillis(i64::MIN), NOW, SECOND);
        assert!(
            schedule.take(SECOND).is_none(),
            "the pause counts although the due time is long past"
        );
        tokio::time::advance(SECOND * 2).await;
        let other = schedule.take(SECOND).unwrap();
        assert_eq!(other.host(), OTHER);
        tokio::time::advance(Duration::from_secs(24 * 3_600)).await;
        assert_eq!(schedule.take(SECOND).unwrap().host(), HOST);
    }

    #[tokio::test(start_paused = true)]
    async fn an_address_serves_one_request_at_a_time() {
        let schedule = Schedule::new();
        let held = schedule.hold_address(ADDRESS).await;
        schedule.offer(HOST, NOW, NOW, Duration::ZERO);
        assert!(schedule.take(SECOND).unwrap().hold(ADDRESS).is_none());
        drop(held);
        assert!(schedule.take(SECOND).unwrap().hold(ADDRESS).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_borrowed_host_rests_as_well() {
        let schedule = Schedule::new();
        schedule.offer(HOST, NOW, NOW, Duration::ZERO);
        schedule.take(SECOND).unwrap().borrow(OTHER, SECOND).unwrap().finish(SECOND, false);
        schedule.offer(HOST, NOW, NOW, Duration::ZERO);
        schedule.offer(OTHER, NOW.plus_ms(10_000), NOW, Duration::ZERO);
        let claim = schedule.take(SECOND).unwrap();
        assert!(claim.borrow(OTHER, SECOND).is_none(), "not due");
        assert!(schedule.take(SECOND).is_none());
        tokio::time::advance(Duration::from_secs(10)).await;
        assert!(schedule.take(SECOND).is_some() && schedule.take(SECOND).is_some());
    }
}
