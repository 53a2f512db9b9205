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
const AT_ONCE: u64 = 0;

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
    place: Place,
    /// An address that is kept free for this host, because it has waited for it.
    kept: Option<IpAddr>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Is asked at `due`, and for work that comes in earlier than that from `least` on.
    Waiting { due: u64, least: u64 },
    /// A request is being made; `again` when work came in meanwhile.
    Busy { again: bool },
    /// In line for an address that is busy.
    InLine,
}

/// An address that is in use, or kept for the next in line.
#[derive(Debug, Default)]
struct Held {
    line: VecDeque<HostNumber>,
    /// Whom it is kept for; none while it is in use.
    kept_for: Option<HostNumber>,
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
            Some(Slot { place: Place::Busy { again }, .. }) => *again = true,
            Some(Slot { place: Place::InLine, .. }) => {}
            Some(Slot { place: Place::Waiting { due: known, least }, kept }) => {
                let (known, least, kept) = (*known, *least, *kept);
                let due = due.max(least);
                if due < known {
                    self.waiting.remove(&(known, host));
                    self.wait(host, least, due, kept);
                }
            }
        }
    }

    /// Nobody asks the host any more; a request that is going on may end. Offers are passed over
    /// until [`Self::forget`].
    pub fn retire(&mut self, host: HostNumber) {
        self.retired.insert(host);
        match self.hosts.get(&host).map(|slot| slot.place) {
            Some(Place::Waiting { due, .. }) => {
                self.waiting.remove(&(due, host));
                self.pass_on_kept(host);
                self.hosts.remove(&host);
            }
            Some(Place::InLine) => {
                self.hosts.remove(&host);
            }
            Some(Place::Busy { .. }) | None => {}
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
        slot.place = Place::Busy { again: false };
        Some(host)
    }

    /// Takes this very host if nobody is talking to it and it is due; else says when to ask again.
    pub fn borrow(&mut self, host: HostNumber, now: u64, ask_again: u64) -> Result<(), u64> {
        match self.hosts.get(&host).map(|slot| slot.place) {
            Some(Place::Busy { .. } | Place::InLine) => Err(ask_again),
            Some(Place::Waiting { least, .. }) if least > now => Err(least),
            Some(Place::Waiting { due, .. }) => {
                self.waiting.remove(&(due, host));
                if let Some(slot) = self.hosts.get_mut(&host) {
                    slot.place = Place::Busy { again: true };
                }
                Ok(())
            }
            None if self.retired.contains(&host) => Err(ask_again),
            None => {
                self.hosts.insert(host, Slot { place: Place::Busy { again: false }, kept: None });
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
            Some(held) => held.kept_for == Some(host),
        };
        if free {
            self.addresses.entry(address).or_default().kept_for = None;
            if let Some(slot) = self.hosts.get_mut(&host) {
                slot.kept = slot.kept.filter(|kept| *kept != address);
            }
            self.pass_on_kept(host);
            return true;
        }
        self.pass_on_kept(host);
        if let Some(held) = self.addresses.get_mut(&address) {
            held.line.push_back(host);
        }
        self.hosts.insert(host, Slot { place: Place::InLine, kept: None });
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
        held.kept_for = Some(next);
        self.wait(next, AT_ONCE, AT_ONCE, Some(address));
    }

    /// The host's request is over. It may be asked again from `due` on, if it has more work.
    pub fn release(&mut self, host: HostNumber, due: u64, more: bool) {
        self.release_until(host, due, more.then_some(due));
    }

    /// The host's request is over. It may be asked again from `least` on; it has more work from
    /// `due` on, if any.
    pub fn release_until(&mut self, host: HostNumber, least: u64, due: Option<u64>) {
        self.pass_on_kept(host);
        let again =
            matches!(self.hosts.get(&host), Some(Slot { place: Place::Busy { again: true }, .. }));
        let due = if again { Some(least) } else { due };
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
        self.addresses.values().filter(|held| held.kept_for.is_none()).count()
    }

    fn wait(&mut self, host: HostNumber, least: u64, due: u64, kept: Option<IpAddr>) {
        self.waiting.insert((due, host));
        self.hosts.insert(host, Slot { place: Place::Waiting { due, least }, kept });
    }

    /// An address that was kept for the host and that it did not take goes to the next in line.
    fn pass_on_kept(&mut self, host: HostNumber) {
        if let Some(address) = self.hosts.get_mut(&host).and_then(|slot| slot.kept.take()) {
            self.free_address(address);
        }
    }
}
