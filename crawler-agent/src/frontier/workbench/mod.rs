//! The workbench: decides which host is next, with at most one request to a host and to an address
//! at a time, and none before a host is due.
//!
//! A host whose name may not be known is taken for a lookup first, by
//! [`Workbench::take_unresolved`], and only then for a request: new hosts, and those that have
//! waited for long.
//!
//! It lives in memory and has a bounded number of hosts; the frontier's file says which others have
//! work, see [`outside`]. Times are milliseconds of a clock that does not go back.

mod addresses;
mod outside;
mod waiting;

use std::{
    collections::{HashMap, HashSet},
    net::IpAddr,
    time::Duration,
};

use super::{HostActivity, HostNumber, LONGEST_PAUSE};
use addresses::AddressInUse;
use outside::Outside;
use waiting::WaitingHosts;

/// A host that waits for longer than this, in milliseconds, has its name looked up again before
/// its next request. Answers are valid for at least this time.
const NAME_VALID: u64 = 30_000;

/// Hosts that have work, and running requests.
#[derive(Debug, Default)]
pub struct Workbench {
    /// Hosts that wait for their due times.
    waiting: WaitingHosts,
    pub(super) hosts: HashMap<HostNumber, Slot>,
    addresses: HashMap<IpAddr, AddressInUse>,
    /// Hosts that may not be visited any more.
    retired: HashSet<HostNumber>,
    outside: Outside,
    /// The latest time at which a host was taken.
    now: u64,
}

#[derive(Debug)]
pub(super) struct Slot {
    state: SlotState,
    /// Address that is reserved for this host, because it has queued for it.
    reserved: Option<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    /// Has work from `due` on. If earlier work arrives, it may be visited from `least` on.
    Waiting { due: u64, least: u64 },
    /// Its name is being looked up; then it waits.
    Resolving { due: u64, least: u64 },
    /// A request is running; `requeue` when work arrived meanwhile.
    Busy { requeue: bool },
    /// Queues for an address that is busy.
    Queueing,
}

impl Workbench {
    /// An empty workbench for this many request slots.
    pub fn new(slots: usize) -> Self {
        Self { waiting: WaitingHosts::new(slots), ..Self::default() }
    }

    /// Offers a host that has work and may be visited from `due` on. A host that waits for later
    /// work is brought forward, but not before it may be visited. A rest of more than
    /// [`LONGEST_PAUSE`] is stored with the host, so that `due` counts instead.
    pub fn offer(&mut self, host: HostNumber, due: u64) {
        self.offer_later(host, due, due);
    }

    /// Offers a host that may be visited from `least` on and has work from `due` on.
    pub fn offer_later(&mut self, host: HostNumber, least: u64, due: u64) {
        if self.retired.contains(&host) {
            return;
        }
        match self.hosts.get_mut(&host) {
            None => self.enter_or_stay(host, least, due),
            Some(Slot { state: SlotState::Busy { requeue }, .. }) => *requeue = true,
            Some(Slot { state: SlotState::Resolving { due: known, least }, .. }) => {
                *known = due.max(*least).min(*known);
            }
            Some(Slot { state: SlotState::Queueing, .. }) => {}
            Some(Slot { state: SlotState::Waiting { due: known, least: rest }, reserved }) => {
                let known = *known;
                let left = Duration::from_millis(rest.saturating_sub(self.now));
                let least = if left > LONGEST_PAUSE { least } else { *rest };
                let reserved = *reserved;
                let due = due.max(least);
                if due >= known {
                    return;
                }
                if self.waiting.remove(known, host) {
                    self.wait_unresolved(host, least, due);
                } else {
                    self.wait(host, least, due, reserved);
                }
            }
        }
    }

    /// Stops all further visits of the host; a running request may end. Offers are ignored until
    /// [`Self::forget`].
    pub fn retire(&mut self, host: HostNumber) {
        self.retired.insert(host);
        match self.hosts.get(&host).map(|slot| slot.state) {
            Some(SlotState::Waiting { due, .. }) => {
                self.waiting.remove(due, host);
                self.pass_on_reserved(host);
                self.hosts.remove(&host);
                self.waiting.forget(host);
            }
            Some(SlotState::Queueing | SlotState::Resolving { .. }) => {
                self.hosts.remove(&host);
                self.waiting.forget(host);
            }
            Some(SlotState::Busy { .. }) | None => {}
        }
    }

    /// What the host is doing.
    pub fn activity(&self, host: HostNumber) -> HostActivity {
        match self.hosts.get(&host).map(|slot| slot.state) {
            Some(SlotState::Waiting { .. }) => HostActivity::Waiting,
            Some(SlotState::Resolving { .. }) => HostActivity::Resolving,
            Some(SlotState::Busy { .. }) => HostActivity::Running,
            Some(SlotState::Queueing) => HostActivity::QueuesForAddress,
            None => HostActivity::None,
        }
    }

    /// Whether the host neither waits nor has a running request or lookup.
    pub fn is_idle(&self, host: HostNumber) -> bool {
        !self.hosts.contains_key(&host)
    }

    /// Forgets that the host was retired.
    pub fn forget(&mut self, host: HostNumber) {
        self.retired.remove(&host);
    }

    /// Takes the first host whose name must be looked up before a request, if it is due by `then`,
    /// until [`Self::resolved`].
    pub fn take_unresolved(&mut self, then: u64) -> Option<HostNumber> {
        let host = self.waiting.take_unresolved(then)?;
        let slot = self.hosts.get_mut(&host)?;
        if let SlotState::Waiting { due, least } = slot.state {
            slot.state = SlotState::Resolving { due, least };
        }
        Some(host)
    }

    /// Ends the lookup of a host's name, with or without an address.
    pub fn resolved(&mut self, host: HostNumber) {
        // Otherwise the host was retired meanwhile, or taken for another host or a probe.
        if let Some(SlotState::Resolving { due, least }) = self.hosts.get(&host).map(|s| s.state) {
            self.wait(host, least, due, None);
        }
    }

    /// Ends a request of the host before anything was sent: its name must be looked up first.
    pub fn look_up(&mut self, host: HostNumber) {
        self.waiting.ended(host);
        self.pass_on_reserved(host);
        if self.retired.contains(&host) {
            self.hosts.remove(&host);
            self.waiting.forget(host);
        } else {
            // It was due and has waited: after the lookup it goes before the others. At the end of
            // the queue, its address would expire again while many wait.
            self.wait_unresolved(host, 0, 0);
        }
    }

    /// Due time of the first host whose name must be looked up.
    pub fn next_unresolved(&self) -> Option<u64> {
        self.waiting.first_unresolved()
    }

    /// Takes the host that has been due for longest and that its share allows; it is busy until
    /// [`Self::release`] or a refused [`Self::hold`].
    pub fn take(&mut self, now: u64) -> Option<HostNumber> {
        self.now = now;
        let host = self.waiting.take(now)?;
        let slot = self.hosts.get_mut(&host)?;
        slot.state = SlotState::Busy { requeue: false };
        Some(host)
    }

    /// Takes this very host if it is due and no request to it is running; else returns when to try
    /// again.
    pub fn borrow(&mut self, host: HostNumber, now: u64, retry_at: u64) -> Result<(), u64> {
        match self.hosts.get(&host).map(|slot| slot.state) {
            Some(SlotState::Busy { .. } | SlotState::Queueing) => Err(retry_at),
            Some(SlotState::Waiting { least, .. } | SlotState::Resolving { least, .. })
                if least > now =>
            {
                Err(least)
            }
            Some(SlotState::Resolving { .. }) => {
                if let Some(slot) = self.hosts.get_mut(&host) {
                    slot.state = SlotState::Busy { requeue: true };
                }
                Ok(())
            }
            Some(SlotState::Waiting { due, .. }) => {
                self.waiting.remove(due, host);
                if let Some(slot) = self.hosts.get_mut(&host) {
                    slot.state = SlotState::Busy { requeue: true };
                }
                Ok(())
            }
            None if self.retired.contains(&host) => Err(retry_at),
            None if self.outside.rest_of(host) > now => Err(self.outside.rest_of(host)),
            None => {
                self.hosts.insert(
                    host,
                    Slot { state: SlotState::Busy { requeue: false }, reserved: None },
                );
                Ok(())
            }
        }
    }

    /// Takes this very host, which may have no work, for a probe; returns from when on a request
    /// may be sent to it. None if that is after `latest`, a request to it is running, or it is
    /// retired.
    pub fn reserve(&mut self, host: HostNumber, latest: u64) -> Option<u64> {
        let least = match self.hosts.get(&host).map(|slot| slot.state) {
            Some(SlotState::Waiting { least, .. } | SlotState::Resolving { least, .. }) => least,
            Some(SlotState::Busy { .. } | SlotState::Queueing) => 0,
            None => self.outside.rest_of(host),
        };
        let taken = least <= latest && self.borrow(host, least, least).is_ok();
        taken.then_some(least)
    }

    /// Due time of the first waiting host that may be asked.
    pub fn next_due(&self) -> Option<u64> {
        self.waiting.first().map(|(due, _)| due)
    }

    /// Ends a request of the host, which stays busy until [`Self::release`], for other hosts.
    pub fn request_is_over(&mut self, host: HostNumber) {
        self.waiting.ended(host);
    }

    /// Ends a request of the host, which may be visited again from `due` on, if it has more work.
    pub fn release(&mut self, host: HostNumber, due: u64, more: bool) {
        self.release_until(host, due, more.then_some(due));
    }

    /// Ends a request of the host, which may be visited again from `least` on, and has more work
    /// from `due` on, if any.
    pub fn release_until(&mut self, host: HostNumber, least: u64, due: Option<u64>) {
        self.waiting.ended(host);
        self.pass_on_reserved(host);
        let requeue = matches!(
            self.hosts.get(&host),
            Some(Slot { state: SlotState::Busy { requeue: true }, .. })
        );
        // Work that arrived during the request must not be lost.
        let due = if requeue { Some(least) } else { due };
        if let Some(due) = due.filter(|_| !self.retired.contains(&host)) {
            let due = due.max(least);
            if due > self.now + NAME_VALID {
                self.wait_unresolved(host, least, due);
            } else {
                self.wait(host, least, due, None);
            }
        } else {
            self.hosts.remove(&host);
            self.waiting.forget(host);
        }
    }

    /// Notes how long a request for a page of a busy host took, which decides on its share of the
    /// slots.
    pub fn page_took(&mut self, host: HostNumber, duration: Duration) {
        self.waiting.page_took(host, duration);
    }

    /// Notes how long a request for robots.txt of a busy host took.
    pub fn robots_took(&mut self, host: HostNumber, duration: Duration) {
        self.waiting.robots_took(host, duration);
    }

    /// Whether a host is taken for a request: the request runs, or what it brought is not stored.
    pub fn has_taken(&self) -> bool {
        self.hosts.values().any(|slot| matches!(slot.state, SlotState::Busy { .. }))
    }

    /// Whether a request or a lookup is running, or a host is due by `then`.
    pub fn has_work_until(&self, then: u64) -> bool {
        let first = [self.next_due(), self.next_unresolved(), self.first_outside()];
        let first = first.into_iter().flatten().min();
        self.hosts.len() > self.waiting.len() || first.is_some_and(|due| due <= then)
    }

    fn due_of_waiting(&self, host: HostNumber) -> Option<u64> {
        match self.hosts.get(&host)?.state {
            SlotState::Waiting { due, .. } => Some(due),
            _ => None,
        }
    }

    fn wait(&mut self, host: HostNumber, least: u64, due: u64, reserved: Option<IpAddr>) {
        self.waiting.insert(due, host);
        self.hosts.insert(host, Slot { state: SlotState::Waiting { due, least }, reserved });
    }

    fn wait_unresolved(&mut self, host: HostNumber, least: u64, due: u64) {
        self.waiting.insert_unresolved(due, host);
        let state = SlotState::Waiting { due, least };
        self.hosts.insert(host, Slot { state, reserved: None });
    }
}
