//! The verdict: the books compared with the truth.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use super::books::{Books, HostBook};
use super::tally::{self, Coverage};
use crate::web::{PageId, Web};

/// URLs or hosts named in a list; the counts beside the lists are exact.
const NAMED: usize = 50;

/// What is asked of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Least time between the end of an answer and the start of the next request to the same host. A host's
    /// Crawl-delay counts where it is longer.
    pub least_gap: Duration,
}

/// A host and a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostCount {
    /// DNS name.
    pub host: String,
    /// How many.
    pub count: u32,
}

/// A host and a time between two requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    /// DNS name.
    pub host: String,
    /// The smallest gap seen there, in milliseconds.
    pub ms: f64,
}

/// A URL that was fetched more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeat {
    /// The URL.
    pub url: String,
    /// How often it was fetched.
    pub times: u32,
    /// How it was answered last: repeating after a 5xx is a retry.
    pub status: u16,
}

/// What one agent asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AgentTally {
    /// The address it came from.
    pub address: IpAddr,
    /// GET requests.
    pub requests: u64,
    /// Hosts that it asked.
    pub hosts: usize,
    /// Bytes of bodies before compression.
    pub plain_bytes: u64,
    /// Bytes of bodies as sent.
    pub wire_bytes: u64,
}

/// Everything that the referee has to say.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Expected and fetched.
    pub coverage: Coverage,
    /// Expected URLs that were not fetched (some of them).
    pub missing: Vec<String>,
    /// GET requests for pages, repeats included.
    pub fetches: u64,
    /// Different pages among them.
    pub unique: usize,
    /// Number of pages fetched again although they had been answered without a server's error.
    pub fetched_twice: usize,
    /// Pages fetched more than once, retries included (some of them).
    pub repeats: Vec<Repeat>,
    /// Number of pages fetched against robots.txt.
    pub disallowed_fetched: usize,
    /// Those pages (some of them).
    pub disallowed: Vec<String>,
    /// Pages that nobody could know of without reading comments, scripts or forbidden pages, and URLs that the web
    /// does not have (some of them).
    pub beyond: Vec<String>,
    /// Hosts that were asked for anything.
    pub hosts_seen: usize,
    /// Hosts whose pages were fetched without a look at robots.txt before.
    pub without_robots: Vec<String>,
    /// Hosts whose robots.txt was fetched more than once.
    pub robots_again: Vec<HostCount>,
    /// The host with the most requests at the same time.
    pub most_in_flight: Option<HostCount>,
    /// The host with the smallest gap.
    pub smallest_gap: Option<Gap>,
    /// Hosts with a gap below the rule.
    pub gaps_too_small: Vec<Gap>,
    /// Hosts that more than one agent asked.
    pub shared_hosts: Vec<HostCount>,
    /// HEAD requests.
    pub probes: u64,
    /// Bytes of bodies before compression.
    pub plain_bytes: u64,
    /// Bytes of bodies as sent.
    pub wire_bytes: u64,
    /// Agents by address.
    pub agents: Vec<AgentTally>,
}

impl Report {
    /// What a polite and complete crawl would not have done, one sentence each; empty when all is well.
    pub fn faults(&self) -> Vec<String> {
        let missing = self.coverage.all.expected - self.coverage.all.fetched;
        let in_flight = self.most_in_flight.as_ref().filter(|most| most.count > 1);
        let example = |list: &[String]| list.first().cloned().unwrap_or_default();
        let faults = [
            (missing, format!("expected URLs were not fetched, such as {}", example(&self.missing))),
            (self.fetched_twice, format!("pages were fetched twice, such as {:?}", self.repeats.first())),
            (
                self.disallowed_fetched,
                format!("forbidden pages were fetched, such as {}", example(&self.disallowed)),
            ),
            (self.beyond.len(), format!("pages were made up, such as {}", example(&self.beyond))),
            (
                self.without_robots.len(),
                format!("hosts were not asked first, such as {}", example(&self.without_robots)),
            ),
            (
                self.robots_again.len(),
                format!("hosts gave robots.txt again, such as {:?}", self.robots_again.first()),
            ),
            (usize::from(in_flight.is_some()), format!("host had several requests at once: {in_flight:?}")),
            (
                self.gaps_too_small.len(),
                format!("hosts were hurried, such as {:?}", self.gaps_too_small.first()),
            ),
        ];
        faults
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.coverage.all;
        writeln!(
            f,
            "coverage {:.2} % ({} of {} expected URLs)",
            all.share() * 100.0,
            all.fetched,
            all.expected
        )?;
        for (class, tally) in &self.coverage.by_class {
            writeln!(f, "  {class:?}: {} of {}", tally.fetched, tally.expected)?;
        }
        writeln!(f, "{} fetches of {} pages on {} hosts", self.fetches, self.unique, self.hosts_seen)?;
        writeln!(f, "{} bytes, {} on the wire; {} probes", self.plain_bytes, self.wire_bytes, self.probes)?;
        if let Some(gap) = &self.smallest_gap {
            writeln!(f, "smallest gap {:.1} ms ({})", gap.ms, gap.host)?;
        }
        for fault in self.faults() {
            writeln!(f, "FAULT: {fault}")?;
        }
        Ok(())
    }
}

/// Writes the report.
pub(super) fn report(web: &Web, books: &Books, rules: &Rules) -> Report {
    let judge = Judge { web, books };
    let repeats = judge.repeats();
    let (missing, disallowed, beyond) = (judge.missing(), judge.disallowed(), judge.beyond());
    Report {
        coverage: tally::coverage(web, books),
        missing: named(missing),
        fetches: judge.pages().map(|(_, page)| u64::from(page.fetches)).sum(),
        unique: judge.pages().count(),
        fetched_twice: repeats.iter().filter(|repeat| repeat.status < 500).count(),
        repeats: named(repeats),
        disallowed_fetched: disallowed.len(),
        disallowed: named(disallowed),
        beyond: named(beyond),
        hosts_seen: books.hosts.iter().filter(|host| !host.agents.is_empty()).count(),
        without_robots: judge
            .hosts(|host| (host.robots == 0 && !host.pages.is_empty()).then_some(()), |name, ()| name),
        robots_again: judge.hosts(|host| (host.robots > 1).then_some(host.robots), count),
        most_in_flight: judge.most_in_flight(),
        smallest_gap: judge.gaps().min_by(|a, b| a.ms.total_cmp(&b.ms)),
        gaps_too_small: judge.gaps_too_small(rules),
        shared_hosts: judge.hosts(|host| (host.agents.len() > 1).then_some(host.agents.len() as u32), count),
        probes: books.probes,
        plain_bytes: books.agents.values().map(|agent| agent.plain_bytes).sum(),
        wire_bytes: books.agents.values().map(|agent| agent.wire_bytes).sum(),
        agents: judge.agents(),
    }
}

struct Judge<'b> {
    web: &'b Web,
    books: &'b Books,
}

impl Judge<'_> {
    fn pages(&self) -> impl Iterator<Item = (PageId, super::books::PageBook)> + '_ {
        let hosts = self.books.hosts.iter().enumerate();
        hosts.flat_map(|(host, book)| {
            book.pages.iter().map(move |(page, book)| (PageId { host, page: *page }, *book))
        })
    }

    fn missing(&self) -> Vec<String> {
        let fetched = |id: &PageId| self.books.hosts[id.host].pages.contains_key(&id.page);
        self.web.expected().wanted().keys().filter(|id| !fetched(id)).map(|id| self.web.url(*id)).collect()
    }

    fn repeats(&self) -> Vec<Repeat> {
        let again = self.pages().filter(|(_, page)| page.fetches > 1);
        let repeat = |(id, page): (PageId, super::books::PageBook)| Repeat {
            url: self.web.url(id),
            times: page.fetches,
            status: page.status,
        };
        let mut repeats: Vec<_> = again.map(repeat).collect();
        repeats.sort_by(|a, b| (a.status >= 500, &a.url).cmp(&(b.status >= 500, &b.url)));
        repeats
    }

    fn disallowed(&self) -> Vec<String> {
        let forbidden = self.web.expected().forbidden();
        sorted(self.pages().filter(|(id, _)| forbidden.contains(id)).map(|(id, _)| self.web.url(id)))
    }

    fn beyond(&self) -> Vec<String> {
        let expected = self.web.expected();
        let known = |id: &PageId| expected.wanted().contains_key(id) || expected.forbidden().contains(id);
        let hidden = self.pages().filter(|(id, _)| !known(id)).map(|(id, _)| self.web.url(id));
        let strangers = self.books.strangers.iter();
        let strangers = strangers.map(|(host, path)| format!("{}{path}", self.web.hosts()[*host].name()));
        sorted(hidden.chain(strangers))
    }

    fn hosts<A, B>(&self, find: impl Fn(&HostBook) -> Option<A>, tell: impl Fn(String, A) -> B) -> Vec<B> {
        let books = self.books.hosts.iter().zip(self.web.hosts());
        books.filter_map(|(book, host)| find(book).map(|found| tell(host.name().to_owned(), found))).collect()
    }

    fn most_in_flight(&self) -> Option<HostCount> {
        let most = self.hosts(|host| Some(host.most_in_flight).filter(|most| *most > 0), count);
        most.into_iter().max_by_key(|most| most.count)
    }

    fn gaps(&self) -> impl Iterator<Item = Gap> {
        let ms = |gap: Duration| gap.as_secs_f64() * 1_000.0;
        self.hosts(|host| host.smallest_gap.map(ms), |host, ms| Gap { host, ms }).into_iter()
    }

    fn gaps_too_small(&self, rules: &Rules) -> Vec<Gap> {
        let hosts = self.books.hosts.iter().zip(self.web.hosts());
        let too_small = hosts.filter_map(|(book, host)| {
            let asked = Duration::from_secs(u64::from(host.crawl_delay_s().unwrap_or(0)));
            let gap = book.smallest_gap.filter(|gap| *gap < rules.least_gap.max(asked))?;
            Some(Gap { host: host.name().to_owned(), ms: gap.as_secs_f64() * 1_000.0 })
        });
        too_small.collect()
    }

    fn agents(&self) -> Vec<AgentTally> {
        let hosts =
            |address: &IpAddr| self.books.hosts.iter().filter(|host| host.agents.contains(address)).count();
        let tally = |(address, book): (&IpAddr, &super::books::AgentBook)| AgentTally {
            address: *address,
            requests: book.requests,
            hosts: hosts(address),
            plain_bytes: book.plain_bytes,
            wire_bytes: book.wire_bytes,
        };
        self.books.agents.iter().map(tally).collect()
    }
}

fn count(host: String, count: u32) -> HostCount {
    HostCount { host, count }
}

fn sorted(list: impl Iterator<Item = String>) -> Vec<String> {
    let mut list: Vec<_> = list.collect();
    list.sort_unstable();
    list
}

fn named<T>(mut list: Vec<T>) -> Vec<T> {
    list.truncate(NAMED);
    list
}
