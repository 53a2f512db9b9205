//! Exchange: URLs on their way to the owners of their hosts.
//!
//! URLs are collected into batches, one batch on its way to each agent at a time. A batch is sent
//! again until the receiver acknowledges it, and only then forgotten. What was sent not long ago is
//! not sent again. When owners change, everything that waits for the wrong agent is taken back.

use std::collections::{BTreeMap, VecDeque};

use model::{AgentId, Fingerprint, RecentSet};

use crate::message::{BATCH_URLS, Batch, COUNTED_BITS, RoutedUrl, UrlPurpose};
use crate::settings::Settings;
use crate::time::Millis;

/// An agent is stuck once a batch to it has not been acknowledged for this time, or the first URL
/// for it has waited for this time. Then URLs for which it has no room go elsewhere, because they
/// might wait for ever.
const STUCK_MS: u64 = 60_000;

/// Most URLs in the filter of repeated ones.
const RECENT: usize = 1 << 17;

/// URLs for one agent.
#[derive(Debug, Clone, Default)]
struct Queue {
    /// URLs that wait, each since the time beside it.
    waiting: VecDeque<(Millis, RoutedUrl)>,
    flight: Option<Flight>,
}

/// A batch that is not acknowledged.
#[derive(Debug, Clone)]
struct Flight {
    batch: Batch,
    first_sent: Millis,
    sent: Millis,
}

/// Whether further URLs may be queued for an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Room {
    /// They may be queued.
    Free,
    /// Not now: too many wait.
    Full,
    /// Too many wait, and the agent does not take them.
    Stuck,
}

/// All URLs that wait for other agents.
#[derive(Debug, Clone)]
pub struct Exchange {
    settings: Settings,
    queues: BTreeMap<AgentId, Queue>,
    next_batch: u64,
    /// What was queued recently.
    recent: RecentSet<(Fingerprint, UrlPurpose)>,
    len: usize,
}

impl Exchange {
    /// An empty exchange. Numbers of batches are not those of a former process, so that late
    /// acknowledgements are recognised.
    pub fn new(settings: Settings, incarnation: u64) -> Self {
        let next_batch = incarnation << COUNTED_BITS;
        let recent = RecentSet::new(RECENT);
        Self { settings, queues: BTreeMap::new(), next_batch, recent, len: 0 }
    }

    /// Number of URLs that wait or are on their way.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no URL waits.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether further URLs may be queued for an agent. An agent may have at most as many queued
    /// URLs as are free in total. So one agent that takes none uses half of the room, two use two
    /// thirds, and no number of them uses all of it. An agent without queued URLs always has room.
    pub fn room(&self, to: AgentId, now: Millis) -> Room {
        let Some(queue) = self.queues.get(&to) else { return Room::Free };
        let free = self.settings.waiting_urls.saturating_sub(self.len);
        if queue.is_empty() || queue.len() < free {
            return Room::Free;
        }
        let waits_since = queue.waiting_since();
        let flies_since = queue.flight.as_ref().map(|flight| flight.first_sent);
        let mut since = waits_since.into_iter().chain(flies_since);
        let is_stuck = since.any(|at| now.since(at) >= STUCK_MS);
        if is_stuck { Room::Stuck } else { Room::Full }
    }

    /// Marks the URL as queued recently; returns whether it was not before.
    pub fn mark_recent(&mut self, url: &RoutedUrl) -> bool {
        self.recent.insert((url.url.fingerprint(), url.purpose))
    }

    /// Queues a URL for an agent. Bounds are the caller's business ([`Exchange::room`]): what
    /// was accepted from others must not be dropped.
    pub fn queue(&mut self, to: AgentId, url: RoutedUrl, now: Millis) {
        self.queues.entry(to).or_default().waiting.push_back((now, url));
        self.len += 1;
    }

    pub fn due(&mut self, now: Millis) -> Vec<(AgentId, Batch)> {
        let mut due = Vec::new();
        for (to, queue) in &mut self.queues {
            if let Some(flight) = &mut queue.flight {
                if now.since(flight.sent) >= self.settings.resend_ms {
                    flight.sent = now;
                    due.push((*to, flight.batch.clone()));
                }
                continue;
            }
            let Some(since) = queue.waiting_since() else { continue };
            let lingered = now.since(since) >= self.settings.linger_ms;
            if !lingered && queue.waiting.len() < BATCH_URLS {
                continue;
            }
            let count = queue.waiting.len().min(BATCH_URLS);
            let urls = queue.waiting.drain(..count).map(|(_, url)| url).collect();
            let batch = Batch { number: self.next_batch, urls };
            self.next_batch += 1;
            queue.flight = Some(Flight { batch: batch.clone(), first_sent: now, sent: now });
            due.push((*to, batch));
        }
        due
    }

    /// The URLs of an acknowledged batch, each once.
    pub fn taken(&mut self, from: AgentId, number: u64) -> Vec<RoutedUrl> {
        let Some(queue) = self.queues.get_mut(&from) else { return Vec::new() };
        match queue.flight.take() {
            Some(flight) if flight.batch.number == number => {
                self.len -= flight.batch.urls.len();
                flight.batch.urls
            }
            other => {
                queue.flight = other;
                Vec::new()
            }
        }
    }

    /// Takes back all URLs that wait for an agent for which `is_right` is false. A batch on its way
    /// may arrive nevertheless. Then its URLs are taken twice, and the owner knows them already.
    pub fn take_back(&mut self, is_right: impl Fn(AgentId, &RoutedUrl) -> bool) -> Vec<RoutedUrl> {
        let mut taken = Vec::new();
        for (to, queue) in &mut self.queues {
            let flying = queue.flight.iter().flat_map(|flight| &flight.batch.urls);
            let mut urls = queue.waiting.iter().map(|(_, url)| url).chain(flying);
            if urls.all(|url| is_right(*to, url)) {
                continue;
            }
            for (since, url) in queue.take_all() {
                if is_right(*to, &url) {
                    queue.waiting.push_back((since, url));
                } else {
                    taken.push(url);
                }
            }
        }
        self.queues.retain(|_, queue| !queue.is_empty());
        self.len -= taken.len();
        taken
    }

    /// When the next batch is due; none if nothing waits.
    pub fn next_wakeup(&self) -> Option<Millis> {
        let due = self.queues.values().filter_map(|queue| match &queue.flight {
            Some(flight) => Some(flight.sent.plus(self.settings.resend_ms)),
            None if queue.waiting.len() >= BATCH_URLS => queue.waiting_since(),
            None => queue.waiting_since().map(|since| since.plus(self.settings.linger_ms)),
        });
        due.min()
    }
}

impl Queue {
    fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.flight.is_none()
    }

    fn len(&self) -> usize {
        self.waiting.len() + self.flight.as_ref().map_or(0, |flight| flight.batch.urls.len())
    }

    /// Since when the first of the waiting URLs waits.
    fn waiting_since(&self) -> Option<Millis> {
        self.waiting.front().map(|(since, _)| *since)
    }

    /// Takes all URLs out, those on their way first. Each has the time since which it waits, or at
    /// which its batch was first sent.
    fn take_all(&mut self) -> Vec<(Millis, RoutedUrl)> {
        let flight = self.flight.take().into_iter();
        let flying = flight.flat_map(|flight| {
            flight.batch.urls.into_iter().map(move |url| (flight.first_sent, url))
        });
        flying.chain(std::mem::take(&mut self.waiting)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;
    use crate::ownership::{HostAtAddress, HostPosition};

    fn exchange(waiting_urls: usize, incarnation: u64) -> Exchange {
        let settings =
            Settings { linger_ms: 10, resend_ms: 100, waiting_urls, ..Settings::default() };
        Exchange::new(settings, incarnation)
    }

    fn url(number: u32) -> RoutedUrl {
        let url = model::CrawlUrl::parse(&format!("http://h/{number}")).unwrap();
        let host = HostAtAddress {
            position: HostPosition::of(url.host_key_str()),
            address: IpAddr::from([10, 0, 0, 1]),
        };
        RoutedUrl::first(url, host, UrlPurpose::Fetch)
    }

    #[test]
    fn a_batch_is_repeated_until_it_is_acknowledged() {
        let mut exchange = exchange(3, 2);
        let one = AgentId::new(1);
        let two = AgentId::new(2);
        exchange.queue(one, url(1), Millis(0));
        exchange.queue(one, url(2), Millis(1));
        assert_eq!(exchange.next_wakeup(), Some(Millis(10)));
        assert!(exchange.due(Millis(9)).is_empty());
        let sent = exchange.due(Millis(10));
        assert_eq!(sent[0].1.urls, [url(1), url(2)]);
        exchange.queue(one, url(3), Millis(11));
        assert!(exchange.due(Millis(109)).is_empty(), "one batch at a time");
        assert_eq!(exchange.due(Millis(110)), sent);
        let number = sent[0].1.number;
        assert!(exchange.taken(two, number).is_empty());
        assert!(exchange.taken(one, number + 1).is_empty());
        assert_eq!(exchange.taken(one, number).len(), 2);
        assert!(exchange.taken(one, number).is_empty(), "acknowledged once");
        assert_eq!(exchange.due(Millis(111)).len(), 1);
        assert_eq!(exchange.len(), 1);
    }

    #[test]
    fn an_agent_that_takes_nothing_leaves_room_for_others() {
        let mut exchange = exchange(12, 0);
        let mut fill = |agent, now| {
            let mut number = 0;
            while exchange.room(AgentId::new(agent), now) == Room::Free {
                exchange.queue(AgentId::new(agent), url(number), now);
                number += 1;
            }
            exchange.due(now.plus(10));
            (number, exchange.room(AgentId::new(agent), now))
        };
        let early = Millis(0);
        assert_eq!([fill(1, early), fill(2, early)], [(6, Room::Full), (3, Room::Full)]);
        let late = Millis(10 + STUCK_MS);
        assert_eq!([fill(1, late), fill(2, late)], [(0, Room::Stuck); 2]);
        assert_eq!(fill(3, late), (2, Room::Full));
    }

    #[test]
    fn an_agent_that_takes_a_batch_now_and_then_is_stuck_as_well() {
        let mut exchange = exchange(BATCH_URLS, 0);
        let [slow, healthy] = [1, 2].map(AgentId::new);
        exchange.queue(healthy, url(0), Millis(0));
        let sent = exchange.due(Millis(10)).remove(0).1;
        exchange.taken(healthy, sent.number);
        let mut rooms = (0..5).map(|round| {
            let now = Millis(round * 50_000);
            (0..2 * BATCH_URLS as u32).for_each(|number| exchange.queue(slow, url(number), now));
            let sent = exchange.due(now).remove(0).1;
            let room = exchange.room(slow, now);
            assert_eq!(exchange.room(healthy, now), Room::Free, "nothing waits for it");
            exchange.taken(slow, sent.number);
            room
        });
        assert_eq!(rooms.next(), Some(Room::Full));
        assert_eq!(rooms.last(), Some(Room::Stuck));
    }

    #[test]
    fn an_agent_that_works_a_backlog_off_is_not_stuck() {
        let mut exchange = exchange(BATCH_URLS, 0);
        let agent = AgentId::new(1);
        for round in 0..20 {
            let now = Millis(round * 10_000);
            let count = if round == 0 { 4 * BATCH_URLS } else { BATCH_URLS };
            (0..count as u32).for_each(|number| exchange.queue(agent, url(number), now));
            let sent = exchange.due(now).remove(0).1;
            assert_eq!(exchange.room(agent, now), Room::Full, "after {round} rounds");
            exchange.taken(agent, sent.number);
        }
    }

    #[test]
    fn urls_for_the_wrong_agent_are_taken_back() {
        let mut exchange = exchange(3, 0);
        let agent = AgentId::new(1);
        for number in 1..=2 {
            exchange.queue(agent, url(number), Millis(0));
        }
        let sent = exchange.due(Millis(10));
        exchange.queue(agent, url(3), Millis(11));
        assert!(exchange.take_back(|_, _| true).is_empty());
        let back = exchange.take_back(|_, of| of.url == url(2).url);
        assert_eq!(back, [url(1), url(3)]);
        assert!(exchange.taken(agent, sent[0].1.number).is_empty());
        assert_eq!(exchange.due(Millis(21))[0].1.urls, [url(2)]);
    }

    #[test]
    fn repeated_urls_are_recognised() {
        let mut exchange = exchange(3, 0);
        assert!(exchange.mark_recent(&url(1)));
        assert!(!exchange.mark_recent(&url(1)));
        let notice = RoutedUrl { purpose: UrlPurpose::Known, ..url(1) };
        assert!(exchange.mark_recent(&notice), "another purpose");
    }
}
