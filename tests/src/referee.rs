//! The referee: watches every request that the web gets and writes down what a crawler may be
//! judged by.
//!
//! The road: the server reports each request with [`Referee::arrive`] and its end by dropping the
//! [`Visit`]; the [`books`] keep counts per host and page, and take the time as an argument;
//! [`Referee::report`] compares them with what the web [expects](crate::web::Expected) into a
//! [`Report`], whose [`faults`](Report::faults) are sentences.
//!
//! HEAD requests are probes, not crawling: they are counted, but do not enter the books of
//! politeness.

mod books;
mod judge;
mod report;
mod tally;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use crate::web::{Web, What};

pub use report::{AgentTally, Gap, HostCount, Repeat, Report, Rules};
pub use tally::{Coverage, Tally};

use books::Books;

/// The referee of one web. Clones watch together.
#[derive(Debug, Clone)]
pub struct Referee {
    web: Arc<Web>,
    books: Arc<Mutex<Books>>,
}

impl Referee {
    /// A referee with empty books.
    pub fn new(web: Arc<Web>) -> Self {
        let books = Books::new(web.hosts().len());
        Self { web, books: Arc::new(Mutex::new(books)) }
    }

    /// A request arrived; `head` when it only asks for headers.
    pub fn arrive(&self, agent: IpAddr, host: usize, what: What, head: bool, path: &str) -> Visit {
        let mut books = self.books();
        if head {
            books.probe();
            return Visit { referee: self.clone(), request: None };
        }
        books.begin(Instant::now(), agent, host, &what, path);
        drop(books);
        Visit { referee: self.clone(), request: Some(Request { agent, host, what }) }
    }

    /// How much of the expected is fetched; cheap enough to ask every second.
    pub fn coverage(&self) -> Coverage {
        tally::coverage(&self.web, &self.books())
    }

    /// Everything, judged by the rules.
    pub fn report(&self, rules: &Rules) -> Report {
        judge::report(&self.web, &self.books(), rules)
    }

    /// How often each agent asked for one page of a host: the page that it asked for most often.
    pub fn rounds(&self, host: usize) -> BTreeMap<IpAddr, u32> {
        let books = self.books();
        let mut rounds = BTreeMap::new();
        for ((agent, _), times) in
            books.hosts.get(host).iter().flat_map(|delegation_table| &delegation_table.asked)
        {
            let most: &mut u32 = rounds.entry(*agent).or_default();
            *most = (*most).max(*times);
        }
        rounds
    }

    /// Empty books again, for a second crawl of the same web.
    pub fn forget(&self) {
        *self.books() = Books::new(self.web.hosts().len());
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
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
    agent: IpAddr,
    host: usize,
    what: What,
}

impl Visit {
    /// Tells what is answered: the status, and the bytes of the body before and after compression.
    pub fn answered(&self, status: u16, plain_bytes: usize, wire_bytes: usize) {
        if let Some(Request { agent, host, what }) = &self.request {
            let mut books = self.referee.books();
            books.answered(*agent, *host, what, status, (plain_bytes as u64, wire_bytes as u64));
        }
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(Request { host, .. }) = &self.request {
            self.referee.books().end(Instant::now(), *host);
        }
    }
}
