//! Figures of one crawl.

use serde::Serialize;

use crate::case::Case;
use crate::peers::{Outcome, Peer};
use crate::referee::Report;

/// One crawl of a case by a peer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    pub case: &'static str,
    pub peer: Peer,
    /// Round of the run, from 1.
    pub round: u32,
    /// Load of the machine before the crawl.
    pub load: f64,
    /// Share of the web's pages that were fetched.
    pub coverage: f64,
    pub pages_per_s: f64,
    /// User and system time for each page, in microseconds.
    pub cpu_us_per_page: Option<f64>,
    /// Ideal time over the time taken; none without a delay.
    pub ideal_share: Option<f64>,
    /// Pages and robots.txt files as the referee saw them.
    pub referee: Report,
    /// What the crawler's process shows.
    #[serde(flatten)]
    pub by: Outcome,
}

impl Measurement {
    /// Puts everything together.
    pub fn new(case: &Case, peer: Peer, round: u32, load: f64, seen: Report, by: Outcome) -> Self {
        let pages = seen.unique as f64;
        let ideal = case.ideal(seen.requests).map(|ideal| ideal.as_secs_f64());
        let taken = if case.web.one_address { seen.request_span_s } else { seen.span_s };
        Self {
            case: case.kind.name(),
            peer,
            round,
            load,
            coverage: pages / (case.web.all_pages() as f64).max(1.0),
            pages_per_s: ratio(pages, seen.span_s),
            cpu_us_per_page: by.usage.map(|usage| ratio(usage.cpu_s * 1e6, pages)),
            ideal_share: ideal.map(|ideal| ratio(ideal, taken)),
            referee: seen,
            by,
        }
    }
}

/// A quotient that is zero where there is nothing to divide by.
fn ratio(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part / whole } else { 0.0 }
}
