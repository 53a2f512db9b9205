//! Result of the comparison.

use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use serde::Serialize;

use super::tally::Coverage;

/// What is asked of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rules {
    /// Least time between the end of an answer and the start of the next request to the same host.
    /// A host's Crawl-delay counts where it is longer.
    pub least_gap: Duration,
}

/// A host and a number.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct HostCount {
    pub host: String,
    pub count: u32,
}

/// A host and a time between two requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Gap {
    pub host: String,
    /// The smallest gap seen there, in milliseconds.
    pub ms: f64,
}

/// A URL that was fetched more than once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Repeat {
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
    pub requests: u64,
    /// Hosts that it asked.
    pub hosts: usize,
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
    /// Pages that nobody could know of without reading comments, scripts or forbidden pages, and
    /// URLs that the web does not have (some of them).
    pub beyond: Vec<String>,
    /// Hosts that were asked for anything.
    pub hosts_seen: usize,
    /// Hosts whose pages were fetched without a look at robots.txt before.
    pub without_robots: Vec<String>,
    /// Hosts whose robots.txt was fetched more than once.
    pub robots_again: Vec<HostCount>,
    /// Hosts whose robots.txt was fetched more often than another agent began to ask them.
    pub robots_beyond_turns: Vec<HostCount>,
    /// The host with the most requests at the same time.
    pub most_in_flight: Option<HostCount>,
    /// The host with the smallest gap.
    pub smallest_gap: Option<Gap>,
    /// Hosts with a gap below the rule.
    pub gaps_too_small: Vec<Gap>,
    /// Hosts that more than one agent asked.
    pub shared_hosts: Vec<HostCount>,
    pub probes: u64,
    /// Agents by address.
    pub agents: Vec<AgentTally>,
}

impl Report {
    /// What a polite and complete crawl would not have done, one sentence each; empty when all is
    /// well.
    pub fn faults(&self) -> Vec<String> {
        let missing = self.coverage.all.expected - self.coverage.all.fetched;
        let in_flight = self.most_in_flight.clone().filter(|most| most.count > 1);
        let faults = [
            (
                missing,
                format!("expected URLs were not fetched, such as {}", example(&self.missing)),
            ),
            (
                self.fetched_twice,
                format!("pages were fetched twice, such as {}", example(&self.repeats)),
            ),
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
                format!("hosts gave robots.txt again, such as {}", example(&self.robots_again)),
            ),
            (
                usize::from(in_flight.is_some()),
                format!("host had several requests at once: {}", example(in_flight.as_slice())),
            ),
            (
                self.gaps_too_small.len(),
                format!("hosts were hurried, such as {}", example(&self.gaps_too_small)),
            ),
        ];
        faults
            .into_iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, what)| format!("{count} {what}"))
            .collect()
    }
}

fn example(list: &[impl fmt::Display]) -> String {
    list.first().map(ToString::to_string).unwrap_or_default()
}

impl fmt::Display for HostCount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.host, self.count)
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({:.1} ms)", self.host, self.ms)
    }
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} times, at last {})", self.url, self.times, self.status)
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
        writeln!(
            f,
            "{} fetches of {} pages on {} hosts",
            self.fetches, self.unique, self.hosts_seen
        )?;
        writeln!(f, "{} probes", self.probes)?;
        if let Some(gap) = &self.smallest_gap {
            writeln!(f, "smallest gap {:.1} ms ({})", gap.ms, gap.host)?;
        }
        for fault in self.faults() {
            writeln!(f, "FAULT: {fault}")?;
        }
        Ok(())
    }
}
