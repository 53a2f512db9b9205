//! Background task: queues the indexed pages of hosts that lost their agent with all that it knew.
//!
//! The next agent visits them all: those that are gone leave the search, and the others are visited
//! again from now on.

use std::sync::Arc;

use model::CrawlUrl;
use store::lost_hosts;
use store::urls::NewUrl;
use tokio::task::spawn_blocking;

use crate::packages::Packages;
use crate::packages::index_gaps::IndexGaps;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// URLs that are queued by one run.
const STEP: usize = 1_000;
/// URLs that may wait for an agent before more are queued for it.
const WAITING: u32 = 5_000;
/// Packages by which the index may be behind: a few are always on their way.
const BEHIND: u64 = 100;

/// Queues the next pages of one host.
pub async fn run(parts: &Packages) -> Result<Outcome, anyhow::Error> {
    let Some(host) = lost_hosts::next(&parts.store, WAITING).await? else {
        return Ok(Outcome::Idle);
    };
    // An index that is being built anew lacks pages.
    if IndexGaps::read(parts).await?.waiting > BEHIND {
        return Ok(Outcome::Idle);
    }
    let index = Arc::clone(&parts.index);
    let wanted = host.clone();
    let listing = spawn_blocking(move || index.urls_of_host(&wanted.key, &wanted.queued_to, STEP));
    let found = listing.await??;
    let parsed = found.urls.iter().filter_map(|url| CrawlUrl::parse(url).ok());
    let pages: Vec<NewUrl> = parsed.map(|url| NewUrl { url, redirects: 0 }).collect();
    let next = found.next.as_deref();
    let now = parts.clock.now();
    let queued = lost_hosts::queue_pages(&parts.store, &host, &pages, next, now).await?;
    Ok(Outcome::More(format!("queued {} of {}", quantity(queued, "page"), host.key)))
}
