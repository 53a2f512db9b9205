//! What the search is compared with: dealing that knows no distances, and measuring everything.

use crate::replay::outcome::Decision;
use crate::{Crawler, Draw, Site};

/// Keys of chance that no draw uses.
const DEAL: u64 = 101;
const RING: u64 = 102;
/// Points of an agent on the circle; 200 is UbiCrawler's larger choice.
const REPLICAS: u64 = 200;

pub(crate) fn random<'d>(draw: &'d Draw<'_>) -> Vec<Decision<'d>> {
    let dealt = |site: Site| {
        let place = draw.noise().uniform(&[DEAL, u64::from(site.subnet.get())])
            * draw.crawlers.len() as f64;
        draw.crawlers.get(place as usize)
    };
    decide(draw, 0, dealt)
}

/// UbiCrawler section 4: replicas on a circle, a host belongs to the nearest point after its own.
pub(crate) fn ubicrawler<'d>(draw: &'d Draw<'_>) -> Vec<Decision<'d>> {
    let points = |crawler: &'d Crawler| {
        let at = move |replica| draw.noise().hash(&[RING, crawler.agent.get() as u64, replica]);
        (0..REPLICAS).map(move |replica| (at(replica), crawler))
    };
    let mut circle: Vec<(u64, &Crawler)> = draw.crawlers.iter().flat_map(points).collect();
    circle.sort_by_key(|(point, _)| *point);
    let owner = |site: Site| {
        let host = draw.noise().hash(&[RING, u64::from(site.subnet.get())]);
        let after = circle.partition_point(|(point, _)| *point < host);
        circle.get(after).or(circle.first()).map(|(_, crawler)| *crawler)
    };
    decide(draw, 0, owner)
}

pub(crate) fn all_probe<'d>(draw: &'d Draw<'_>) -> Vec<Decision<'d>> {
    let fastest = |site: Site| {
        let time = |crawler: &Crawler| draw.probe_ms(crawler, site);
        draw.crawlers.iter().min_by(|a, b| time(a).total_cmp(&time(b)))
    };
    decide(draw, draw.crawlers.len(), fastest)
}

fn decide<'d>(
    draw: &Draw<'_>,
    probes: usize,
    chosen: impl Fn(Site) -> Option<&'d Crawler>,
) -> Vec<Decision<'d>> {
    let sites = draw.sites.iter();
    sites
        .filter_map(|site| Some(Decision { site: *site, crawler: chosen(*site)?, probes }))
        .collect()
}
