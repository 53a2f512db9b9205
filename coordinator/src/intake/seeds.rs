//! Seeds: URLs to begin from, given by people.

use model::{CrawlUrl, UrlError};
use store::StoreError;
use store::urls::NewUrl;

use crate::intake::Intake;
use crate::runtime::events::Event;

/// What became of seeds.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedSeeds {
    /// Queued now.
    pub accepted: u64,
    /// In the queue already, or twice among the seeds, or of a host that was given up lately.
    pub already_known: u64,
    /// Not crawled, and why; as given.
    pub rejected: Vec<(String, UrlError)>,
}

/// Queues seeds.
pub async fn add_seeds(intake: &Intake, seeds: &[String]) -> Result<AddedSeeds, StoreError> {
    let mut sown = AddedSeeds::default();
    let mut urls = Vec::with_capacity(seeds.len());
    for seed in seeds {
        match CrawlUrl::parse(seed) {
            Ok(url) => urls.push(NewUrl { url, redirects: 0 }),
            Err(error) => sown.rejected.push((seed.clone(), error)),
        }
    }
    sown.accepted = store::urls::queue(&intake.store, &urls, intake.clock.now()).await?;
    sown.already_known = (urls.len() as u64).saturating_sub(sown.accepted);
    intake.events.emit(Event::SeedsAdded);
    Ok(sown)
}
