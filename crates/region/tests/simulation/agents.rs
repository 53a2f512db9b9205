//! What happens at the agents: messages, fetches, effects, crashes.

use std::collections::BTreeSet;

use model::AgentId;
use region::lease::Promises;
use region::member::{Identity, Link, LinkOutcome, SavedMember};
use region::message::{RoutedUrl, UrlPurpose};
use region::{Denial, Effect, Member, Millis, Peer, Permit};

use crate::engine::Engine;
use crate::node::Fetch;
use crate::region_of::SETTINGS;
use crate::world::{Event, Packet, World};

/// Interval at which an engine looks for work.
const WORK_MS: u64 = 700;

impl World {
    /// Starts the process of an agent, from its disk if there is one.
    pub(crate) fn start(&mut self, at: usize) {
        let now = self.local(at);
        let coordinator = self.registrar.public();
        let view = self.registrar.view.signed().clone();
        let node = &mut self.nodes[at];
        if node.member.is_some() {
            return;
        }
        let first = node.incarnation == 0;
        node.incarnation += 1;
        let identity = Identity { agent: node.agent, coordinator, incarnation: node.incarnation };
        if std::mem::take(&mut node.loses_disk) {
            node.engine = Engine::default();
            node.disk = Some(SavedMember::joining(view.clone(), None));
        }
        let joining = || SavedMember::joining(view, Some(Promises::default()));
        let saved = node.disk.take().unwrap_or_else(joining);
        let mut member = Member::start(identity, SETTINGS, saved.clone(), now).unwrap();
        let mut effects = Vec::new();
        for host in node.engine.hosts.keys() {
            let of = &self.web.hosts[*host];
            member.restore_host(&RoutedUrl::first(
                of.urls[0].clone(),
                of.placed,
                UrlPurpose::Fetch,
            ));
        }
        for url in node.engine.waiting.clone() {
            member.resume(url, now, &mut effects);
        }
        let view = member.view().signed().clone();
        node.disk = Some(SavedMember { view, loan_until: member.loan_until(), ..saved });
        node.member = Some(member);
        node.running.clear();
        // The agent does not know when its former process ended a request.
        let rested = now.plus(SETTINGS.drift.at_least(SETTINGS.gap_ms));
        node.next_at = (0..self.web.hosts.len()).map(|host| (host, rested)).collect();
        let incarnation = node.incarnation;
        if first && at == 0 {
            // The region begins with one URL.
            let host = &self.web.hosts[0];
            let member = self.nodes[0].member.as_mut().unwrap();
            let link = Link { url: host.urls[0].clone(), depth: 0, redirects: 0 };
            member.offer(link, host.placed.address, now, &mut effects);
        }
        self.apply(at, effects);
        self.after(0, Event::AskLoan { node: at });
        self.after(WORK_MS, Event::Work { node: at, incarnation });
        self.wake(at);
    }

    pub(crate) fn at_node(&mut self, at: usize, from: Peer, packet: Packet) {
        let now = self.local(at);
        let node = &mut self.nodes[at];
        let Some(member) = &mut node.member else { return };
        match packet {
            Packet::Region(message) => {
                let effects = member.handle(from, message, now);
                self.apply(at, effects);
                self.wake(at);
            }
            Packet::Loan { term_ms, asked } => {
                member.lent(term_ms, asked);
                let until = member.loan_until();
                if let Some(disk) = &mut node.disk {
                    disk.loan_until = until;
                }
            }
            Packet::LoanRequest(_) => {}
        }
    }

    /// A step of the member's own.
    pub(crate) fn tick(&mut self, at: usize) {
        let now = self.local(at);
        self.nodes[at].wake_at = u64::MAX;
        let Some(member) = &mut self.nodes[at].member else { return };
        let before = member.skipped().clone();
        let effects = member.tick(now);
        self.check_contravariance(at, &before);
        self.apply(at, effects);
        self.wake(at);
    }

    pub(crate) fn apply(&mut self, at: usize, effects: Vec<Effect>) {
        for effect in effects {
            if let Some(left) = &mut self.nodes[at].crash_in {
                if *left == 0 {
                    self.crash(at);
                    return;
                }
                *left -= 1;
            }
            self.execute(at, effect);
        }
    }

    fn execute(&mut self, at: usize, effect: Effect) {
        let node = &mut self.nodes[at];
        let from = Peer::Agent(node.agent);
        match effect {
            Effect::Send(to, message) => self.send(from, to, &Packet::Region(message)),
            Effect::SavePromises(promises) => {
                node.disk.as_mut().unwrap().promises = Some(promises);
            }
            Effect::SaveView(view) => node.disk.as_mut().unwrap().view = view,
            Effect::SaveCopied(copied) => node.disk.as_mut().unwrap().copied = Some(copied),
            Effect::Keep(url) => node.engine.waiting.push(url),
            Effect::Forget(urls) => node.engine.forget(&urls),
            Effect::Accept(url) | Effect::Note(url) => node.engine.note(&url),
            Effect::Store(bundle) => node.engine.store(&bundle),
            Effect::Drop(url) => {
                let dropped = |number: &usize| self.web.hosts[*number].placed == url.host;
                let number = node.engine.hosts.keys().copied().find(dropped);
                number.and_then(|number| node.engine.hosts.remove(&number));
            }
            Effect::HandBack(url) | Effect::LeaveRegion(url) => {
                self.found.push(format!("host {:?} left the region", url.host.position));
            }
            Effect::Foreign(url) => self.found.push(format!("{} left the region", url.url)),
            Effect::Pack(packing) => {
                let hosts = self.web.hosts.iter();
                let host = hosts.map(|host| host.placed).position(|host| host == packing.host);
                let host = host.unwrap();
                // Not before the running fetch has ended.
                if !packing.is_copy && node.running.contains_key(&host) {
                    return;
                }
                let bytes = node.engine.pack(host);
                let mut effects = Vec::new();
                node.member.as_mut().unwrap().packed(packing, bytes, &mut effects);
                for effect in effects {
                    self.execute(at, effect);
                }
            }
        }
    }

    pub(crate) fn crash(&mut self, at: usize) {
        let now = self.now;
        let node = &mut self.nodes[at];
        node.member = None;
        node.crash_in = None;
        node.holds.clear();
        // Connections end with the process.
        for fetch in std::mem::take(&mut node.running).into_values() {
            self.referee.end(node.agent, fetch.page, false, now);
        }
        if let Some(down_ms) = node.down_ms {
            self.after(down_ms, Event::Start { node: at });
        }
        self.note((at, "crash"));
    }

    /// Starts fetches that are permitted.
    pub(crate) fn work(&mut self, at: usize, incarnation: u64) {
        let now = self.local(at);
        let node = &mut self.nodes[at];
        if node.incarnation != incarnation || node.member.is_none() {
            return;
        }
        self.after(WORK_MS, Event::Work { node: at, incarnation });
        let node = &mut self.nodes[at];
        let hosts: Vec<usize> = node.engine.hosts.keys().copied().collect();
        for host in hosts {
            let node = &mut self.nodes[at];
            let page = node.engine.hosts[&host].queue.first().copied();
            let rests = node.next_at.get(&host).is_some_and(|next| *next > now);
            let Some(page) = page else { continue };
            if rests || node.running.contains_key(&host) {
                continue;
            }
            let placed = self.web.hosts[host].placed;
            let member = node.member.as_mut().unwrap();
            if matches!(member.permit(placed, now), Permit::Until(_)) {
                self.begin_fetch(at, (host, page));
            }
        }
        self.wake(at);
    }

    fn begin_fetch(&mut self, at: usize, page: (usize, usize)) {
        self.fetches += 1;
        let number = self.fetches;
        // The agent ends a fetch after its own limit at the latest.
        let last = SETTINGS.drift.at_most(SETTINGS.fetch_ms) - 1;
        let ms = if self.dice.per_mille(100) { last } else { self.dice.between(50, last) };
        let node = &mut self.nodes[at];
        node.running.insert(page.0, Fetch { page, number });
        let incarnation = node.incarnation;
        let agent = node.agent;
        let gap = if self.mode == region::roster::Mode::Safe { SETTINGS.gap_ms } else { 0 };
        self.referee.start(agent, page, gap, self.now);
        self.note((at, page));
        self.after(ms, Event::FetchEnd { node: at, incarnation, host: page.0, number });
    }

    pub(crate) fn end_fetch(&mut self, at: usize, incarnation: u64, host: usize, number: u64) {
        let now = self.local(at);
        let node = &mut self.nodes[at];
        let is_running = node.running.get(&host).is_some_and(|fetch| fetch.number == number);
        if node.incarnation != incarnation || !is_running {
            return;
        }
        let Some(fetch) = node.running.remove(&host) else { return };
        let page = fetch.page;
        node.next_at.insert(host, now.plus(SETTINGS.drift.at_least(SETTINGS.gap_ms)));
        self.referee.end(node.agent, page, true, self.now);
        node.engine.fetched(page);
        let Some(member) = &mut node.member else { return };
        let mut effects = Vec::new();
        for link in self.web.links(page) {
            let to = &self.web.hosts[link.0];
            let link = Link { url: to.urls[link.1].clone(), depth: 1, redirects: 0 };
            let outcome = member.offer(link, to.placed.address, now, &mut effects);
            assert_ne!(outcome, LinkOutcome::Foreign);
            assert_ne!(outcome, LinkOutcome::Full);
        }
        let of = &self.web.hosts[host];
        member.fetched(of.urls[page.1].clone(), of.placed.address, now);
        self.apply(at, effects);
        self.wake(at);
    }

    pub(crate) fn ask_loan(&mut self, at: usize) {
        if self.nodes[at].member.is_some() {
            let asked = self.local(at);
            let from = Peer::Agent(self.nodes[at].agent);
            self.send(from, Peer::Coordinator, &Packet::LoanRequest(asked));
            self.after(30_000, Event::AskLoan { node: at });
        }
    }

    /// Agents that may fetch from a host as far as leases are concerned.
    pub(crate) fn holders(&mut self, host: usize) -> Vec<usize> {
        (0..self.nodes.len()).filter(|node| self.holds(*node, host)).collect()
    }

    /// Whether an agent may fetch from a host as far as leases are concerned.
    pub(crate) fn holds(&mut self, node: usize, host: usize) -> bool {
        let now = self.local(node);
        let placed = self.web.hosts[host].placed;
        let Some(member) = &mut self.nodes[node].member else { return false };
        matches!(
            member.permit(placed, now),
            Permit::Until(_) | Permit::Denied(Denial::Unknown | Denial::Recovering)
        )
    }

    pub(crate) fn local(&self, at: usize) -> Millis {
        self.nodes[at].clock.local(self.now)
    }

    /// Queues the next wake-up of a member, if it is earlier than the one that is queued.
    fn wake(&mut self, at: usize) {
        let node = &mut self.nodes[at];
        let Some(member) = &node.member else { return };
        let due = node.clock.true_time(member.next_wakeup()).max(self.now + 20);
        if due < node.wake_at {
            node.wake_at = due;
            self.after(due - self.now, Event::Wake { node: at });
        }
    }

    /// Whether a change of skipped agents moved hosts only to agents that are new or from agents
    /// that are gone.
    fn check_contravariance(&mut self, at: usize, before: &BTreeSet<AgentId>) {
        let Some(member) = &self.nodes[at].member else { return };
        let after = member.skipped();
        if before == after {
            return;
        }
        for host in &self.web.hosts {
            let owner = |skipped: &BTreeSet<AgentId>| {
                member.view().owner(host.placed, |agent| !skipped.contains(agent))
            };
            let (Some(old), Some(new)) = (owner(before), owner(after)) else { continue };
            let moved_rightly = old == new || after.contains(&old) || before.contains(&new);
            if !moved_rightly {
                self.found.push(format!("{}: host moved from {old} to {new}", self.now));
            }
        }
    }
}
