//! Seeds: URLs that an operator adds to start crawling from.

use serde_json::json;
use store::StoreError;
use store::urls::{self, NewUrl};

use crate::intake::Intake;
use crate::intake::seed_checks::{CheckedSeeds, SeedError};
use crate::runtime::events::Event;

/// The result of adding seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSeeds {
    /// Number of URLs that are in the queue now, and were neither queued nor crawled before.
    pub accepted: u64,
    /// Number of URLs that were queued or crawled before, or are repeated.
    pub already_known: u64,
    /// Seeds that cannot be crawled, as given, with the reasons.
    pub rejected: Vec<(String, SeedError)>,
}

/// Queues seeds in the name of `actor`; valid ones are accepted even if others are rejected. The
/// audit log has an entry exactly when they are queued. `crawled` of the valid ones are in the
/// index already; they are queued as well, in case their agent has lost them.
pub async fn add_seeds(
    intake: &Intake,
    seeds: CheckedSeeds,
    crawled: u64,
    actor: &str,
) -> Result<AddedSeeds, StoreError> {
    let CheckedSeeds { valid, rejected } = seeds;
    let valid: Vec<NewUrl> = valid.into_iter().map(|url| NewUrl { url, redirects: 0 }).collect();
    let valid_count = valid.len() as u64;
    let first = valid.first().map(|new| new.url.as_str());
    let first = first.or_else(|| rejected.first().map(|(seed, _)| seed.as_str()));
    let detail = |queued: u64| {
        let accepted = queued.saturating_sub(crawled);
        json!({
            "accepted": accepted,
            "already_known": valid_count.saturating_sub(accepted),
            "rejected": rejected.len(),
            "first": first,
        })
    };
    let now = intake.clock.now();
    let queued = urls::queue_seeds(&intake.store, &valid, actor, detail, now).await?;
    let accepted = queued.saturating_sub(crawled);
    let already_known = valid_count.saturating_sub(accepted);
    intake.events.emit(Event::SeedsAdded);
    Ok(AddedSeeds { accepted, already_known, rejected })
}
