//! Text report of a run's numbers.

use std::fmt;

use super::{Numbers, SearchFound};
use crate::web::Class;

impl fmt::Display for Numbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_hierarchy(f)?;
        self.write_delegations(f)?;
        self.write_crawl(f)?;
        self.write_outage(f)?;
        self.write_searches(f)?;
        self.write_memory(f)
    }
}

impl Numbers {
    fn write_hierarchy(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = &self.counts;
        writeln!(f, "hierarchy    {} subnets, {} companies", self.subnets, self.companies)?;
        writeln!(f, "             built and stored in {:.1} s", self.build_seconds)?;
        writeln!(f, "world        {} agents, {} approved", counts.agents, self.agents)?;
        let hosts = counts.hosts;
        let countries = counts.countries;
        let cities = counts.cities;
        writeln!(
            f,
            "             {hosts} hosts in {} subnets, {countries} countries, {cities} cities",
            counts.subnets
        )
    }

    fn write_delegations(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total: u64 = self.delegations.values().sum();
        let reasons: Vec<String> =
            self.delegations.iter().map(|(reason, count)| format!("{reason} {count}")).collect();
        writeln!(f, "delegations  {total}: {}", reasons.join(", "))?;
        writeln!(
            f,
            "             {} searches, {:.2} probes for each new subnet in all ({} of \
             searches, {} of agents' homes)",
            self.searches_decided,
            self.probes_per_subnet(),
            self.search_probes,
            self.home_probes
        )?;
        let dealing = &self.dealing;
        writeln!(
            f,
            "             {:.1} % of hosts at the truly nearest agent, {:.2} ms above it on \
             average",
            dealing.share_nearest * 100.0,
            dealing.mean_excess_ms
        )?;
        writeln!(
            f,
            "waiting      {:.0} s of round trips for all pages; {:.0} s if dealt out at random \
             ({:.1} times as much); {:.0} s at best",
            dealing.crawl_s,
            dealing.random_s,
            dealing.random_s / dealing.crawl_s.max(f64::EPSILON),
            dealing.nearest_s
        )
    }

    fn write_crawl(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = &self.referee;
        let all = report.coverage.all;
        writeln!(f, "crawl        {:.0} s", self.crawl_seconds)?;
        writeln!(
            f,
            "             {} fetches, {} unique URLs, {} expected, coverage {:.2} %",
            report.fetches,
            report.unique,
            all.expected,
            all.share() * 100.0
        )?;
        let documents = report.coverage.by_class.get(&Class::Document).copied().unwrap_or_default();
        writeln!(
            f,
            "             {} of {} pages; {} searchable of {} that may be",
            documents.fetched, documents.expected, self.indexed, self.indexable
        )?;
        writeln!(
            f,
            "bytes        {} fetched, {} shipped in {} packages: {:.1} to 1",
            self.bytes_fetched,
            self.bytes_shipped,
            self.packages,
            self.bytes_fetched as f64 / (self.bytes_shipped.max(1)) as f64
        )
    }

    fn write_outage(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(outage) = &self.outage else { return Ok(()) };
        writeln!(
            f,
            "second act   {} URLs in {:.0} s without the coordinator",
            outage.fetched, outage.away_s
        )?;
        writeln!(
            f,
            "             {} was killed; others went on with {} of its {} hosts",
            outage.killed, outage.taken_over, outage.hosts_of_killed
        )
    }

    fn write_searches(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.searches.iter().try_for_each(|search| write_search(search, f))
    }

    fn write_memory(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = |bytes: u64| bytes / 1_000_000;
        writeln!(
            f,
            "memory       coordinator {} MB, largest agent {} MB",
            megabytes(self.coordinator_memory),
            megabytes(self.agent_memory)
        )
    }
}

fn write_search(search: &SearchFound, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let pages = if search.total == 1 { "page" } else { "pages" };
    writeln!(
        f,
        "search       {}: {} {pages} in {:.1} ms",
        search.query.text, search.total, search.took_ms
    )?;
    match &search.best {
        Some((title, url)) => writeln!(f, "             {title} <{url}>"),
        None => Ok(()),
    }
}
