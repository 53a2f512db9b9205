//! Waiting hosts, and how many requests to slow ones may run.
//!
//! A slow host keeps a request slot for up to a minute. Without shares, a hundred of them would
//! hold every slot and healthy hosts would wait. Slow hosts get a quarter of the slots, and all
//! that are not known to be fast three quarters, so that a quarter is left for hosts known to be
//! fast.
//!
//! A host is known to be fast by its pages alone. Its robots.txt comes first and is mostly a small
//! file: hosts that answer it soon and then send their pages slowly would take every slot at once.
//!
//! Hosts whose names must be looked up first wait apart, so that no slot waits for a name server.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use crate::frontier::HostNumber;

/// Mean duration of its requests below which a host is fast.
const FAST: Duration = Duration::from_secs(1);

/// Mean duration of its requests from which a host is slow.
const SLOW: Duration = Duration::from_secs(5);

/// Weight of the earlier requests beside the last one. With less, a host that answers at once and
/// slowly in turns would be fast for every other request.
const EARLIER: u32 = 3;

/// Hosts with known addresses before a host whose name is therefore not looked up yet: it would
/// have to be looked up again when its turn comes.
const RESOLVED_AHEAD: usize = 256;

/// Pages of a host after which others have their turn: as many URLs as one read takes from its
/// queue.
const TURN: u16 = 64;

/// Hosts whose requests are remembered, beyond which slow ones that leave are forgotten.
const MAX_REMEMBERED: usize = 1 << 15;

/// How fast a host answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// It answers soon, or fails soon.
    Fast,
    /// It takes its time, or was not asked for a page yet.
    Medium,
    /// It keeps a request for long.
    Slow,
}

impl Pace {
    /// The pace of a host whose requests take this long.
    fn of(duration: Duration) -> Self {
        if duration < FAST {
            Self::Fast
        } else if duration < SLOW {
            Self::Medium
        } else {
            Self::Slow
        }
    }
}

/// Requests to a host.
#[derive(Debug, Clone, Copy)]
struct Requests {
    /// Their mean duration.
    mean: Duration,
    /// Number of those in this turn of the host.
    count: u16,
}

/// Most requests that may run at the same time.
#[derive(Debug, Clone, Copy)]
struct Shares {
    /// To hosts known to be slow.
    slow: usize,
    /// To all hosts not known to be fast.
    not_fast: usize,
}

/// Hosts that wait, ordered by due time within each pace.
#[derive(Debug)]
pub(super) struct WaitingHosts {
    shares: Shares,
    fast: BTreeSet<(u64, HostNumber)>,
    medium: BTreeSet<(u64, HostNumber)>,
    slow: BTreeSet<(u64, HostNumber)>,
    /// Hosts whose names must be looked up before a request.
    unresolved: BTreeSet<(u64, HostNumber)>,
    /// Requests to hosts; each is waiting, running or queueing, or was slow when it left.
    requests: HashMap<HostNumber, Requests>,
    /// Hosts with a running request that counts for a share.
    running: HashMap<HostNumber, Pace>,
    slow_running: usize,
}

impl Default for WaitingHosts {
    fn default() -> Self {
        Self::new(usize::MAX)
    }
}

impl WaitingHosts {
    /// No waiting hosts, for this many request slots.
    pub(super) fn new(slots: usize) -> Self {
        // Slow hosts may use a quarter of the slots, and fast hosts alone have another quarter.
        let slow = (slots / 4).max(1);
        let shares = Shares { slow, not_fast: slots.saturating_sub(slots / 4).max(1) };
        Self {
            shares,
            fast: BTreeSet::new(),
            medium: BTreeSet::new(),
            slow: BTreeSet::new(),
            unresolved: BTreeSet::new(),
            requests: HashMap::new(),
            running: HashMap::new(),
            slow_running: 0,
        }
    }

    pub(super) fn insert(&mut self, due: u64, host: HostNumber) {
        self.queue(self.pace(host)).insert((due, host));
    }

    /// Inserts a host whose name must be looked up before a request.
    pub(super) fn insert_unresolved(&mut self, due: u64, host: HostNumber) {
        self.unresolved.insert((due, host));
    }

    /// Removes a waiting host; returns whether its name must still be looked up.
    pub(super) fn remove(&mut self, due: u64, host: HostNumber) -> bool {
        let is_unresolved = self.unresolved.remove(&(due, host));
        if !is_unresolved {
            self.queue(self.pace(host)).remove(&(due, host));
        }
        is_unresolved
    }

    /// Due time of the first host whose name must be looked up.
    pub(super) fn first_unresolved(&self) -> Option<u64> {
        self.unresolved.first().map(|(due, _)| *due)
    }

    /// Takes the first host whose name must be looked up, if it is due by `then` and few others are
    /// before it.
    pub(super) fn take_unresolved(&mut self, then: u64) -> Option<HostNumber> {
        let first = *self.unresolved.first().filter(|(due, _)| *due <= then)?;
        let before = |queue: &BTreeSet<_>| queue.range(..first).take(RESOLVED_AHEAD).count();
        // Slow hosts have their own share of the slots and are not before others.
        if before(&self.fast) + before(&self.medium) >= RESOLVED_AHEAD {
            return None;
        }
        self.unresolved.remove(&first);
        Some(first.1)
    }

    /// The first host that is due and may be asked. Its request counts until [`Self::ended`].
    pub(super) fn take(&mut self, now: u64) -> Option<HostNumber> {
        let (due, host) = self.first().filter(|(due, _)| *due <= now)?;
        let pace = self.pace(host);
        self.queue(pace).remove(&(due, host));
        if pace != Pace::Fast {
            self.running.insert(host, pace);
            self.slow_running += usize::from(pace == Pace::Slow);
        }
        Some(host)
    }

    /// Ends the request to a host, if one is counted.
    pub(super) fn ended(&mut self, host: HostNumber) {
        if self.running.remove(&host) == Some(Pace::Slow) {
            self.slow_running -= 1;
        }
    }

    /// Notes how long a request for a page took. The host is not waiting.
    pub(super) fn page_took(&mut self, host: HostNumber, duration: Duration) {
        let requests = self.requests.entry(host).or_insert(Requests { mean: duration, count: 0 });
        requests.mean = (requests.mean * EARLIER + duration) / (EARLIER + 1);
        requests.count = requests.count.saturating_add(1);
    }

    /// Notes how long a request for robots.txt took, which only shows that a host is slow. The host
    /// is not waiting.
    pub(super) fn robots_took(&mut self, host: HostNumber, duration: Duration) {
        if Pace::of(duration) == Pace::Slow {
            self.page_took(host, duration);
        }
    }

    /// Forgets a host that is not waiting.
    pub(super) fn forget(&mut self, host: HostNumber) {
        self.requests.remove(&host);
    }

    /// Ends the turn of a host that is not waiting. That it is slow is remembered.
    pub(super) fn leave(&mut self, host: HostNumber) {
        let has_room = self.requests.len() <= MAX_REMEMBERED;
        match self.requests.get_mut(&host) {
            Some(requests) if has_room && Pace::of(requests.mean) == Pace::Slow => {
                requests.count = 0;
            }
            _ => self.forget(host),
        }
    }

    /// Whether a host has had as many requests as others should wait for.
    pub(super) fn is_turn_over(&self, host: HostNumber) -> bool {
        self.requests.get(&host).is_some_and(|requests| requests.count >= TURN)
    }

    /// Number of slow hosts, which are not in the way of others.
    pub(super) fn slow(&self) -> usize {
        self.slow.len()
    }

    /// Number of the other hosts that are due, or whose names may be looked up for work by `then`;
    /// counted up to `most` of each kind.
    pub(super) fn ready(&self, now: u64, then: u64, most: usize) -> usize {
        let count = |queue: &BTreeSet<(u64, HostNumber)>, then: u64| {
            queue.range(..(then.saturating_add(1), HostNumber(0))).take(most).count()
        };
        count(&self.fast, now) + count(&self.medium, now) + count(&self.unresolved, then)
    }

    /// The first host among those that may be asked now.
    pub(super) fn first(&self) -> Option<(u64, HostNumber)> {
        let not_fast = self.running.len() < self.shares.not_fast;
        let slow = not_fast && self.slow_running < self.shares.slow;
        let medium = self.medium.first().filter(|_| not_fast);
        let slow = self.slow.first().filter(|_| slow);
        [self.fast.first(), medium, slow].into_iter().flatten().min().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.fast.len() + self.medium.len() + self.slow.len() + self.unresolved.len()
    }

    fn pace(&self, host: HostNumber) -> Pace {
        self.requests.get(&host).map_or(Pace::Medium, |requests| Pace::of(requests.mean))
    }

    fn queue(&mut self, pace: Pace) -> &mut BTreeSet<(u64, HostNumber)> {
        match pace {
            Pace::Fast => &mut self.fast,
            Pace::Medium => &mut self.medium,
            Pace::Slow => &mut self.slow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(slots: usize, hosts: &[(u64, Pace)]) -> WaitingHosts {
        let mut waiting = WaitingHosts::new(slots);
        for (number, pace) in hosts {
            let duration = match pace {
                Pace::Fast => Duration::ZERO,
                Pace::Medium => FAST,
                Pace::Slow => SLOW,
            };
            waiting.page_took(HostNumber(*number), duration);
            waiting.insert(*number, HostNumber(*number));
        }
        waiting
    }

    fn take_all(waiting: &mut WaitingHosts) -> Vec<u64> {
        std::iter::from_fn(|| waiting.take(100)).map(|host| host.0).collect()
    }

    #[test]
    fn slower_hosts_leave_slots_to_fast_ones() {
        let slow = (1..=8).map(|number| (number, Pace::Slow));
        let medium = (11..=18).map(|number| (number, Pace::Medium));
        let fast = (21..=28).map(|number| (number, Pace::Fast));
        let hosts: Vec<(u64, Pace)> = slow.chain(medium).chain(fast).collect();
        let mut waiting = waiting(8, &hosts);
        let taken = take_all(&mut waiting);
        // Two of eight slots for slow hosts, six for those that are not known to be fast.
        let expected: Vec<u64> = (1..=2).chain(11..=14).chain(21..=28).collect();
        assert_eq!(taken, expected);
        waiting.ended(HostNumber(1));
        assert_eq!(take_all(&mut waiting), [3], "its slot goes to the next slow host");
        waiting.ended(HostNumber(11));
        assert_eq!(take_all(&mut waiting), [15]);
        assert_eq!(waiting.len(), 8 - 3 + 8 - 5);
    }

    #[test]
    fn without_slow_hosts_the_order_is_by_due_time() {
        let mut waiting =
            waiting(8, &[(3, Pace::Medium), (1, Pace::Fast), (2, Pace::Medium), (4, Pace::Fast)]);
        assert_eq!(waiting.take(0), None, "none is due");
        assert_eq!(take_all(&mut waiting), [1, 2, 3, 4]);
    }

    #[test]
    fn the_pace_is_that_of_several_pages() {
        let host = HostNumber(1);
        let mut waiting = WaitingHosts::new(8);
        let mut paces = |seconds: &[u64]| {
            let mut paces = Vec::new();
            for seconds in seconds {
                waiting.page_took(host, Duration::from_secs(*seconds));
                paces.push(waiting.pace(host));
            }
            paces
        };
        assert_eq!(paces(&[0, 19, 0]), [Pace::Fast, Pace::Medium, Pace::Medium], "one lost answer");
        assert_eq!(paces(&[60, 0, 60, 0]), [Pace::Slow; 4], "slow and fast in turns");
        assert_eq!(paces(&[0; 16]).last(), Some(&Pace::Fast), "fast again");
    }

    #[test]
    fn a_fast_robots_txt_says_nothing_about_pages() {
        let host = HostNumber(1);
        let mut waiting = WaitingHosts::new(8);
        waiting.robots_took(host, Duration::ZERO);
        assert_eq!(waiting.pace(host), Pace::Medium);
        waiting.robots_took(host, SLOW);
        assert_eq!(waiting.pace(host), Pace::Slow);
    }

    #[test]
    fn names_are_looked_up_by_due_time_but_not_too_far_ahead() {
        let mut waiting = WaitingHosts::new(8);
        for number in 1..=3 {
            waiting.insert_unresolved(1_000 * number, HostNumber(number));
        }
        assert_eq!(waiting.take_unresolved(999), None, "none is due");
        assert_eq!(waiting.take_unresolved(1_000), Some(HostNumber(1)));
        for number in 1_000..1_000 + RESOLVED_AHEAD as u64 {
            waiting.insert(number, HostNumber(number));
        }
        assert_eq!(waiting.take_unresolved(9_000), None, "enough hosts are before it");
        assert_eq!(waiting.take(9_000), Some(HostNumber(1_000)));
        assert_eq!(waiting.take_unresolved(9_000), Some(HostNumber(2)));
        assert!(waiting.remove(3_000, HostNumber(3)) && !waiting.remove(1_001, HostNumber(1_001)));
    }

    #[test]
    fn one_slot_serves_every_pace() {
        let mut waiting = waiting(1, &[(1, Pace::Slow), (2, Pace::Medium)]);
        assert_eq!(take_all(&mut waiting), [1]);
        waiting.ended(HostNumber(1));
        assert_eq!(take_all(&mut waiting), [2]);
    }
}
