//! Hosts of a member: takeover, return and page recovery.
//!
//! - *Takeover*: the next-nearest *t* agents of a host get a notice of each URL that becomes known
//!   and of each that is fetched, so that they can go on when the owner dies.
//! - *Return*: an agent that holds a host which another agent owns sends the host's bundle there.
//!   When the bundle is stored it keeps the host for a later takeover, or deletes it.
//! - *Page recovery* (UbiCrawler section 5.1.1): an agent to which a host came asks the
//!   next-nearest *t* agents for its bundle before it fetches. The paper asks for each page; a
//!   bundle answers for all pages of the host.
//!
//! After a change of owners all hosts are checked, a number at a time.

mod copies;
mod known;
mod slot_queue;
mod slots;

use std::collections::{BTreeMap, BTreeSet};

use model::AgentId;

pub(super) use copies::Copies;
pub(super) use known::{Hosts, State};

use crate::delegations::Delegate;
use crate::effect::{BundleToPack, CopiedView, Effect};
use crate::exchange::Room;
use crate::member::Member;
use crate::member::hosts::copies::BundleCopy;
use crate::member::hosts::known::KnownHost;
use crate::message::{BUNDLE_BYTES, Bundle, Message, REQUEST_HOSTS, RoutedUrl, UrlPurpose};
use crate::ownership::{HostAtAddress, HostPosition, View};
use crate::peer::Peer;
use crate::time::Millis;

impl Member {
    /// A bundle is ready. `bytes` must contain every URL of the host that was accepted before.
    pub fn packed(&mut self, packing: BundleToPack, bytes: Vec<u8>, effects: &mut Vec<Effect>) {
        let Some(known) = self.hosts.get(packing.host.position) else { return };
        let BundleToPack { host, to, number, is_copy } = packing;
        // The owner may have changed while the engine packed.
        if !is_copy && !known.is_leaving(to, number) {
            return;
        }
        self.counts.bundles_sent += 1;
        let bundle = Bundle { number, is_copy, host, front: known.front.clone(), bytes };
        if is_copy {
            self.copies.weigh(to, number, bundle.bytes.len());
        } else {
            self.hosts.weigh(to, number, bundle.bytes.len());
        }
        effects.push(Effect::Send(Peer::Agent(to), Message::Bundle(bundle)));
    }

    /// A host that the agent's frontier had before a restart.
    pub fn restore_host(&mut self, url: &RoutedUrl) {
        self.hosts.insert(url, State::New);
        self.hosts.check(url.host.position);
    }

    /// Number of known hosts, including those of other agents of which this one got notices.
    pub fn known_hosts(&self) -> usize {
        self.hosts.len()
    }

    /// Whether hosts may still have to be returned to their owners: bundles were not acknowledged,
    /// or the check of all hosts has not ended. A former member returns nothing, because no member
    /// takes its bundles.
    pub fn has_hosts_to_return(&self) -> bool {
        let is_sleep_noticed = self.sleep.is_some() == self.skipped.contains(&self.me);
        let is_member = self.views().iter().any(|view| view.has(self.me));
        is_member && (!is_sleep_noticed || !self.hosts.is_checked() || self.hosts.has_leaving())
    }

    /// Takes a URL for this agent; returns false if it was queued instead, because the bundle of
    /// its host has left.
    pub(super) fn accept(
        &mut self,
        url: RoutedUrl,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let host = url.host;
        match self.hosts.get_mut(host.position) {
            // URLs that come after the bundle was packed are sent separately. They may arrive
            // earlier.
            Some(KnownHost { state: State::Leaving { to, .. }, .. }) => {
                let to = *to;
                effects.push(Effect::Keep(url.clone()));
                self.exchange.queue(to, url, now);
                return false;
            }
            Some(known) if known.state == State::Standby => known.state = State::New,
            Some(_) => {}
            None => self.hosts.insert(&url, State::New),
        }
        let notice = RoutedUrl { purpose: UrlPurpose::Known, ..url.clone() };
        if self.exchange.mark_recent(&notice) {
            self.send_notices(&notice, now);
        }
        effects.push(Effect::Accept(url));
        true
    }

    /// Continues the check of all hosts, and what waits for an answer.
    pub(super) fn check_hosts(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        for position in self.hosts.step(self.settings.hosts_a_step) {
            self.check_host(position, now, effects);
        }
        let mut requests: BTreeMap<AgentId, Vec<HostAtAddress>> = BTreeMap::new();
        let mut due = self.hosts.due(now);
        due.extend(self.hosts.begin_returns());
        for position in due {
            self.attend(position, now, &mut requests, effects);
        }
        self.send_copies(now, effects);
        for (to, hosts) in requests {
            for part in hosts.chunks(REQUEST_HOSTS) {
                let message = Message::BundleRequest(part.to_vec());
                effects.push(Effect::Send(Peer::Agent(to), message));
            }
        }
        if self.hosts.is_checked() {
            self.hosts.checked_with(&self.skipped);
            self.checked = None;
            self.copied_before = None;
            self.save_copied(effects);
        }
    }

    /// Stores that every next-nearest agent has its copies, for the present view and skipped
    /// members.
    fn save_copied(&mut self, effects: &mut Vec<Effect>) {
        let is_saved = self.copied.as_ref().is_some_and(|(version, skipped)| {
            *version == self.current.version() && *skipped == self.skipped
        });
        if is_saved || !self.copies.is_empty() {
            return;
        }
        self.copied = Some((self.current.version(), self.skipped.clone()));
        let view = self.current.signed().clone();
        effects.push(Effect::SaveCopied(CopiedView { view, skipped: self.skipped.clone() }));
    }

    /// Compares one host with its owner after a change.
    fn check_host(&mut self, position: HostPosition, now: Millis, effects: &mut Vec<Effect>) {
        let Some(known) = self.hosts.get(position).cloned() else { return };
        let owner = self.destination(known.host);
        let is_mine = owner == Some(self.me);
        match (&known.state, owner) {
            (State::Standby, _) if is_mine => {
                self.accept(known.as_url(), now, effects);
            }
            (State::Leaving { .. }, _) if is_mine => {
                // The other agent may have the bundle already, so it is asked for it.
                self.hosts.set(position, State::New, None);
            }
            (State::Leaving { to, .. }, Some(owner)) if *to != owner => {
                self.begin_return(position, owner);
            }
            (State::New | State::Asking { .. } | State::Held, Some(owner)) if !is_mine => {
                self.begin_return(position, owner);
            }
            (State::New | State::Asking { .. } | State::Held, _) if is_mine => {
                self.renew_copies(&known, now);
            }
            (_, None) if self.current.has(self.me) => {
                // An agent keeps what the coordinator delegates to it: it gets an order when that
                // ends. The next agent of another host does not know of this one.
                let is_own = self.was_delegate(known.host);
                let end = if is_own { Effect::LeaveRegion } else { Effect::HandBack };
                self.hosts.remove(position);
                effects.push(end(known.as_url()));
            }
            _ => {}
        }
    }

    /// Whether the host's subnet was delegated to this agent itself before the change.
    fn was_delegate(&self, host: HostAtAddress) -> bool {
        let view = self.checked.as_ref().unwrap_or(&self.current);
        view.delegations().lookup(host.address) == Some(Delegate::Agent(self.me))
    }

    /// Copies the bundle to agents that became next-nearest since the last check.
    fn renew_copies(&mut self, known: &KnownHost, now: Millis) {
        let former = self.copied_before.as_ref().or(self.checked.as_ref());
        let view = former.unwrap_or(&self.current);
        let before = nearest(view, known.host, self.me, self.hosts.last_skipped());
        for to in self.next_nearest(known.host, self.me, &self.skipped) {
            if !before.contains(&to) {
                let notice = RoutedUrl { purpose: UrlPurpose::Known, ..known.as_url() };
                self.send_notice(to, notice, now);
                let number = self.hosts.next_number();
                self.copies.add(BundleCopy { host: known.host, to, number });
            }
        }
    }

    /// Sends copies that are due, and again those that were not acknowledged.
    fn send_copies(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        for copy in self.copies.due(&self.settings, now) {
            let BundleCopy { host, to, number } = copy;
            let is_mine = self.destination(host) == Some(self.me);
            if is_mine && self.next_nearest(host, self.me, &self.skipped).contains(&to) {
                effects.push(Effect::Pack(BundleToPack { host, to, number, is_copy: true }));
            } else {
                self.copies.give_up(copy);
            }
        }
    }

    /// Sends a notice to the agents that would take the host over.
    pub(super) fn send_notices(&mut self, notice: &RoutedUrl, now: Millis) {
        for to in self.next_nearest(notice.host, self.me, &self.skipped) {
            self.send_notice(to, notice.clone(), now);
        }
    }

    fn send_notice(&mut self, to: AgentId, notice: RoutedUrl, now: Millis) {
        // An agent that takes too few notices asks for the bundle when it takes the host over.
        if self.exchange.room(to, now) != Room::Stuck {
            self.counts.notices_sent += 1;
            self.exchange.queue(to, notice, now);
        }
    }

    /// Lets a host leave as soon as its bundle has a slot.
    fn begin_return(&mut self, position: HostPosition, to: AgentId) {
        let number = self.hosts.next_number();
        self.hosts.set(position, State::Leaving { to, number }, None);
    }

    /// Does what is due for one host: asks for its bundle, or returns it.
    fn attend(
        &mut self,
        position: HostPosition,
        now: Millis,
        requests: &mut BTreeMap<AgentId, Vec<HostAtAddress>>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(known) = self.hosts.get(position) else { return };
        let host = known.host;
        match known.state.clone() {
            State::New => {
                let asked: BTreeSet<AgentId> =
                    self.next_nearest(host, self.me, &self.skipped).into_iter().collect();
                if asked.is_empty() {
                    self.hosts.set(position, State::Held, None);
                    return;
                }
                for agent in &asked {
                    requests.entry(*agent).or_default().push(host);
                }
                let until = now.plus(self.settings.recovery_ms);
                self.hosts.set(position, State::Asking { waiting: asked }, Some(until));
            }
            // The agents that did not answer are dead or unreachable; the host does not wait for
            // them.
            State::Asking { .. } => self.hosts.set(position, State::Held, None),
            State::Leaving { to, number } => {
                let times_sent = self.hosts.count_sent(position);
                let again = now.plus(self.settings.bundle_resend_ms(times_sent));
                self.hosts.set(position, State::Leaving { to, number }, Some(again));
                effects.push(Effect::Pack(BundleToPack { host, to, number, is_copy: false }));
            }
            State::Standby | State::Held => {}
        }
    }

    pub(super) fn bundle_requested(
        &mut self,
        from: AgentId,
        hosts: Vec<HostAtAddress>,
        effects: &mut Vec<Effect>,
    ) {
        if hosts.len() > REQUEST_HOSTS {
            self.counts.refused += 1;
            return;
        }
        let mut missing = Vec::new();
        // Each once: a bundle may be large.
        let hosts: BTreeMap<HostPosition, HostAtAddress> =
            hosts.into_iter().map(|host| (host.position, host)).collect();
        for (position, host) in hosts {
            match self.hosts.get(position).map(|known| known.state.clone()) {
                None => missing.push(host),
                // The bundle is on its way or is sent now; its acknowledgement deletes the host.
                Some(State::Leaving { to, .. }) if to == from => {}
                Some(state) if state != State::Standby && self.destination(host) == Some(from) => {
                    self.begin_return(position, from);
                }
                // The sender asks again if this copy is lost.
                Some(_) => {
                    let copy = BundleToPack { host, to: from, number: 0, is_copy: true };
                    effects.push(Effect::Pack(copy));
                }
            }
        }
        if !missing.is_empty() {
            let message = Message::NoBundle(missing);
            effects.push(Effect::Send(Peer::Agent(from), message));
        }
    }

    pub(super) fn receive_bundle(
        &mut self,
        from: AgentId,
        bundle: Bundle,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) {
        let position = bundle.host.position;
        if HostPosition::of(bundle.front.host_key_str()) != position
            || !self.current.contains(bundle.host.address)
            || bundle.bytes.len() > BUNDLE_BYTES
        {
            self.counts.refused += 1;
            return;
        }
        let number = bundle.number;
        let is_known = self.hosts.state(position).is_some();
        if !is_known && !self.bundled_hosts.admit(now) {
            // Not acknowledged: the sender keeps it and tries again.
            self.counts.refused += 1;
            return;
        }
        self.hosts.received(&bundle, from);
        // The host may be another agent's by now; the check sends it on.
        self.check_host(position, now, effects);
        effects.push(Effect::Store(bundle));
        if number != 0 {
            effects.push(Effect::Send(Peer::Agent(from), Message::BundleTaken(number)));
        }
    }

    pub(super) fn bundle_taken(&mut self, from: AgentId, number: u64, effects: &mut Vec<Effect>) {
        if self.copies.taken(from, number) {
            return;
        }
        let Some(url) = self.hosts.taken(from, number) else { return };
        // An agent that would take the host over keeps what it knows.
        if !self.next_nearest(url.host, from, &self.skipped).contains(&self.me) {
            self.hosts.remove(url.host.position);
            effects.push(Effect::Drop(url));
        }
    }

    pub(super) fn no_bundle(&mut self, from: AgentId, hosts: &[HostAtAddress]) {
        for host in hosts {
            self.hosts.answered(host.position, from);
        }
    }

    /// The agents that would take the host over from `owner`.
    fn next_nearest(
        &self,
        host: HostAtAddress,
        owner: AgentId,
        skipped: &BTreeSet<AgentId>,
    ) -> Vec<AgentId> {
        nearest(&self.current, host, owner, skipped)
    }
}

/// The first *t* agents other than `owner` that are not in `skipped`, in the host's order.
fn nearest(
    view: &View,
    host: HostAtAddress,
    owner: AgentId,
    skipped: &BTreeSet<AgentId>,
) -> Vec<AgentId> {
    let count = usize::from(view.roster().recovery);
    let order = view.order(host).filter(|agent| !skipped.contains(agent));
    order.filter(|agent| *agent != owner).take(count).collect()
}
