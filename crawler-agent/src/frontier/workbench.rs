//! Which host is next? At most one request to a host and to an address at a time, and none before a
//! host is due.
//!
//! In memory only; the frontier's file says at start-up which hosts have work. Times are
//! milliseconds on the caller's scale, which must not go back.

use std::{
    collections::{BTreeSet, HashMap, HashSet, VecDeque},
    net::IpAddr,
};

use super::HostNumber;

/// Before every other moment. A host that got in line for an address was due already.
const IMMEDIATELY: u64 = 0;

/// Hosts that have work, and what is going on.
#[derive(Debug, Default)]
pub struct Workbench {
    waiting: BTreeSet<(u64, HostNumber)>,
    hosts: HashMap<HostNumber, Slot>,
    addresses: HashMap<IpAddr, Held>,
    /// Hosts that nobody may ask any more.
    retired: HashSet<HostNumber>,
}

#[derive(Debug)]
struct Slot {
    state: SlotState,
    /// An address that is kept free for this host, because it has waited for it.
    reserved: Option<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlotState {
    /// Is asked at `due`, and for work that comes in earlier than that from `least` on.
    Waiting { due: u64, least: u64 },
    /// A request is being made; `again` when work came in meanwhile.
    Busy { requeue: bool },
    /// In line for an address that is busy.
    Queueing,
}

/// An address that is in use, or kept for the next in line.
#[derive(Debug, Default)]
struct Held {
    line: VecDeque<HostNumber>,
    /// Whom it is kept for; none while it is in use.
    reserved_for: Option<HostNumber>,
}

impl Workbench {
    /// The host has work from `due` on, and may be asked from then on. A host that waits for later
    /// work comes forward, but not before it may be asked.
    pub fn offer(&mut self, host: HostNumber, due: u64) {
        self.offer_later(host, due, due);
    }

    /// The host may be asked from `least` on, and has work from `due` on.
    pub fn offer_later(&mut self, host: HostNumber, least: u64, due: u64) {
        if self.retired.contains(&host) {
            return;
        }
        match self.hosts.get_mut(&host) {
            None => self.wait(host, least, due.max(least), None),
            Some(Slot { state: SlotState::Busy { requeue }, .. }) => *requeue = true,
            Some(Slot { state: SlotState::Queueing, .. }) => {}
            Some(Slot { state: SlotState::Waiting { due: known, least }, reserved }) => {
                let (known, least, reserved) = (*known, *least, *reserved);
                let due = due.max(least);
                if due < known {
                    self.waiting.remove(&(known, host));
                    self.wait(host, least, due, reserved);
                }
            }
        }
    }

    /// Nobody asks the host any more; a request that is going on may end. Offers are passed over
    /// until [`Self::forget`].
    pub fn retire(&mut self, host: HostNumber) {
        self.retired.insert(host);
        match self.hosts.get(&host).map(|slot| slot.state) {
            Some(SlotState::Waiting { due, .. }) => {
                self.waiting.remove(&(due, host));
                self.pass_on_reserved(host);
                self.hosts.remove(&host);
            }
            Some(SlotState::Queueing) => {
                self.hosts.remove(&host);
            }
            Some(SlotState::Busy { .. }) | None => {}
        }
    }

    /// Whether nothing waits or goes on for this host.
    pub fn is_idle(&self, host: HostNumber) -> bool {
        !self.hosts.contains_key(&host)
    }

    /// A retired host is gone for good.
    pub fn forget(&mut self, host: HostNumber) {
        self.retired.remove(&host);
    }

    /// A host that is due, longest first; it is busy until [`Self::release`] or a refused
    /// [`Self::hold`].
    pub fn take(&mut self, now: u64) -> Option<HostNumber> {
        let (due, host) = *self.waiting.first()?;
        if due > now {
            return None;
        }
        self.waiting.remove(&(due, host));
        let slot = self.hosts.get_mut(&host)?;
        slot.state = SlotState::Busy { requeue: false };
        Some(host)
    }

    /// Takes this very host if nobody is talking to it and it is due; else says when to ask again.
    pub fn borrow(&mut self, host: HostNumber, now: u64, retry_at: u64) -> Result<(), u64> {
        match self.hosts.get(&host).map(|slot| slot.state) {
            Some(SlotState::Busy { .. } | SlotState::Queueing) => Err(retry_at),
            Some(SlotState::Waiting { least, .. }) if least > now => Err(least),
            Some(SlotState::Waiting { due, .. }) => {
                self.waiting.remove(&(due, host));
                if let Some(slot) = self.hosts.get_mut(&host) {
                    slot.state = SlotState::Busy { requeue: true };
                }
                Ok(())
            }
            None if self.retired.contains(&host) => Err(retry_at),
            None => {
                self.hosts.insert(
                    host,
                    Slot { state: SlotState::Busy { requeue: false }, reserved: None },
                );
                Ok(())
            }
        }
    }

    /// When the next host is due; none when none waits.
    pub fn next_due(&self) -> Option<u64> {
        self.waiting.first().map(|(due, _)| *due)
    }

    /// Takes an address for a busy host. When somebody else has it, the host gets in line for it,
    /// is no longer busy, and is due at once when it is its turn.
    pub fn hold(&mut self, host: HostNumber, address: IpAddr) -> bool {
        let free = match self.addresses.get(&address) {
            None => true,
            Some(held) => held.reserved_for == Some(host),
        };
        if free {
            self.addresses.entry(address).or_default().reserved_for = None;
            if let Some(slot) = self.hosts.get_mut(&host) {
                slot.reserved = slot.reserved.filter(|reserved| *reserved != address);
            }
            self.pass_on_reserved(host);
            return true;
        }
        self.pass_on_reserved(host);
        if let Some(held) = self.addresses.get_mut(&address) {
            held.line.push_back(host);
        }
        self.hosts.insert(host, Slot { state: SlotState::Queueing, reserved: None });
        false
    }

    /// Takes an address for somebody who is no host, like a probe. Says whether it was free.
    pub fn hold_address(&mut self, address: IpAddr) -> bool {
        let free = !self.addresses.contains_key(&address);
        if free {
            self.addresses.insert(address, Held::default());
        }
        free
    }

    /// Ends what [`Self::hold`] or [`Self::hold_address`] began; the next in line is due at once.
    pub fn free_address(&mut self, address: IpAddr) {
        let Some(held) = self.addresses.get_mut(&address) else { return };
        // Hosts that were retired meanwhile have left the line.
        let retired = &self.retired;
        let Some(next) =
            std::iter::from_fn(|| held.line.pop_front()).find(|host| !retired.contains(host))
        else {
            self.addresses.remove(&address);
            return;
        };
        held.reserved_for = Some(next);
        self.wait(next, IMMEDIATELY, IMMEDIATELY, Some(address));
    }

    /// The host's request is over. It may be asked again from `due` on, if it has more work.
    pub fn release(&mut self, host: HostNumber, due: u64, more: bool) {
        self.release_until(host, due, more.then_some(due));
    }

    /// The host's request is over. It may be asked again from `least` on; it has more work from
    /// `due` on, if any.
    pub fn release_until(&mut self, host: HostNumber, least: u64, due: Option<u64>) {
        self.pass_on_reserved(host);
        let requeue = matches!(
            self.hosts.get(&host),
            Some(Slot { state: SlotState::Busy { requeue: true }, .. })
        );
        let due = if requeue { Some(least) } else { due };
        match due.filter(|_| !self.retired.contains(&host)) {
            Some(due) => self.wait(host, least, due.max(least), None),
            None => drop(self.hosts.remove(&host)),
        }
    }

    /// Number of hosts that have work or are busy.
    pub fn len(&self) -> usize {
        self.hosts.len()
    }

    /// Whether nothing is going on and nothing waits.
    pub fn is_empty(&self) -> bool {
        self.hosts.is_empty()
    }

    /// Whether anything goes on, or is due by `then`.
    pub fn has_work_until(&self, then: u64) -> bool {
        self.hosts.len() > self.waiting.len() || self.next_due().is_some_and(|due| due <= then)
    }

    /// Number of addresses in use.
    pub fn in_flight(&self) -> usize {
        self.addresses.values().filter(|held| held.reserved_for.is_none()).count()
    }

    fn wait(&mut self, host: HostNumber, least: u64, due: u64, reserved: Option<IpAddr>) {
        self.waiting.insert((due, host));
        self.hosts.insert(host, Slot { state: SlotState::Waiting { due, least }, reserved });
    }

    /// An address that was kept for the host and that it did not take goes to the next in line.
    fn pass_on_reserved(&mut self, host: HostNumber) {
        if let Some(address) = self.hosts.get_mut(&host).and_then(|slot| slot.reserved.take()) {
            self.free_address(address);
        }
    }
}
