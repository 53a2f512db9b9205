//! Background task: queues the indexed pages of hosts that lost their agent with all that it knew.
//!
//! The next agent visits them all: those that are gone leave the search, and the others are visited
//! again from now on.

use std::sync::Arc;

use model::CrawlUrl;
use store::lost_hosts::{self, LostHost};
use store::urls::NewUrl;
use tokio::task::spawn_blocking;

use crate::packages::Packages;
use crate::packages::index_gaps::IndexGaps;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// URLs of one host that are queued at once.
const STEP: usize = 1_000;
/// Hosts of one run.
const HOSTS: u32 = 100;
/// URLs after which a run takes no further host: all may be for one agent.
const MOST: u64 = 5_000;
/// URLs that may wait for an agent before more are queued for it.
const WAITING: u32 = 5_000;
/// Packages by which the index may be behind: a few are always on their way.
const BEHIND: u64 = 100;

/// Queues the next pages of some hosts.
pub async fn run(parts: &Packages) -> Result<Outcome, anyhow::Error> {
    let hosts = lost_hosts::next(&parts.store, WAITING, HOSTS).await?;
    // An index that is being rebuilt lacks pages.
    if hosts.is_empty() || IndexGaps::read(parts).await?.waiting > BEHIND {
        return Ok(Outcome::Idle);
    }
    let mut queued = 0;
    let mut done = 0;
    for host in hosts {
        queued += queue_pages(parts, host).await?;
        done += 1;
        if queued >= MOST {
            break;
        }
    }
    let pages = quantity(queued, "page");
    Ok(Outcome::More(format!("queued {pages} of {}", quantity(done, "host"))))
}

async fn queue_pages(parts: &Packages, host: LostHost) -> Result<u64, anyhow::Error> {
    let index = Arc::clone(&parts.index);
    let wanted = host.clone();
    let listing = spawn_blocking(move || index.urls_of_host(&wanted.key, &wanted.queued_to, STEP));
    let found = listing.await??;
    let parsed = found.urls.iter().filter_map(|url| CrawlUrl::parse(url).ok());
    let pages: Vec<NewUrl> = parsed.map(|url| NewUrl { url, redirects: 0 }).collect();
    let next = found.next.as_deref();
    let now = parts.clock.now();
    Ok(lost_hosts::queue_pages(&parts.store, &host, &pages, next, now).await?)
}
