//! The schedule: the workbench, shared by many tasks and driven by the runtime's clock.

mod alarm;
mod filling;
mod last_requests;
mod lookups;
mod schedule_clock;
mod slow_answers;
mod stored_times;
mod targets;

use std::{
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, atomic::AtomicU64},
    time::Duration,
};

use model::UnixMillis;
use tokio::time::Instant;

pub use crate::frontier::HostActivity;
use crate::{
    frontier::{HostNumber, Workbench},
    lock::lock,
};
use alarm::Alarm;
pub use filling::FillRules;
use last_requests::LastRequests;
pub use slow_answers::after_answer;
use stored_times::{LONGEST_WAIT_MS, wait_for_work, wait_until};
pub use targets::HeldTarget;

/// Horizon of [`Schedule::has_work`].
const WORK_HORIZON: Duration = Duration::from_hours(1);

/// Says which host is due next.
pub struct Schedule {
    workbench: Mutex<Workbench>,
    last_requests: Mutex<LastRequests>,
    /// Ends the sleep of [`Self::wait`].
    host_alarm: Alarm,
    /// Ends the sleep of [`Self::until_unresolved`].
    lookup_alarm: Alarm,
    /// Ends the sleep of [`Self::until_wanted`].
    filling_alarm: Alarm,
    started: Instant,
    /// Milliseconds for which the machine was suspended since.
    suspended: AtomicU64,
}

/// A host that a task may send one request to, with the address if one is held. Dropping the claim
/// gives both back, so that nothing stays busy when a task is cancelled.
///
/// Ending a claim notifies no task: its own task asks for the next host afterwards, and takes the
/// same one again if no other is due.
pub struct Claim {
    schedule: Arc<Schedule>,
    host: HostNumber,
    /// The held address, and how long it is left alone after the request.
    address: Option<(IpAddr, Duration)>,
    /// Another host that receives a request on behalf of the first, and its pause after it.
    other: Option<(HostNumber, Duration)>,
    /// How long the hosts are left alone when the claim is dropped.
    pause: Duration,
    over: bool,
}

impl Schedule {
    /// An empty schedule for this many request slots, whose clock starts now.
    pub fn new(slots: usize) -> Arc<Self> {
        Arc::new(Self {
            workbench: Mutex::new(Workbench::new(slots)),
            last_requests: Mutex::default(),
            host_alarm: Alarm::default(),
            lookup_alarm: Alarm::default(),
            filling_alarm: Alarm::default(),
            started: Instant::now(),
            suspended: AtomicU64::new(0),
        })
    }

    /// Offers a host that may be visited from the wall clock's `due` on, but not before `pause`
    /// from now.
    pub fn offer(&self, host: HostNumber, due: UnixMillis, now: UnixMillis, pause: Duration) {
        let due = self.now() + wait_until(due, now).max(millis(pause));
        let mut workbench = self.workbench();
        workbench.offer(host, due);
        self.wake_if_due(&workbench);
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
        let least = self.now() + wait_until(due, now).max(millis(pause));
        let work = self.now() + wait_for_work(work, now);
        let mut workbench = self.workbench();
        workbench.offer_later(host, least, work);
        self.wake_if_due(&workbench);
    }

    /// Stops all further visits of the host; a running request may end.
    pub fn retire(&self, host: HostNumber) {
        self.workbench().retire(host);
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
        let host = {
            let mut workbench = self.workbench();
            let host = workbench.take(self.now())?;
            // Another task may take the one after it.
            self.wake_if_due(&workbench);
            host
        };
        let schedule = Arc::clone(self);
        Some(Claim { schedule, host, address: None, other: None, pause, over: false })
    }

    /// Waits until a host may be due.
    pub async fn wait(&self) {
        let next = {
            let workbench = self.workbench();
            let next = workbench.next_due();
            self.host_alarm.set(next);
            next
        };
        self.host_alarm.wait(next.map(|due| self.instant(due))).await;
    }

    /// Ends the sleep of each task for which there is work before its end.
    fn wake_if_due(&self, workbench: &Workbench) {
        self.host_alarm.ring_before(workbench.next_due());
        self.lookup_alarm.ring_before(workbench.next_unresolved());
        self.wake_filler(workbench);
    }

    /// Ends the sleep of the task that brings hosts in, if one is outside whose work begins before.
    fn wake_filler(&self, workbench: &Workbench) {
        self.filling_alarm.ring_before(workbench.first_outside());
    }

    /// What a host is doing.
    pub fn activity(&self, host: HostNumber) -> HostActivity {
        self.workbench().activity(host)
    }

    /// Number of running requests.
    pub fn in_flight(&self) -> usize {
        self.workbench().in_flight()
    }

    /// Whether a request runs, or what one brought is not stored yet.
    pub fn is_busy(&self) -> bool {
        let workbench = self.workbench();
        workbench.has_taken() || workbench.in_flight() > 0
    }

    /// Whether any host has work within the hour. Revisits that are due next week do not count.
    pub fn has_work(&self) -> bool {
        self.workbench().has_work_until(self.now() + millis(WORK_HORIZON))
    }

    /// Frees an address after a request; the next one may begin after `pause`.
    fn free_address(&self, workbench: &mut Workbench, address: IpAddr, pause: Duration) {
        // Without a pause, hosts that queue for the address go before all others.
        let due = if pause.is_zero() { 0 } else { self.after(pause) };
        workbench.free_address(address, due);
        self.last_requests().ended(address, self.now(), millis(pause));
    }

    fn workbench(&self) -> MutexGuard<'_, Workbench> {
        lock(&self.workbench)
    }

    fn last_requests(&self) -> MutexGuard<'_, LastRequests> {
        lock(&self.last_requests)
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

    /// Notes how long the request for a page took.
    pub fn page_took(&mut self, duration: Duration) {
        self.schedule.workbench().page_took(self.host, duration);
    }

    /// Notes how long the request for robots.txt took.
    pub fn robots_took(&mut self, duration: Duration) {
        self.schedule.workbench().robots_took(self.host, duration);
    }

    /// Frees the address and the share of the request slots: nothing more is sent for this claim.
    /// Its host stays claimed until the claim ends.
    pub fn request_is_over(&mut self) {
        let mut workbench = self.schedule.workbench();
        if let Some((address, pause)) = self.address.take() {
            self.schedule.free_address(&mut workbench, address, pause);
        }
        workbench.request_is_over(self.host);
        self.schedule.wake_if_due(&workbench);
    }

    /// Holds the address for this claim. Where another request uses it, or the last one ended less
    /// than `pause` ago, the claim ends and the host queues for the address, or is sent away until
    /// the time of [`Schedule::away`].
    pub fn hold(mut self, address: IpAddr, pause: Duration) -> Option<Self> {
        let is_held = {
            let mut workbench = self.schedule.workbench();
            // Read under the lock, under which a request that ends frees the address and notes its
            // end.
            let due = if pause.is_zero() {
                0
            } else {
                self.schedule.last_requests().next(address, millis(pause))
            };
            let is_held = workbench.hold(self.host, address, due, self.schedule.now());
            // The host may have been sent outside.
            self.schedule.wake_filler(&workbench);
            is_held
        };
        if is_held {
            self.address = Some((address, pause));
            return Some(self);
        }
        // The workbench has queued the host already; dropping the claim must not release it.
        self.over = true;
        if let Some((other, _)) = self.other.take() {
            let now = self.schedule.now();
            self.schedule.workbench().give_back(other, now);
        }
        None
    }

    /// Ends the claim before anything is sent: the name of a URL must be looked up first.
    pub fn look_up(mut self) {
        self.over = true;
        let mut workbench = self.schedule.workbench();
        workbench.look_up(self.host);
        self.schedule.wake_if_due(&workbench);
    }

    /// Claims another host as well, which rests for `pause` after the request. Where that one may
    /// not be visited now, this claim ends and its host is due again later.
    pub fn borrow(
        mut self,
        other: HostNumber,
        pause: Duration,
        ask_again: Duration,
    ) -> Option<Self> {
        let now = self.schedule.now();
        let borrowed = self.schedule.workbench().borrow(other, now, now + millis(ask_again));
        match borrowed {
            Ok(()) => {
                self.other = Some((other, pause));
                Some(self)
            }
            Err(due) => {
                self.end(due);
                None
            }
        }
    }

    /// Ends the request. The host is due again after `pause` if it has `more` work.
    pub fn finish(self, pause: Duration, more: bool) {
        self.finish_until(pause, more.then_some(Duration::ZERO));
    }

    /// Ends the request. The host may be visited after `pause`, and has work after `work`, if at
    /// all. The frontier has these times, so the host may leave the workbench.
    pub fn finish_until(mut self, pause: Duration, work: Option<Duration>) {
        let least = self.schedule.after(pause);
        self.pause = pause;
        let longest = Duration::from_millis(LONGEST_WAIT_MS.unsigned_abs());
        let due = work.map(|work| self.schedule.after(work.min(longest)));
        self.end_with(|workbench, host| workbench.finish(host, least, due));
    }

    /// Ends the claim of a visit that does not count: the host is visited after `pause`.
    pub fn postpone(mut self, pause: Duration) {
        let due = self.schedule.after(pause);
        self.end_with(|workbench, host| workbench.postpone(host, due));
    }

    fn end(&mut self, due: u64) {
        self.end_with(|workbench, host| workbench.release(host, due, true));
    }

    fn end_with(&mut self, end: impl FnOnce(&mut Workbench, HostNumber)) {
        self.over = true;
        self.give_back_other();
        let mut workbench = self.schedule.workbench();
        if let Some((address, pause)) = self.address.take() {
            self.schedule.free_address(&mut workbench, address, pause);
        }
        end(&mut workbench, self.host);
        self.schedule.wake_filler(&workbench);
    }

    /// The borrowed host has demanded a pause of this length.
    pub fn rest_other(&mut self, pause: Duration) {
        if let Some((_, rest)) = &mut self.other {
            *rest = pause.max(*rest);
        }
    }

    /// The borrowed host rests after its own request alone. The other one may rest for hours
    /// because it failed too often.
    fn give_back_other(&mut self) {
        if let Some((other, pause)) = self.other.take() {
            let due = self.schedule.after(pause);
            self.schedule.workbench().give_back(other, due);
        }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if !self.over {
            let due = self.schedule.after(self.pause);
            self.end(due);
            self.schedule.wake_if_due(&self.schedule.workbench());
        }
    }
}

#[cfg(test)]
mod tests;
