//! Seeds: URLs that an operator adds to start crawling from.

use model::{CrawlUrl, UrlError};
use serde_json::json;
use store::StoreError;
use store::urls::{self, NewUrl};

use crate::intake::Intake;
use crate::runtime::events::Event;

/// The result of adding seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSeeds {
    /// Number of URLs that are in the queue now, and were neither queued nor crawled before.
    pub accepted: u64,
    /// Number of URLs that were queued or crawled before, are repeated, or belong to a host that
    /// was given up recently.
    pub already_known: u64,
    /// Seeds that cannot be crawled, as given, with the reasons.
    pub rejected: Vec<(String, UrlError)>,
}

/// Queues seeds in the name of `actor`; valid ones are accepted even if others are rejected. The
/// audit log has an entry exactly when they are queued. `crawled` of them are in the index already;
/// they are queued as well, in case their agent has lost them.
pub async fn add_seeds(
    intake: &Intake,
    seeds: &[String],
    crawled: u64,
    actor: &str,
) -> Result<AddedSeeds, StoreError> {
    let mut added = AddedSeeds::default();
    let mut valid = Vec::with_capacity(seeds.len());
    for seed in seeds {
        match CrawlUrl::parse(seed) {
            Ok(url) => valid.push(NewUrl { url, redirects: 0 }),
            Err(error) => added.rejected.push((seed.clone(), error)),
        }
    }
    let valid_count = valid.len() as u64;
    let rejected = added.rejected.len();
    let detail = |queued: u64| {
        let accepted = queued.saturating_sub(crawled);
        json!({
            "accepted": accepted,
            "already_known": valid_count.saturating_sub(accepted),
            "rejected": rejected,
            "first": seeds.first(),
        })
    };
    let now = intake.clock.now();
    let queued = urls::queue_seeds(&intake.store, &valid, actor, detail, now).await?;
    added.accepted = queued.saturating_sub(crawled);
    added.already_known = valid_count.saturating_sub(added.accepted);
    intake.events.emit(Event::SeedsAdded);
    Ok(added)
}
