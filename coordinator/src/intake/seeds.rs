//! Seeds: URLs that an operator adds to start crawling from.

use model::{CrawlUrl, UrlError};
use store::StoreError;
use store::urls::NewUrl;

use crate::intake::Intake;
use crate::runtime::events::Event;

/// The result of adding seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSeeds {
    /// Number of URLs that are in the queue now and were not before.
    pub accepted: u64,
    /// Number of URLs that were queued before, are repeated, or belong to a host that was given up
    /// recently.
    pub already_known: u64,
    /// Seeds that cannot be crawled, as given, with the reasons.
    pub rejected: Vec<(String, UrlError)>,
}

/// Queues seeds; valid ones are accepted even if others are rejected.
pub async fn add_seeds(intake: &Intake, seeds: &[String]) -> Result<AddedSeeds, StoreError> {
    let mut added = AddedSeeds::default();
    let mut urls = Vec::with_capacity(seeds.len());
    for seed in seeds {
        match CrawlUrl::parse(seed) {
            Ok(url) => urls.push(NewUrl { url, redirects: 0 }),
            Err(error) => added.rejected.push((seed.clone(), error)),
        }
    }
    added.accepted = store::urls::queue(&intake.store, &urls, intake.clock.now()).await?;
    added.already_known = (urls.len() as u64).saturating_sub(added.accepted);
    intake.events.emit(Event::SeedsAdded);
    Ok(added)
}
