//! Seeds: URLs that an operator adds to start crawling from.

use std::collections::HashSet;

use model::CrawlUrl;
use serde_json::json;
use store::StoreError;
use store::urls::{self, NewUrl};

use crate::intake::Intake;
use crate::intake::seed_checks::{CheckedSeeds, SeedError};
use crate::runtime::events::Event;

/// The result of adding seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSeeds {
    /// Number of URLs that were queued, and that the index does not have.
    pub accepted: u64,
    /// Number of URLs that were in the queue or in the index before.
    pub already_known: u64,
    /// Seeds that cannot be crawled, as given, with the reasons.
    pub rejected: Vec<(String, SeedError)>,
}

/// Queues seeds in the name of `actor`; valid ones are accepted even if others are rejected. A URL
/// that is repeated counts once. The audit log has an entry exactly when they are queued. URLs that
/// the index has (`indexed`) are queued as well, in case their agent has lost them.
pub async fn add_seeds(
    intake: &Intake,
    seeds: CheckedSeeds,
    indexed: &[CrawlUrl],
    actor: &str,
) -> Result<AddedSeeds, StoreError> {
    let CheckedSeeds { valid, rejected } = seeds;
    let mut seen = HashSet::new();
    let valid: Vec<NewUrl> = valid
        .into_iter()
        .filter(|url| seen.insert(url.clone()))
        .map(|url| NewUrl { url, redirects: 0 })
        .collect();
    let first = valid.first().map(|new| new.url.as_str());
    let first = first.or_else(|| rejected.first().map(|(seed, _)| seed.as_str()));
    let indexed: HashSet<&str> = indexed.iter().map(CrawlUrl::as_str).collect();
    let counts = |queued: &[String]| {
        let accepted = queued.iter().filter(|url| !indexed.contains(url.as_str())).count();
        (accepted as u64, (valid.len() - accepted) as u64)
    };
    let detail = |queued: &[String]| {
        let (accepted, already_known) = counts(queued);
        json!({
            "accepted": accepted,
            "already_known": already_known,
            "rejected": rejected.len(),
            "first": first,
        })
    };
    let now = intake.clock.now();
    let queued = urls::queue_seeds(&intake.store, &valid, actor, detail, now).await?;
    let (accepted, already_known) = counts(&queued);
    intake.events.emit(Event::SeedsAdded);
    Ok(AddedSeeds { accepted, already_known, rejected })
}
