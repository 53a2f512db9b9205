//! Background task: looks up the addresses of hosts.

use std::net::IpAddr;

use futures_util::{StreamExt as _, stream};
use model::{CrawlUrl, HostId};
use store::hosts::{self, FailedLookup, UnresolvedHost};
use url::Host;

use crate::intake::Intake;
use crate::intake::dns::LookupError;
use crate::runtime::back_off::retry_ms;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts in one batch.
const BATCH: u32 = 512;
/// Attempts if the DNS answers that the name has no address.
const ATTEMPTS_WITHOUT_ADDRESS: u32 = 3;
/// After this time a new URL makes a host that was given up be looked up again, in milliseconds.
const GIVEN_UP_MS: i64 = 24 * 3_600_000;

/// Looks up the addresses of hosts. After a failure it tries again with growing pauses, and finally
/// gives the host up with the reason.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let waiting = hosts::list_unresolved(&intake.store, BATCH, intake.clock.now()).await?;
    if waiting.is_empty() {
        return Ok(Outcome::Idle);
    }
    let count = waiting.len();
    let at_once = intake.limits.resolving_hosts as usize;
    let mut looked_up = stream::iter(waiting)
        .map(|host| async move {
            let address = look_up(intake, &host.authority).await;
            (host, address)
        })
        .buffer_unordered(at_once)
        .ready_chunks(BATCH as usize);
    // Stored as they arrive: a slow name does not delay the others.
    while let Some(answers) = looked_up.next().await {
        store_results(intake, answers).await?;
    }
    let outcome = format!("looked {} up", quantity(count, "host"));
    Ok(if count == BATCH as usize { Outcome::More(outcome) } else { Outcome::Done(outcome) })
}

async fn look_up(intake: &Intake, authority: &str) -> Result<IpAddr, LookupError> {
    let url = CrawlUrl::of_host("http", authority).ok();
    match url.as_ref().and_then(CrawlUrl::host) {
        Some(Host::Domain(name)) => intake.dns.address(name).await,
        Some(Host::Ipv4(address)) => Ok(address.into()),
        Some(Host::Ipv6(address)) => Ok(IpAddr::from(address).to_canonical()),
        None => Err(LookupError::NoAddress(authority.to_owned())),
    }
}

async fn store_results(
    intake: &Intake,
    looked_up: Vec<(UnresolvedHost, Result<IpAddr, LookupError>)>,
) -> Result<(), store::StoreError> {
    let mut found: Vec<(HostId, IpAddr)> = Vec::new();
    let mut failed: Vec<FailedLookup> = Vec::new();
    for (host, address) in looked_up {
        match address {
            Ok(address) => found.push((host.id, address)),
            Err(error) => failed.push(failure(intake, &host, &error)),
        }
    }
    if !failed.is_empty() {
        hosts::record_failed_lookups(&intake.store, &failed).await?;
    }
    if !found.is_empty() {
        hosts::set_addresses(&intake.store, &found).await?;
        intake.events.emit(Event::HostsResolved);
    }
    Ok(())
}

fn failure(intake: &Intake, host: &UnresolvedHost, error: &LookupError) -> FailedLookup {
    let limit = match error {
        LookupError::NoAddress(_) => ATTEMPTS_WITHOUT_ADDRESS,
        LookupError::NoAnswer { .. } => intake.limits.resolve_attempts,
    };
    let give_up = host.attempts + 1 >= limit;
    let pause = if give_up { GIVEN_UP_MS } else { retry_ms(host.attempts) };
    let retry_at = intake.clock.now().plus_ms(pause);
    FailedLookup { id: host.id, reason: error.to_string(), retry_at, give_up }
}
