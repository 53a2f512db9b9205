//! Hosts outside: those that have work and are not in the workbench, because there are too many.
//!
//! The frontier's file has all hosts with work by their times, so that a host may leave the
//! workbench whenever its times are stored. The workbench only remembers when the first host
//! outside has work, and which hosts may not be visited yet for a reason that is not stored.
//!
//! Hosts come in by due time, when few in the workbench are due. One that has come in stays for
//! many pages, because it is in memory then: it leaves when it has had its turn while others are
//! due, or when it has nothing to do for long. At an address with many hosts only some wait inside.

use std::collections::HashMap;

use super::{NAME_VALID, Workbench};
use crate::{frontier::HostNumber, robots::MAX_DELAY_MS};

/// Most hosts in the workbench, without slow ones: more than are visited within a Crawl-delay.
const CAPACITY: usize = 4_096;
/// Most hosts in the workbench, with slow ones, which wait for their share of the request slots.
const CAPACITY_WITH_SLOW: usize = 4 * CAPACITY;
/// Hosts that are due, or whose names are to be looked up, below which others come in.
const FEW: usize = 256;
/// Time in milliseconds for which a host makes room for others.
const AWAY: u64 = 60_000;
/// Hosts that are remembered because they may not be visited yet.
const MAX_RESTING: usize = 1 << 16;
/// Time in milliseconds before all that rest are looked through again for room.
const FORGET_PAUSE: u64 = 1_000;
/// Pauses up to this, in milliseconds, are remembered here; longer ones are stored with the host.
const LONGEST_REMEMBERED: u64 = MAX_DELAY_MS as u64;

/// What the workbench knows of the hosts outside.
#[derive(Debug, Default)]
pub(super) struct Outside {
    /// When the first of them has work, or a time before that; none where no host is outside.
    first: Option<u64>,
    /// Whether the file was searched for hosts with work. Without a search, hosts outside are not
    /// brought in again, so none may be sent there.
    is_searched: bool,
    /// Hosts that may not be visited yet, though the file may say so, with the times from which on
    /// they may be.
    resting: HashMap<HostNumber, u64>,
    /// When those were last forgotten that may be visited again, because too many rested.
    forgot_at: Option<u64>,
}

impl Outside {
    fn note(&mut self, due: u64) {
        self.first = Some(self.first.map_or(due, |first| first.min(due)));
    }

    /// When the first of them has work.
    pub(super) fn first(&self) -> Option<u64> {
        self.first
    }

    /// Whether any of them has work by then.
    pub(super) fn is_due(&self, then: u64) -> bool {
        self.first.is_some_and(|first| first <= then)
    }

    /// Whether another host can be remembered. Where too many are, those are forgotten that may be
    /// visited again: hosts that cannot leave keep others from coming in, and a search, which
    /// forgets them as well, would never begin.
    fn has_room_to_rest(&mut self, now: u64) -> bool {
        let is_full = self.resting.len() >= MAX_RESTING;
        if is_full && self.forgot_at.is_none_or(|at| now >= at + FORGET_PAUSE) {
            self.forgot_at = Some(now);
            self.resting.retain(|_, rest| *rest > now);
            // A search that is going on may have passed them over.
            self.note(now);
        }
        self.resting.len() < MAX_RESTING
    }

    /// When a host may be visited, as far as it is remembered.
    pub(super) fn rest_of(&self, host: HostNumber) -> u64 {
        self.resting.get(&host).copied().unwrap_or(0)
    }
}

impl Workbench {
    /// When the first host outside has work.
    pub fn first_outside(&self) -> Option<u64> {
        self.outside.first()
    }

    /// Notes that hosts outside may have work from `due` on.
    pub fn expect_work(&mut self, due: u64) {
        self.outside.note(due);
    }

    /// Whether hosts with work by `then` should come in.
    pub fn wants_hosts(&self, now: u64, then: u64) -> bool {
        let has_room = self.hosts.len() < CAPACITY_WITH_SLOW
            && self.hosts.len() - self.waiting.slow() < CAPACITY;
        self.outside.is_due(then) && has_room && self.waiting.ready(now, then, FEW) < FEW
    }

    /// Begins a search of the file for hosts with work. Until its end, hosts that leave are noted.
    pub fn start_search(&mut self, now: u64) {
        self.outside.first = None;
        self.outside.is_searched = true;
        self.outside.resting.retain(|_, rest| *rest > now);
    }

    /// Whether a search passes a host over: it is in the workbench, or may not be visited by
    /// `then`.
    pub fn is_passed_over(&self, host: HostNumber, then: u64) -> bool {
        let is_inside = self.hosts.contains_key(&host) || self.retired.contains(&host);
        is_inside || self.outside.rest_of(host) > then
    }

    /// Ends a search for hosts with work by `then`. `next` is when the first host that was not
    /// found has work.
    pub fn end_search(&mut self, next: Option<u64>, then: u64) {
        let resting = self.outside.resting.values().copied().filter(|rest| *rest > then).min();
        for time in next.into_iter().chain(resting) {
            self.outside.note(time);
        }
    }

    /// Brings in a host that was found in the file.
    pub fn bring_in(&mut self, host: HostNumber, least: u64, due: u64) {
        if self.hosts.contains_key(&host) || self.retired.contains(&host) {
            self.offer_later(host, least, due);
        } else {
            self.enter(host, least, due);
        }
    }

    /// Takes a host that got work into the workbench, or leaves it outside where others are before
    /// it.
    pub(super) fn enter_or_stay(&mut self, host: HostNumber, least: u64, due: u64) {
        let due = due.max(least);
        let is_full = self.hosts.len() >= CAPACITY;
        let stays = self.outside.is_searched && (is_full || self.outside.is_due(due));
        if stays && self.can_stay_outside(least) {
            self.stay_outside(host, least, due);
        } else {
            self.enter(host, least, due);
        }
    }

    fn enter(&mut self, host: HostNumber, least: u64, due: u64) {
        let least = least.max(self.outside.resting.remove(&host).unwrap_or(0));
        self.wait_unresolved(host, least, due.max(least));
    }

    /// Notes a host outside, which may be visited from `least` on and has work from `due` on.
    pub(super) fn stay_outside(&mut self, host: HostNumber, least: u64, due: u64) {
        self.outside.note(due);
        if self.is_remembered(least) {
            self.outside.resting.insert(host, least);
        }
    }

    /// Whether a host outside that may be visited from `least` on is remembered.
    fn is_remembered(&self, least: u64) -> bool {
        least > self.now && least - self.now <= LONGEST_REMEMBERED
    }

    fn can_stay_outside(&mut self, least: u64) -> bool {
        !self.is_remembered(least) || self.outside.has_room_to_rest(self.now)
    }

    /// Ends a request of the host, whose times are stored: it may be visited again from `least` on
    /// and has more work from `due` on, if any. It may leave the workbench.
    pub fn finish(&mut self, host: HostNumber, least: u64, due: Option<u64>) {
        self.release_until(host, least, due);
        if let Some(due) = self.due_of_waiting(host)
            && self.leaves(host, due)
            && self.can_stay_outside(least)
        {
            self.waiting.remove(due, host);
            self.hosts.remove(&host);
            self.waiting.leave(host);
            self.stay_outside(host, least, due);
        }
    }

    fn leaves(&self, host: HostNumber, due: u64) -> bool {
        let is_far = due > self.now + NAME_VALID;
        let is_crowded = self.hosts.len() > CAPACITY || self.outside.is_due(due);
        let is_turn_over = self.waiting.is_turn_over(host) && self.outside.is_due(self.now);
        self.outside.is_searched && (is_far && is_crowded || is_turn_over)
    }

    /// Ends a request of the host that does not count, until `due`. Where the workbench is
    /// full and others are due, the host makes room for them for a while: they may be allowed what
    /// it is not.
    pub fn postpone(&mut self, host: HostNumber, due: u64) {
        self.release(host, due, true);
        if self.hosts.len() >= CAPACITY
            && self.may_send_away()
            && self.outside.has_room_to_rest(self.now)
            && let Some(due) = self.due_of_waiting(host)
        {
            self.waiting.remove(due, host);
            self.send_away(host, due.max(self.now + AWAY));
        }
    }

    /// Gives back a host that received a request on behalf of another, or a probe, and may be
    /// visited from `due` on. Whether it has work, a search says that passed it over meanwhile.
    pub fn give_back(&mut self, host: HostNumber, due: u64) {
        self.release(host, due, false);
        if self.outside.is_searched && !self.hosts.contains_key(&host) {
            self.stay_outside(host, due, due);
        }
    }

    /// Sends a host outside until `due`.
    pub(super) fn send_away(&mut self, host: HostNumber, due: u64) {
        self.hosts.remove(&host);
        self.waiting.leave(host);
        self.outside.note(due);
        self.outside.resting.insert(host, due);
    }

    /// Whether hosts may be sent outside for a while, because others that are due are in the
    /// workbench.
    pub(super) fn may_send_away(&self) -> bool {
        self.outside.is_due(self.now)
    }

    /// Until when the host was sent away by [`Self::hold`]; none where it is in the workbench.
    pub fn away_until(&self, host: HostNumber) -> Option<u64> {
        self.outside.resting.get(&host).copied().filter(|_| !self.hosts.contains_key(&host))
    }

    /// Forgets how long a host rests that was sent away: the frontier has the time by now.
    pub fn rest_is_stored(&mut self, host: HostNumber) {
        if let Some(due) = self.outside.resting.remove(&host) {
            // A search that is going on may have passed it over.
            self.outside.note(due);
        }
    }
}
