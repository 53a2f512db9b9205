//! Addresses: one request to an address at a time, in the order in which hosts ask for it.

use std::{collections::VecDeque, net::IpAddr};

use super::{Slot, SlotState, Workbench};
use crate::frontier::HostNumber;

/// An address that is in use, or reserved for the next host in its queue.
#[derive(Debug, Default)]
pub(super) struct AddressInUse {
    queue: VecDeque<HostNumber>,
    /// Host for which it is reserved; none while it is in use.
    reserved_for: Option<HostNumber>,
    /// When the host for which it is reserved may send a request to it.
    due: u64,
    /// When the last of the hosts that were sent away comes back.
    away_until: u64,
}

/// Hosts that wait for an address, beyond which others are sent away until it is their turn.
const LONG_QUEUE: usize = 64;
/// Time between the turns of two hosts at an address, in milliseconds: that of a request with its
/// delay.
const TURN_MS: u64 = 1_000;
/// Longest time for which a host is sent away, in milliseconds. It is stored, and stored times that
/// are too far ahead count as wrong.
const LONGEST_AWAY_MS: u64 = 12 * 3_600 * 1_000;

impl Workbench {
    /// Takes an address for a busy host; returns whether it did. It does if the address is reserved
    /// for the host, or if it is free and `due` has come, from which on a request may be sent to
    /// it. Otherwise the host is no longer busy. It is removed if it was retired; else one of these
    /// follows. If the address is free, it is reserved for the host from `due` on. If it is in use,
    /// the host joins its queue. If the queue is long, the host is sent away until
    /// [`Self::away_until`], which the caller must store.
    pub fn hold(&mut self, host: HostNumber, address: IpAddr, due: u64, now: u64) -> bool {
        let held = self.addresses.get(&address);
        let reserved = held.is_some_and(|held| held.reserved_for == Some(host));
        if reserved || (held.is_none() && due <= now) {
            self.addresses.entry(address).or_default().reserved_for = None;
            if let Some(slot) = self.hosts.get_mut(&host) {
                slot.reserved = slot.reserved.filter(|reserved| *reserved != address);
            }
            self.pass_on_reserved(host);
            return true;
        }
        self.pass_on_reserved(host);
        self.waiting.ended(host);
        if self.retired.contains(&host) {
            self.hosts.remove(&host);
            self.waiting.forget(host);
            return false;
        }
        let may_send_away = self.may_send_away();
        match self.addresses.get_mut(&address) {
            Some(held) if may_send_away && held.queue.len() >= LONG_QUEUE => {
                let after_queue = now + TURN_MS * held.queue.len() as u64;
                let next = held.away_until.max(after_queue) + TURN_MS;
                held.away_until = next.min(now + LONGEST_AWAY_MS);
                let due = held.away_until;
                self.send_away(host, due);
            }
            Some(held) => {
                held.queue.push_back(host);
                self.hosts.insert(host, Slot { state: SlotState::Queueing, reserved: None });
            }
            None => self.reserve_address(address, host, due),
        }
        false
    }

    /// Takes an address for a request that belongs to no host, such as a probe. Returns whether it
    /// was free, or only a host waited there that may not be visited by `now`. That host is next.
    /// Otherwise an address with several busy hosts would never be free for a probe.
    pub fn hold_address(&mut self, address: IpAddr, now: u64) -> bool {
        let Some(held) = self.addresses.get_mut(&address) else {
            self.addresses.insert(address, AddressInUse::default());
            return true;
        };
        let Some(host) = held.reserved_for.filter(|_| held.due > now) else { return false };
        let Some(Slot { state: SlotState::Waiting { due, .. }, .. }) = self.hosts.get(&host) else {
            return false;
        };
        self.waiting.remove(*due, host);
        held.reserved_for = None;
        held.queue.push_front(host);
        self.hosts.insert(host, Slot { state: SlotState::Queueing, reserved: None });
        true
    }

    /// Frees an address after [`Self::hold`] or [`Self::hold_address`]; the next host in its queue
    /// may send a request to it from `due` on.
    pub fn free_address(&mut self, address: IpAddr, due: u64) {
        let Some(held) = self.addresses.get_mut(&address) else { return };
        // Hosts that were retired meanwhile are skipped, also those that have come back since.
        let hosts = &self.hosts;
        let queues = |host: &HostNumber| {
            matches!(hosts.get(host), Some(Slot { state: SlotState::Queueing, .. }))
        };
        let Some(next) = std::iter::from_fn(|| held.queue.pop_front()).find(queues) else {
            self.addresses.remove(&address);
            return;
        };
        self.reserve_address(address, next, due);
    }

    /// Reserves an address for a host, so that no host that becomes due meanwhile overtakes it.
    fn reserve_address(&mut self, address: IpAddr, host: HostNumber, due: u64) {
        let held = self.addresses.entry(address).or_default();
        held.reserved_for = Some(host);
        held.due = due;
        self.wait(host, due, due, Some(address));
    }

    /// Number of addresses in use, which is the number of running requests.
    pub fn in_flight(&self) -> usize {
        self.addresses.values().filter(|held| held.reserved_for.is_none()).count()
    }

    /// Passes an address that was reserved for the host and that it did not take to the next host:
    /// its name may resolve to another address by now.
    pub(super) fn pass_on_reserved(&mut self, host: HostNumber) {
        if let Some(address) = self.hosts.get_mut(&host).and_then(|slot| slot.reserved.take()) {
            let due = self.addresses.get(&address).map_or(0, |held| held.due);
            self.free_address(address, due);
        }
    }
}
