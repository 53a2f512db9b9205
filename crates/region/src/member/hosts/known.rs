//! What a member knows of each host.

use std::collections::{BTreeMap, BTreeSet};

use model::{AgentId, CrawlUrl};

use crate::member::hosts::slot_queue::SlotQueue;
use crate::message::{Bundle, COUNTED_BITS, RoutedUrl, UrlPurpose};
use crate::ownership::{HostAtAddress, HostPosition};
use crate::time::Millis;

/// State of a host with what it waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// Another agent's; this one takes it over when the agents before it die.
    Standby,
    /// Came to this agent. Its bundle was not asked for yet, because no URL of it was to be
    /// fetched.
    New,
    /// Came to this agent, and its bundle is being asked for.
    Asking {
        /// Agents that have not answered.
        waiting: BTreeSet<AgentId>,
    },
    /// This agent owns it.
    Held,
    /// On its way to its owner.
    Leaving {
        /// The owner, which gets the bundle.
        to: AgentId,
        /// Number of the bundle.
        number: u64,
    },
}

/// A host with its state.
#[derive(Debug, Clone)]
pub(super) struct KnownHost {
    pub(super) host: HostAtAddress,
    /// A URL of the host.
    pub(super) front: CrawlUrl,
    pub(super) state: State,
    /// When something is to be done.
    due: Option<Millis>,
    /// How often the bundle was sent with which it leaves.
    times_sent: u32,
}

/// All hosts of a member.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    known: BTreeMap<HostPosition, KnownHost>,
    due: BTreeSet<(Millis, HostPosition)>,
    /// Hosts that leave, by the numbers of their bundles.
    leaving: BTreeMap<u64, HostPosition>,
    /// Those whose bundles wait for a slot or are on their way.
    returning: SlotQueue<HostPosition>,
    /// The next host of the check; none if all are checked.
    cursor: Option<HostPosition>,
    /// Hosts to be checked in addition.
    unchecked: BTreeSet<HostPosition>,
    /// Members that were skipped when the last check ended.
    last_skipped: BTreeSet<AgentId>,
    next_number: u64,
}

impl State {
    /// Receiver and number of the bundle with which the host leaves.
    fn leaving(&self) -> Option<(AgentId, u64)> {
        match self {
            Self::Leaving { to, number } => Some((*to, *number)),
            Self::Standby | Self::New | Self::Asking { .. } | Self::Held => None,
        }
    }
}

impl KnownHost {
    pub(super) fn is_leaving(&self, to: AgentId, number: u64) -> bool {
        self.state == State::Leaving { to, number }
    }

    /// The host as a URL that asks for it to be fetched.
    pub(super) fn as_url(&self) -> RoutedUrl {
        RoutedUrl::first(self.front.clone(), self.host, UrlPurpose::Fetch)
    }
}

impl Hosts {
    pub(crate) fn new(incarnation: u64) -> Self {
        Self {
            known: BTreeMap::new(),
            due: BTreeSet::new(),
            leaving: BTreeMap::new(),
            returning: SlotQueue::default(),
            cursor: None,
            unchecked: BTreeSet::new(),
            last_skipped: BTreeSet::new(),
            // Never 0, which is a copy.
            next_number: (incarnation << COUNTED_BITS) + 1,
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn get(&self, position: HostPosition) -> Option<&KnownHost> {
        self.known.get(&position)
    }

    pub(super) fn get_mut(&mut self, position: HostPosition) -> Option<&mut KnownHost> {
        self.known.get_mut(&position)
    }

    pub(crate) fn state(&self, position: HostPosition) -> Option<&State> {
        Some(&self.get(position)?.state)
    }

    /// Adds a host that is not known.
    pub(super) fn insert(&mut self, url: &RoutedUrl, state: State) {
        let known =
            KnownHost { host: url.host, front: url.url.clone(), state, due: None, times_sent: 0 };
        self.known.entry(url.host.position).or_insert(known);
    }

    /// A notice arrived: the host exists.
    pub(crate) fn notice(&mut self, url: &RoutedUrl) {
        self.insert(url, State::Standby);
    }

    /// The agent wants to fetch from a host whose bundle was not asked for yet.
    pub(crate) fn want(&mut self, position: HostPosition) {
        if self.get(position).is_some_and(|known| known.state == State::New) {
            self.set(position, State::New, Some(Millis(0)));
        }
    }

    pub(super) fn set(&mut self, position: HostPosition, state: State, due: Option<Millis>) {
        let Some(known) = self.known.get_mut(&position) else { return };
        let former = std::mem::replace(&mut known.state, state).leaving();
        let leaving = known.state.leaving();
        if former != leaving {
            known.times_sent = 0;
            if let Some((to, number)) = former {
                self.stays(to, number);
            }
            if let Some((to, number)) = leaving {
                self.leaving.insert(number, position);
                self.returning.add(to, number, position);
            }
        }
        self.set_due(position, due);
    }

    /// The host whose bundle has this number does not leave any more.
    fn stays(&mut self, to: AgentId, number: u64) {
        self.leaving.remove(&number);
        self.returning.end(to, number);
    }

    fn set_due(&mut self, position: HostPosition, due: Option<Millis>) {
        let Some(known) = self.known.get_mut(&position) else { return };
        if let Some(former) = std::mem::replace(&mut known.due, due) {
            self.due.remove(&(former, position));
        }
        self.due.extend(due.map(|due| (due, position)));
    }

    /// Hosts for which something is to be done now.
    pub(super) fn due(&self, now: Millis) -> Vec<HostPosition> {
        self.due.iter().take_while(|(due, _)| *due <= now).map(|(_, position)| *position).collect()
    }

    /// Hosts that wait to leave and whose bundles have a slot from now on.
    pub(super) fn begin_returns(&mut self) -> Vec<HostPosition> {
        self.returning.begin().into_iter().map(|(_, position)| position).collect()
    }

    /// The bundle with which a host leaves was packed.
    pub(super) fn weigh(&mut self, to: AgentId, number: u64, bytes: usize) {
        self.returning.weigh(to, number, bytes);
    }

    /// Counts that the bundle is sent with which a host leaves; returns how often it was.
    pub(super) fn count_sent(&mut self, position: HostPosition) -> u32 {
        let Some(known) = self.known.get_mut(&position) else { return 0 };
        known.times_sent = known.times_sent.saturating_add(1);
        known.times_sent
    }

    pub(crate) fn next_wakeup(&self) -> Option<Millis> {
        let may_return = self.returning.may_begin();
        // A check that is not finished goes on at once.
        if !self.is_checked() || may_return {
            return Some(Millis(0));
        }
        self.due.first().map(|(due, _)| *due)
    }

    pub(super) fn next_number(&mut self) -> u64 {
        self.next_number += 1;
        self.next_number
    }

    /// Whether a host is on its way to its owner.
    pub(super) fn has_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Starts the check of all hosts again.
    pub(crate) fn check_all(&mut self) {
        self.cursor = Some(HostPosition(0));
        self.unchecked.clear();
    }

    /// Checks one host, and lets a check of all that is going on continue where it is: new hosts
    /// may come faster than it ends.
    pub(super) fn check(&mut self, position: HostPosition) {
        if self.cursor.is_none_or(|cursor| position < cursor) {
            self.unchecked.insert(position);
        }
    }

    /// The next hosts to be checked.
    pub(super) fn step(&mut self, count: usize) -> Vec<HostPosition> {
        let unchecked = std::iter::from_fn(|| self.unchecked.pop_first());
        let mut positions: Vec<HostPosition> = unchecked.take(count).collect();
        if let Some(from) = self.cursor {
            let rest = count - positions.len();
            let others = self.known.range(from..).take(rest + 1).map(|(position, _)| *position);
            positions.extend(others);
            self.cursor = if positions.len() > count { positions.pop() } else { None };
        }
        positions
    }

    pub(super) fn is_checked(&self) -> bool {
        self.cursor.is_none() && self.unchecked.is_empty()
    }

    /// The check has ended with these members skipped.
    pub(crate) fn checked_with(&mut self, skipped: &BTreeSet<AgentId>) {
        if self.last_skipped != *skipped {
            self.last_skipped.clone_from(skipped);
        }
    }

    pub(super) fn last_skipped(&self) -> &BTreeSet<AgentId> {
        &self.last_skipped
    }

    /// A bundle arrived, or a copy of one that its sender keeps.
    pub(super) fn received(&mut self, bundle: &Bundle, from: AgentId) {
        let is_copy = bundle.is_copy;
        let position = bundle.host.position;
        match self.get(position).map(|known| known.state.clone()) {
            None => {
                let state = if is_copy { State::Standby } else { State::Held };
                let front = bundle.front.clone();
                let host = bundle.host;
                let known = KnownHost { host, front, state, due: None, times_sent: 0 };
                self.known.insert(position, known);
            }
            Some(State::Asking { .. }) => self.answered(position, from),
            Some(_) if is_copy => {}
            // The former owner's bundle is the one that recovery looks for.
            Some(_) => self.set(position, State::Held, None),
        }
    }

    /// Forgets a host.
    pub(super) fn remove(&mut self, position: HostPosition) {
        self.set(position, State::Standby, None);
        self.known.remove(&position);
    }

    /// An agent that was asked for a bundle has answered.
    pub(super) fn answered(&mut self, position: HostPosition, from: AgentId) {
        let Some(known) = self.known.get_mut(&position) else { return };
        let State::Asking { waiting } = &mut known.state else { return };
        waiting.remove(&from);
        if waiting.is_empty() {
            self.set(position, State::Held, None);
        }
    }

    /// A URL of the host whose bundle with this number was stored; from now on the host is the
    /// other agent's.
    pub(super) fn taken(&mut self, from: AgentId, number: u64) -> Option<RoutedUrl> {
        let position = *self.leaving.get(&number)?;
        if !self.get(position)?.is_leaving(from, number) {
            return None;
        }
        self.set(position, State::Standby, None);
        self.get(position).map(KnownHost::as_url)
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    fn host(number: u64) -> RoutedUrl {
        let url = CrawlUrl::parse(&format!("http://host-{number}.example/")).unwrap();
        let address = IpAddr::from([10, 0, 0, 1]);
        let host = HostAtAddress { position: HostPosition(number), address };
        RoutedUrl::first(url, host, UrlPurpose::Fetch)
    }

    fn leaves(hosts: &mut Hosts, host: u64, to: AgentId, number: u64) {
        hosts.set(HostPosition(host), State::Leaving { to, number }, None);
    }

    #[test]
    fn few_bundles_are_on_their_way_to_owners() {
        let to = AgentId::new(2);
        let mut hosts = Hosts::new(1);
        hosts.check_all();
        hosts.step(1);
        assert_eq!(hosts.next_wakeup(), None);
        for number in 1..=1_000 {
            hosts.insert(&host(number), State::Held);
            leaves(&mut hosts, number, to, number);
        }
        assert_eq!(hosts.next_wakeup(), Some(Millis(0)));
        let begun = hosts.begin_returns();
        let count = begun.len() as u64;
        assert!((10..500).contains(&count), "{count}");
        assert_eq!(begun, (1..=count).map(HostPosition).collect::<Vec<_>>(), "in their order");
        // Those that wait need no attention until a slot is free.
        assert_eq!(hosts.next_wakeup(), None);
        assert!(hosts.begin_returns().is_empty());
        // Sent again, it is the same bundle.
        hosts.set(HostPosition(1), State::Leaving { to, number: 1 }, Some(Millis(5)));
        assert!(hosts.begin_returns().is_empty());
        assert!(hosts.taken(to, 1).is_some());
        assert_eq!(hosts.begin_returns(), [HostPosition(count + 1)]);
        // One that goes to another agent instead is not on its way any more.
        leaves(&mut hosts, 2, AgentId::new(3), 1_001);
        assert_eq!(hosts.begin_returns(), [HostPosition(count + 2), HostPosition(2)]);
        // One that stays while it waits gets no slot.
        hosts.set(HostPosition(count + 3), State::Held, None);
        assert!(hosts.taken(to, 3).is_some());
        assert_eq!(hosts.begin_returns(), [HostPosition(count + 4)]);
        assert!(hosts.has_leaving());
    }
}
