//! Hosts get an address.

use std::net::IpAddr;

use futures_util::{StreamExt as _, stream};
use model::{CrawlUrl, HostId};
use store::hosts::{self, FailedLookup, Unresolved};
use url::Host;

use crate::intake::Intake;
use crate::intake::dns::LookupError;
use crate::runtime::events::Event;
use crate::runtime::outcome::Outcome;
use crate::runtime::quantity::quantity;

/// Hosts in one batch.
const BATCH: u32 = 512;
/// First pause after a failure, in milliseconds; doubled each time.
const PAUSE_MS: i64 = 1_000;
/// Longest pause, in milliseconds.
const PAUSE_LIMIT_MS: i64 = 600_000;
/// Attempts when the DNS says that there is no address.
const ATTEMPTS_WITHOUT_ADDRESS: u32 = 3;
/// A new URL revives a host that was given up after this, in milliseconds.
const GIVEN_UP_MS: i64 = 24 * 3_600_000;

/// Looks up the addresses of hosts. A name that does not answer is tried again with growing pauses,
/// then given up with the reason.
pub async fn run(intake: &Intake) -> Result<Outcome, anyhow::Error> {
    let waiting = hosts::unresolved(&intake.store, BATCH, intake.clock.now()).await?;
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
    // As they come: names that do not answer hold nobody up.
    while let Some(answers) = looked_up.next().await {
        write_down(intake, answers).await?;
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

async fn write_down(
    intake: &Intake,
    looked_up: Vec<(Unresolved, Result<IpAddr, LookupError>)>,
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
        hosts::not_resolved(&intake.store, &failed).await?;
    }
    if !found.is_empty() {
        hosts::resolved(&intake.store, &found).await?;
        intake.events.emit(Event::HostsResolved);
    }
    Ok(())
}

fn failure(intake: &Intake, host: &Unresolved, error: &LookupError) -> FailedLookup {
    let limit = match error {
        LookupError::NoAddress(_) => ATTEMPTS_WITHOUT_ADDRESS,
        LookupError::NoAnswer { .. } => intake.limits.resolve_attempts,
    };
    let give_up = host.attempts + 1 >= limit;
    let pause = if give_up { GIVEN_UP_MS } else { pause_ms(host.attempts) };
    let retry_at = intake.clock.now().plus_ms(pause);
    FailedLookup { id: host.id, reason: error.to_string(), retry_at, give_up }
}

/// The pause after `attempts` failures and one more, in milliseconds.
pub(crate) fn pause_ms(attempts: u32) -> i64 {
    PAUSE_MS.saturating_mul(1 << attempts.min(20)).min(PAUSE_LIMIT_MS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_grow_to_ten_minutes() {
        assert_eq!([0, 1, 5, 30].map(pause_ms), [1_000, 2_000, 32_000, 600_000]);
    }
}
