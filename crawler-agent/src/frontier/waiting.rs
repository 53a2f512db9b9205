//! Waiting hosts, and how many requests to slow ones may run.
//!
//! A slow host keeps a request slot for up to a minute. Without shares, a hundred of them would
//! hold every slot and healthy hosts would wait. Hosts known to be slow get a quarter of the slots,
//! and together with hosts that were never asked three quarters, so that a quarter is left for
//! hosts known to be fast.

use std::{
    collections::{BTreeSet, HashMap},
    time::Duration,
};

use super::HostNumber;

/// Duration from which a request is slow.
const SLOW: Duration = Duration::from_secs(5);

/// How fast a host answered its last request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// It was not asked yet.
    #[default]
    Unknown,
    /// It answered soon, or failed soon.
    Fast,
    /// It kept the request for long.
    Slow,
}

impl Pace {
    /// The pace of a host whose last request took this long.
    pub fn of(duration: Duration) -> Self {
        if duration < SLOW { Self::Fast } else { Self::Slow }
    }
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
    unknown: BTreeSet<(u64, HostNumber)>,
    slow: BTreeSet<(u64, HostNumber)>,
    /// Hosts that were asked; each is waiting, running or queueing.
    paces: HashMap<HostNumber, Pace>,
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
        let slow = (slots / 4).max(1);
        let shares = Shares { slow, not_fast: slots.saturating_sub(slots / 4).max(1) };
        Self {
            shares,
            fast: BTreeSet::new(),
            unknown: BTreeSet::new(),
            slow: BTreeSet::new(),
            paces: HashMap::new(),
            running: HashMap::new(),
            slow_running: 0,
        }
    }

    pub(super) fn insert(&mut self, due: u64, host: HostNumber) {
        self.queue(self.pace(host)).insert((due, host));
    }

    pub(super) fn remove(&mut self, due: u64, host: HostNumber) {
        self.queue(self.pace(host)).remove(&(due, host));
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

    /// Sets the pace of a host that is not waiting.
    pub(super) fn set_pace(&mut self, host: HostNumber, pace: Pace) {
        self.paces.insert(host, pace);
    }

    /// Forgets a host that is not waiting.
    pub(super) fn forget(&mut self, host: HostNumber) {
        self.paces.remove(&host);
    }

    /// The first host among those that may be asked now.
    pub(super) fn first(&self) -> Option<(u64, HostNumber)> {
        let not_fast = self.running.len() < self.shares.not_fast;
        let slow = not_fast && self.slow_running < self.shares.slow;
        let unknown = self.unknown.first().filter(|_| not_fast);
        let slow = self.slow.first().filter(|_| slow);
        [self.fast.first(), unknown, slow].into_iter().flatten().min().copied()
    }

    pub(super) fn len(&self) -> usize {
        self.fast.len() + self.unknown.len() + self.slow.len()
    }

    fn pace(&self, host: HostNumber) -> Pace {
        self.paces.get(&host).copied().unwrap_or_default()
    }

    fn queue(&mut self, pace: Pace) -> &mut BTreeSet<(u64, HostNumber)> {
        match pace {
            Pace::Fast => &mut self.fast,
            Pace::Unknown => &mut self.unknown,
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
            waiting.set_pace(HostNumber(*number), *pace);
            waiting.insert(*number, HostNumber(*number));
        }
        waiting
    }

    fn take_all(waiting: &mut WaitingHosts) -> Vec<u64> {
        std::iter::from_fn(|| waiting.take(100)).map(|host| host.0).collect()
    }

    #[test]
    fn slow_and_unknown_hosts_leave_slots_to_fast_ones() {
        let slow = (1..=8).map(|number| (number, Pace::Slow));
        let unknown = (11..=18).map(|number| (number, Pace::Unknown));
        let fast = (21..=28).map(|number| (number, Pace::Fast));
        let hosts: Vec<(u64, Pace)> = slow.chain(unknown).chain(fast).collect();
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
            waiting(8, &[(3, Pace::Unknown), (1, Pace::Fast), (2, Pace::Unknown), (4, Pace::Fast)]);
        assert_eq!(waiting.take(0), None, "none is due");
        assert_eq!(take_all(&mut waiting), [1, 2, 3, 4]);
        assert_eq!((Pace::of(SLOW), Pace::of(SLOW / 2)), (Pace::Slow, Pace::Fast));
    }

    #[test]
    fn one_slot_serves_every_pace() {
        let mut waiting = waiting(1, &[(1, Pace::Slow), (2, Pace::Unknown)]);
        assert_eq!(take_all(&mut waiting), [1]);
        waiting.ended(HostNumber(1));
        assert_eq!(take_all(&mut waiting), [2]);
    }
}
