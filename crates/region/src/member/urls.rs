//! Where a URL goes.
//!
//! A URL goes to the first agent of its host's order that is not skipped. An agent that receives a
//! URL although an earlier agent is alive in its view passes it on to that one, so that under one
//! version a URL only moves towards the front of the order. Versions may differ for a moment; after
//! [`MAX_HOPS`] the receiver keeps the URL, and hands it over with the host's bundle.

use std::net::IpAddr;

use model::{AgentId, CrawlUrl};

use crate::effect::Effect;
use crate::exchange::Room;
use crate::member::Member;
use crate::message::{BATCH_URLS, Batch, Message, RoutedUrl, UrlPurpose};
use crate::ownership::{HostAtAddress, HostPosition};
use crate::peer::Peer;
use crate::time::Millis;

/// How often a URL is passed on before its receiver keeps it.
const MAX_HOPS: u8 = 4;

/// A link that an agent found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// Where it leads.
    pub url: CrawlUrl,
    /// Number of links from a URL of the coordinator to it.
    pub depth: u16,
    /// Number of redirects that led to it.
    pub redirects: u8,
}

/// What became of a link that an agent found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkOutcome {
    /// The host is this agent's.
    Own,
    /// The URL waits for the host's owner.
    Queued,
    /// The URL was queued not long ago.
    Repeated,
    /// The host is not the region's, or its owner takes no URLs: the URL travels to the coordinator
    /// with the results.
    Foreign,
    /// Too many URLs wait; offer it again later.
    Full,
}

impl Member {
    /// An agent found a link to the same or another host, which it resolved to `address`.
    pub fn offer(
        &mut self,
        link: Link,
        address: IpAddr,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) -> LinkOutcome {
        let Link { url, depth, redirects } = link;
        let host = HostAtAddress { position: HostPosition::of(url.host_key_str()), address };
        let Some(to) = self.destination(host) else { return LinkOutcome::Foreign };
        let url = RoutedUrl { url, host, hops: 0, purpose: UrlPurpose::Fetch, depth, redirects };
        if to == self.me {
            if !self.takes_on(host, UrlPurpose::Fetch, now) {
                return LinkOutcome::Foreign;
            }
            self.accept(url, now, effects);
            return LinkOutcome::Own;
        }
        match self.exchange.room(to, now) {
            Room::Free => {}
            Room::Full => return LinkOutcome::Full,
            Room::Stuck => return LinkOutcome::Foreign,
        }
        if !self.exchange.mark_recent(&url) {
            return LinkOutcome::Repeated;
        }
        self.counts.urls_sent += 1;
        effects.push(Effect::Keep(url.clone()));
        self.exchange.queue(to, url, now);
        LinkOutcome::Queued
    }

    /// Whether the host is known or may become so. URLs of other hosts go to the coordinator, which
    /// has limits of its own.
    fn takes_on(&mut self, host: HostAtAddress, purpose: UrlPurpose, now: Millis) -> bool {
        let new_hosts = match purpose {
            UrlPurpose::Fetch => &mut self.linked_hosts,
            UrlPurpose::Known | UrlPurpose::Fetched => &mut self.noticed_hosts,
        };
        self.hosts.state(host.position).is_some() || new_hosts.admit(now)
    }

    /// The agent has fetched a URL of its own and offered all links of the page, those to the same
    /// host included. Agents that would take the host over are told, so that they do not fetch it
    /// again.
    pub fn fetched(&mut self, url: CrawlUrl, address: IpAddr, now: Millis) {
        let host = HostAtAddress { position: HostPosition::of(url.host_key_str()), address };
        let url = RoutedUrl::first(url, host, UrlPurpose::Fetched);
        self.send_notices(&url, now);
    }

    /// A URL that was stored as waiting before a restart.
    pub fn resume(&mut self, url: RoutedUrl, now: Millis, effects: &mut Vec<Effect>) {
        self.exchange.mark_recent(&url);
        self.dispatch(url, now, effects);
    }

    /// Number of URLs that wait for other agents.
    pub fn waiting_urls(&self) -> usize {
        self.exchange.len()
    }

    /// The first agent of the host's order that is not skipped, or this one if all are skipped;
    /// none if the host is not the region's.
    pub fn destination(&self, host: HostAtAddress) -> Option<AgentId> {
        let owner = self.current.owner(host, |agent| !self.skipped.contains(agent));
        owner.or_else(|| self.current.contains(host.address).then_some(self.me))
    }

    pub(super) fn receive_urls(
        &mut self,
        from: AgentId,
        batch: Batch,
        now: Millis,
        effects: &mut Vec<Effect>,
    ) {
        if batch.urls.len() > BATCH_URLS {
            self.counts.refused += 1;
            return;
        }
        let waits = |to: AgentId| to != self.me && self.exchange.room(to, now) == Room::Full;
        if batch.urls.iter().any(|url| self.destination(url.host).is_some_and(waits)) {
            // Not acknowledged: the sender keeps the batch and tries again.
            self.counts.refused += 1;
            return;
        }
        for url in batch.urls {
            self.counts.urls_received += 1;
            self.receive_url(url, now, effects);
        }
        let taken = Message::UrlsTaken(batch.number);
        effects.push(Effect::Send(Peer::Agent(from), taken));
    }

    fn receive_url(&mut self, mut url: RoutedUrl, now: Millis, effects: &mut Vec<Effect>) {
        if HostPosition::of(url.url.host_key_str()) != url.host.position {
            self.counts.refused += 1;
            return;
        }
        let Some(to) = self.destination(url.host) else {
            self.counts.refused += 1;
            // The sender may know another view, in which the host is the region's, and forgets the
            // URL.
            if url.purpose == UrlPurpose::Fetch {
                effects.push(Effect::Foreign(url));
            }
            return;
        };
        match url.purpose {
            UrlPurpose::Known | UrlPurpose::Fetched => {
                if self.takes_on(url.host, url.purpose, now) {
                    self.hosts.notice(&url);
                    effects.push(Effect::Note(url));
                }
            }
            UrlPurpose::Fetch if to == self.me || url.hops >= MAX_HOPS => {
                if self.takes_on(url.host, url.purpose, now) {
                    self.accept(url, now, effects);
                } else {
                    effects.push(Effect::Foreign(url));
                }
            }
            // The sender must not wait for an agent that takes nothing.
            UrlPurpose::Fetch if self.exchange.room(to, now) == Room::Stuck => {
                effects.push(Effect::Foreign(url));
            }
            UrlPurpose::Fetch => {
                url.hops += 1;
                effects.push(Effect::Keep(url.clone()));
                self.exchange.queue(to, url, now);
            }
        }
    }

    /// Sends URLs that wait for an agent that is not their destination any more to the new one.
    pub(super) fn redirect(&mut self, now: Millis, effects: &mut Vec<Effect>) {
        let view = &self.current;
        let skipped = &self.skipped;
        let is_right = |to: AgentId, url: &RoutedUrl| match url.purpose {
            UrlPurpose::Fetch => view.owner(url.host, |agent| !skipped.contains(agent)) == Some(to),
            // A notice for a dead agent has no use; the hosts' check copies the bundle to the next
            // agent.
            UrlPurpose::Known | UrlPurpose::Fetched => view.has(to) && !skipped.contains(&to),
        };
        for url in self.exchange.take_back(is_right) {
            self.dispatch(url, now, effects);
        }
    }

    fn dispatch(&mut self, url: RoutedUrl, now: Millis, effects: &mut Vec<Effect>) {
        if url.purpose != UrlPurpose::Fetch {
            return;
        }
        match self.destination(url.host) {
            Some(to) if to == self.me => {
                // One that follows its host's bundle is kept until it was taken.
                if self.accept(url.clone(), now, effects) {
                    effects.push(Effect::Forget(vec![url]));
                }
            }
            Some(to) => self.exchange.queue(to, url, now),
            None => effects.push(Effect::Foreign(url)),
        }
    }
}
