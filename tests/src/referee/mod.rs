//! The referee records every request to the test web and judges the crawl by it.
//!
//! The server reports each request with [`Referee::arrive`] and its end by dropping the [`Visit`].
//! The [`records`] count per host and page; time is an argument. [`Referee::report`] compares them
//! with what the web [expects](crate::web::ExpectedCrawl) into a [`Report`], whose
//! [`faults`](Report::faults) are sentences.
//!
//! HEAD requests are probes: they are counted, but politeness is not judged by them.

mod judge;
mod records;
mod report;
mod tally;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::web::{Resource, Web};

pub use report::{AgentTally, Gap, HostCount, Repeat, Report, Rules};
pub use tally::{Coverage, Tally};

use records::FetchRecords;

/// The referee of one web. Clones watch together.
#[derive(Debug, Clone)]
pub struct Referee {
    web: Arc<Web>,
    records: Arc<Mutex<FetchRecords>>,
}

impl Referee {
    /// A referee with empty records.
    pub fn new(web: Arc<Web>) -> Self {
        let records = FetchRecords::new(web.hosts().len(), Instant::now());
        Self { web, records: Arc::new(Mutex::new(records)) }
    }

    /// A request arrived; `head` when it only asks for headers.
    pub fn arrive(
        &self,
        agent: IpAddr,
        host: usize,
        what: Resource,
        head: bool,
        path: &str,
    ) -> Visit {
        let mut records = self.records();
        if head {
            records.probe();
            return Visit { referee: self.clone(), request: None };
        }
        records.begin(Instant::now(), agent, host, &what, path);
        drop(records);
        Visit { referee: self.clone(), request: Some(Request { host, what }) }
    }

    /// How much of the expected is fetched; cheap enough to ask every second.
    pub fn coverage(&self) -> Coverage {
        tally::coverage(&self.web, &self.records())
    }

    /// Everything, judged by the rules.
    pub fn report(&self, rules: &Rules) -> Report {
        judge::report(&self.web, &self.records(), rules)
    }

    /// How often each agent asked for one page of a host: the page that it asked for most often.
    pub fn rounds(&self, host: usize) -> BTreeMap<IpAddr, u32> {
        let records = self.records();
        let mut rounds = BTreeMap::new();
        for ((agent, _), times) in records.hosts.get(host).iter().flat_map(|record| &record.asked) {
            let most: &mut u32 = rounds.entry(*agent).or_default();
            *most = (*most).max(*times);
        }
        rounds
    }

    /// Hosts that this agent was the last to ask.
    pub fn hosts_of(&self, agent: IpAddr) -> Vec<usize> {
        let records = self.records();
        let hosts = records.hosts.iter().enumerate();
        let of_agent = hosts.filter(|(_, record)| record.last_agent == Some(agent));
        of_agent.map(|(host, _)| host).collect()
    }

    /// Number of requests of this agent that arrived within this time before now.
    pub fn requests_of(&self, agent: IpAddr, within: Duration) -> usize {
        let records = self.records();
        let arrivals = records.agents.get(&agent).map(|record| record.arrivals.as_slice());
        let arrivals = arrivals.unwrap_or_default().iter().rev();
        arrivals.take_while(|arrival| arrival.elapsed() <= within).count()
    }

    /// Empty records again, for a second crawl of the same web.
    pub fn forget(&self) {
        *self.records() = FetchRecords::new(self.web.hosts().len(), Instant::now());
    }

    fn records(&self) -> MutexGuard<'_, FetchRecords> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request that is being answered; it ends when this is dropped.
#[derive(Debug)]
pub struct Visit {
    referee: Referee,
    request: Option<Request>,
}

#[derive(Debug)]
struct Request {
    host: usize,
    what: Resource,
}

impl Visit {
    /// Tells the status of the answer.
    pub fn answered(&self, status: u16) {
        if let Some(Request { host, what }) = &self.request {
            self.referee.records().answered(*host, what, status);
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(Request { host, .. }) = &self.request {
            self.referee.records().end(Instant::now(), *host);
        }
    }
}
