//! Compares the records with the expected crawl.

use std::net::IpAddr;
use std::time::Duration;

use super::records::{AgentRecord, FetchRecords, HostRecord, PageRecord};
use super::report::{AgentTally, Gap, HostCount, Repeat, Report, Rules};
use super::tally;
use crate::web::{PageId, Web};

/// URLs or hosts named in a list; the counts beside the lists are exact.
const NAMED: usize = 50;

/// Writes the report.
pub(super) fn report(web: &Web, records: &FetchRecords, rules: &Rules) -> Report {
    let judge = Judge { web, records };
    let repeats = judge.repeats();
    let missing = judge.missing();
    let disallowed = judge.disallowed();
    let beyond = judge.beyond();
    Report {
        coverage: tally::coverage(web, records),
        missing: named(missing),
        fetches: judge.pages().map(|(_, page)| u64::from(page.fetches)).sum(),
        unique: judge.pages().count(),
        fetched_twice: repeats.iter().filter(|repeat| repeat.status < 500).count(),
        repeats: named(repeats),
        disallowed_fetched: disallowed.len(),
        disallowed: named(disallowed),
        beyond: named(beyond),
        hosts_seen: records.hosts.iter().filter(|host| !host.agents.is_empty()).count(),
        without_robots: judge.hosts(
            |host| (host.robots == 0 && !host.pages.is_empty()).then_some(()),
            |name, ()| name,
        ),
        robots_again: judge.hosts(|host| (host.robots > 1).then_some(host.robots), count),
        robots_beyond_turns: judge
            .hosts(|host| (host.robots > host.turns).then_some(host.robots), count),
        most_in_flight: judge.most_in_flight(),
        smallest_gap: judge.gaps().min_by(|a, b| a.ms.total_cmp(&b.ms)),
        gaps_too_small: judge.gaps_too_small(rules),
        shared_hosts: judge
            .hosts(|host| (host.agents.len() > 1).then_some(host.agents.len() as u32), count),
        probes: records.probes,
        agents: judge.agents(),
    }
}

struct Judge<'b> {
    web: &'b Web,
    records: &'b FetchRecords,
}

impl Judge<'_> {
    fn pages(&self) -> impl Iterator<Item = (PageId, PageRecord)> + '_ {
        let hosts = self.records.hosts.iter().enumerate();
        hosts.flat_map(|(host, record)| {
            record.pages.iter().map(move |(page, record)| (PageId { host, page: *page }, *record))
        })
    }

    fn missing(&self) -> Vec<String> {
        let fetched = |id: &PageId| self.records.hosts[id.host].pages.contains_key(&id.page);
        self.web
            .expected()
            .wanted()
            .keys()
            .filter(|id| !fetched(id))
            .map(|id| self.web.url(*id))
            .collect()
    }

    fn repeats(&self) -> Vec<Repeat> {
        let again = self.pages().filter(|(_, page)| page.fetches > 1);
        let repeat = |(id, page): (PageId, PageRecord)| Repeat {
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
        sorted(
            self.pages().filter(|(id, _)| forbidden.contains(id)).map(|(id, _)| self.web.url(id)),
        )
    }

    fn beyond(&self) -> Vec<String> {
        let expected = self.web.expected();
        let known =
            |id: &PageId| expected.wanted().contains_key(id) || expected.forbidden().contains(id);
        let hidden = self.pages().filter(|(id, _)| !known(id)).map(|(id, _)| self.web.url(id));
        let strangers = self.records.strangers.iter();
        let strangers =
            strangers.map(|(host, path)| format!("{}{path}", self.web.hosts()[*host].name()));
        sorted(hidden.chain(strangers))
    }

    fn hosts<A, B>(
        &self,
        find: impl Fn(&HostRecord) -> Option<A>,
        tell: impl Fn(String, A) -> B,
    ) -> Vec<B> {
        let records = self.records.hosts.iter().zip(self.web.hosts());
        records
            .filter_map(|(record, host)| {
                find(record).map(|found| tell(host.name().to_owned(), found))
            })
            .collect()
    }

    fn most_in_flight(&self) -> Option<HostCount> {
        let most =
            self.hosts(|host| Some(host.spacing.most_in_flight()).filter(|most| *most > 0), count);
        most.into_iter().max_by_key(|most| most.count)
    }

    fn gaps(&self) -> impl Iterator<Item = Gap> {
        let ms = |gap: Duration| gap.as_secs_f64() * 1_000.0;
        self.hosts(|host| host.spacing.smallest_gap().map(ms), |host, ms| Gap { host, ms })
            .into_iter()
    }

    fn gaps_too_small(&self, rules: &Rules) -> Vec<Gap> {
        let hosts = self.records.hosts.iter().zip(self.web.hosts());
        let too_small = hosts.filter_map(|(record, host)| {
            let asked = Duration::from_secs(u64::from(host.crawl_delay_s().unwrap_or(0)));
            let gap =
                record.spacing.smallest_gap().filter(|gap| *gap < rules.least_gap.max(asked))?;
            Some(Gap { host: host.name().to_owned(), ms: gap.as_secs_f64() * 1_000.0 })
        });
        too_small.collect()
    }

    fn agents(&self) -> Vec<AgentTally> {
        let hosts = |address: &IpAddr| {
            self.records.hosts.iter().filter(|host| host.agents.contains(address)).count()
        };
        let tally = |(address, record): (&IpAddr, &AgentRecord)| AgentTally {
            address: *address,
            requests: record.requests,
            hosts: hosts(address),
        };
        self.records.agents.iter().map(tally).collect()
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
