//! Crawls sites with the crate `spider`, for a comparison.
//!
//! Its arguments are a file with the root of each site, one a line, and the delay between requests
//! in milliseconds. Sites share 64 requests at a time.

use std::env::args;
use std::fs::read_to_string;

use anyhow::Context as _;
use futures_util::{StreamExt as _, stream};
use spider::website::Website;

/// Requests at a time.
const REQUESTS: usize = 64;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut args = args().skip(1);
    let path = args.next().context("the file with the seeds is missing")?;
    let delay_ms: u64 = args.next().context("the delay is missing")?.parse()?;
    let seeds = read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let seeds: Vec<String> = seeds.lines().map(str::to_owned).collect();
    // One request at a time at each of many sites; all of them at a single one.
    let of_a_site = (REQUESTS / seeds.len().max(1)).max(1);
    stream::iter(seeds)
        .for_each_concurrent(REQUESTS, |seed| async move {
            let mut site = Website::new(&seed);
            site.with_respect_robots_txt(true)
                .with_delay(delay_ms)
                .with_depth(0)
                .with_concurrency_limit(Some(of_a_site));
            site.crawl().await;
        })
        .await;
    Ok(())
}
