//! Ingests the entries of one package: pages into the index, counts and links for the database.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::net::IpAddr;

use index::{Document, FetchWithoutPage, Index, WriteError};
use model::{CrawlUrl, HostKey, UnixMillis};
use protocol::package::PackageName;
use protocol::page::{Discovered, Entry, Fetch, MAX_REDIRECTS, Outcome, Page, Trend};
use store::host_tally::{HostTally, Trends};
use store::packages::{Ingestion, LedgerPackage};
use store::urls::NewUrl;

use crate::intake::recent_urls::RecentUrls;
use crate::packages::outcome_tally::OutcomeTally;

/// Writes the pages of a package to the index, without a commit, and returns what goes into the
/// database. Without an index it returns only that. Fetches of foreign hosts are ignored: an agent
/// may not replace pages of hosts that are not its own.
pub fn ingest(
    package: &LedgerPackage,
    entries: &[Entry],
    index: Option<&Index>,
    recent: &RecentUrls,
    now: UnixMillis,
) -> Result<Ingestion, WriteError> {
    let foreign_hosts: HashSet<&str> = package.foreign_hosts.iter().map(String::as_str).collect();
    let mut tallies: BTreeMap<HostKey, Tally> = BTreeMap::new();
    let mut foreign = 0_u32;
    for fetch in fetches(entries) {
        // Indexed and counted under the normalised URL, not under the agent's spelling.
        let Some((url, host)) = own(fetch, &foreign_hosts) else {
            foreign += 1;
            continue;
        };
        tallies.entry(host).or_default().count(fetch, &url, package.received_at);
        if let Some(index) = index {
            write(package, fetch, &url, index, now)?;
        }
    }
    let PackageName { agent, seq, .. } = package.name;
    if foreign > 0 {
        tracing::warn!(%agent, seq, foreign, "left out fetches of hosts that are not the agent's");
    }
    let hosts = tallies.into_iter().map(|(host, tally)| tally.finish(&host)).collect();
    let LedgerPackage { position, name, received_at, .. } = *package;
    Ok(Ingestion { position, name, received_at, hosts, discovered: discovered(entries, recent) })
}

fn fetches(entries: &[Entry]) -> impl Iterator<Item = &Fetch> {
    entries.iter().filter_map(|entry| match entry {
        Entry::Fetch(fetch) => Some(&**fetch),
        Entry::Discovered(_) => None,
    })
}

/// URL and host of a fetch; `None` when the URL is none or the host is foreign.
fn own(fetch: &Fetch, foreign_hosts: &HashSet<&str>) -> Option<(CrawlUrl, HostKey)> {
    let url = CrawlUrl::parse(&fetch.url).ok()?;
    let host = url.host_key();
    (!foreign_hosts.contains(host.as_str())).then_some((url, host))
}

fn write(
    package: &LedgerPackage,
    fetch: &Fetch,
    url: &CrawlUrl,
    index: &Index,
    now: UnixMillis,
) -> Result<(), WriteError> {
    let written = match &fetch.outcome {
        Outcome::Page(page) => index.upsert(&document(package, fetch, url, page, now)),
        // The URL is no longer a page: it moved, is gone, has content of another kind, or must not
        // be shown in results. With 202 guards ask crawlers for a proof.
        Outcome::Redirect { .. }
        | Outcome::Disallowed { .. }
        | Outcome::Other { status: 200..=201 | 203..=299 | 404 | 410 | 451, .. } => {
            index.delete(&FetchWithoutPage {
                url: url.as_str(),
                fetched_at: believable(fetch.fetched_at, package.received_at),
                now,
            })
        }
        Outcome::Other { .. } | Outcome::Unchanged { .. } | Outcome::Failed(_) => Ok(()),
    };
    match written {
        // This page can never be indexed, but the rest of the package can.
        Err(WriteError::Url { url }) => {
            tracing::warn!(url, "left out a page whose URL cannot be indexed");
            Ok(())
        }
        other => other,
    }
}

fn document<'a>(
    package: &LedgerPackage,
    fetch: &Fetch,
    url: &'a CrawlUrl,
    page: &'a Page,
    now: UnixMillis,
) -> Document<'a> {
    Document {
        agent: package.name.agent,
        url: url.as_str(),
        canonical: page.canonical.as_deref(),
        title: &page.title,
        headings: &page.headings,
        text: &page.text,
        max_snippet: page.max_snippet,
        lang: page.lang.as_deref(),
        fetched_at: believable(fetch.fetched_at, package.received_at),
        now,
    }
}

/// The time of a fetch; that of receipt where the agent names one that cannot be.
fn believable(fetched_at: UnixMillis, received_at: UnixMillis) -> UnixMillis {
    if (UnixMillis(0)..=received_at).contains(&fetched_at) { fetched_at } else { received_at }
}

/// Links to queue, each once: valid, within the limit of redirects, and not routed recently. A link
/// that an agent handed back was routed, but has no agent any more, so it is queued again.
fn discovered(entries: &[Entry], recent: &RecentUrls) -> Vec<NewUrl> {
    let links = entries.iter().filter_map(|entry| match entry {
        Entry::Discovered(Discovered { url, redirects, handed_back })
            if *redirects <= MAX_REDIRECTS =>
        {
            let url = CrawlUrl::parse(url).ok()?;
            let is_wanted = *handed_back || !recent.contains(url.fingerprint());
            is_wanted.then_some(NewUrl { url, redirects: *redirects })
        }
        _ => None,
    });
    let new: BTreeSet<NewUrl> = links.collect();
    new.into_iter().collect()
}

/// Sums over the fetches of one host.
#[derive(Default)]
struct Tally {
    pages: u64,
    fetches: u64,
    wire_bytes: u64,
    fetch_us: u64,
    trends: Trends,
    round_trip: Option<(IpAddr, u32)>,
    connect: Option<(IpAddr, u32)>,
    timed_fetches: u64,
    round_trip_us: u64,
    outcomes: OutcomeTally,
}

impl Tally {
    fn count(&mut self, fetch: &Fetch, url: &CrawlUrl, received_at: UnixMillis) {
        self.outcomes.count(fetch, url, believable(fetch.fetched_at, received_at));
        self.pages += u64::from(matches!(fetch.outcome, Outcome::Page(_)));
        self.fetches += 1;
        self.wire_bytes = self.wire_bytes.saturating_add(fetch.wire_bytes);
        self.fetch_us += fetch.timing.map_or(0, |timing| timing.total_us.into());
        // Fetches over a kept connection repeat its time, so that they count, too: often robots.txt
        // opened it, which is no fetch of a package.
        if let Some(timing) = fetch.timing.filter(|timing| timing.tcp_us > 0) {
            self.timed_fetches += 1;
            self.round_trip_us = self.round_trip_us.saturating_add(timing.tcp_us.into());
        }
        self.note_round_trip(fetch);
        match fetch.trend {
            Some(Trend::Usual) => self.trends.usual += 1,
            Some(Trend::Slower { ratio }) if ratio.is_finite() => {
                self.trends.slower += 1;
                self.trends.page = Some((url.as_str().to_owned(), ratio));
            }
            Some(Trend::Slow | Trend::Slower { .. }) | None => {}
        }
    }

    /// Keeps the shortest connect time, since longer ones contain delays of congestion, and the
    /// time of the first new connection.
    fn note_round_trip(&mut self, fetch: &Fetch) {
        let Some((address, timing)) = fetch.address.zip(fetch.timing) else { return };
        if timing.tcp_us > 0 && self.round_trip.is_none_or(|(_, shortest)| timing.tcp_us < shortest)
        {
            self.round_trip = Some((address, timing.tcp_us));
        }
        // A reused connection repeats the time of its beginning.
        if timing.tcp_us > 0 && timing.connect_us > 0 {
            self.connect.get_or_insert((address, timing.tcp_us));
        }
    }

    fn finish(self, host: &HostKey) -> HostTally {
        let scheme = host.scheme().to_owned();
        let authority = host.authority().to_owned();
        let answered_at = self.outcomes.answered_at();
        let silence = self.outcomes.silence();
        let OutcomeTally { disallowed, errors, recent, .. } = self.outcomes;
        HostTally {
            scheme,
            authority,
            pages: self.pages,
            fetches: self.fetches,
            wire_bytes: self.wire_bytes,
            fetch_ms: self.fetch_us / 1_000,
            trends: self.trends,
            round_trip: self.round_trip,
            connect: self.connect,
            timed_fetches: self.timed_fetches,
            round_trip_us: self.round_trip_us,
            country: None,
            disallowed,
            errors: errors.into_values().collect(),
            recent,
            answered_at,
            silence,
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::page::Timing;

    use super::*;

    fn fetch(connect_us: u32, tcp_us: u32) -> Fetch {
        Fetch {
            url: "http://a.example/".into(),
            fetched_at: UnixMillis(1),
            address: Some([203, 0, 113, 1].into()),
            timing: Some(Timing { connect_us, tcp_us, first_byte_us: 30_000, total_us: 40_000 }),
            wire_bytes: 7,
            outcome: Outcome::Unchanged { status: 304 },
            trend: None,
        }
    }

    #[test]
    fn a_kept_connection_tells_the_round_trip_but_not_the_present_one() {
        let url = CrawlUrl::parse("http://a.example/").unwrap();
        let mut tally = Tally::default();
        tally.count(&fetch(0, 15_000), &url, UnixMillis(2));
        tally.count(&fetch(0, 0), &url, UnixMillis(2));
        assert_eq!((tally.timed_fetches, tally.round_trip_us), (1, 15_000));
        assert_eq!(tally.connect, None);
        tally.count(&fetch(16_000, 16_000), &url, UnixMillis(2));
        assert_eq!((tally.timed_fetches, tally.round_trip_us), (2, 31_000));
        assert_eq!(tally.connect.map(|(_, us)| us), Some(16_000));
        assert_eq!(tally.round_trip.map(|(_, us)| us), Some(15_000), "the shortest");
    }
}
