//! Quality of what is crawled first: the number of links to a page.

use serde::Serialize;

use crate::region_crawl::graph::LinkGraph;

/// Shares of the crawl at which the quality is compared.
const SHARES: [f64; 4] = [0.1, 0.25, 0.5, 1.0];

/// Average in-degree of the pages crawled until a share of the crawl.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Quality {
    /// Share of the crawl.
    pub share: f64,
    /// Average in-degree of the region's crawl.
    pub region: f64,
    /// Average in-degree of breadth-first search on one machine.
    pub breadth_first: f64,
}

/// The quality of a crawl beside that of breadth-first search from the same seeds.
pub(super) fn quality(graph: &LinkGraph, crawled: &[u32], seeds: &[u32]) -> Vec<Quality> {
    let degrees = graph.in_degrees();
    let best = graph.breadth_first(seeds);
    let average = |order: &[u32], share: f64| {
        let count = ((order.len() as f64 * share) as usize).max(1).min(order.len());
        let sum: f64 = order[..count].iter().map(|page| f64::from(degrees[*page as usize])).sum();
        sum / count.max(1) as f64
    };
    let at = |share: f64| Quality {
        share,
        region: average(crawled, share),
        breadth_first: average(&best, share),
    };
    SHARES.into_iter().map(at).collect()
}
