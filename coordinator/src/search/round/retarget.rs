//! Searches whose target is silent: another address of the subnet, or the end of the search.

use std::time::Duration;

use delegation::target::{KnownAddress, next_address};
use model::{CrawlUrl, UnixMillis};
use store::searches::{self, OpenSearch, Retries, SubnetAddress};
use store::{StoreError, probes};

use crate::runtime::back_off::GIVEN_UP_MS;
use crate::runtime::events::Event;
use crate::search::round::SearchRound;

/// Known addresses of a subnet that are considered.
const SIBLINGS: u32 = 64;

/// Pauses before the hosts of a silent subnet are tried again, after each of their searches the
/// next one. The last one makes the final search come at another time of the day: agents that sleep
/// now may reach what the others do not, such as hosts with IPv6 alone.
const PAUSES: [Duration; 3] =
    [Duration::from_secs(16), Duration::from_mins(20), Duration::from_hours(11)];

impl SearchRound<'_> {
    /// Replaces the search by one for another address of the subnet that was not silent lately.
    /// Returns whether there is such an address.
    pub(super) async fn retarget(&mut self, search: &OpenSearch) -> Result<bool, StoreError> {
        let store = &self.parts.store;
        let now = self.parts.clock.now();
        let siblings = searches::addresses_in_subnet(store, &search.subnet, SIBLINGS).await?;
        let Some(target) = next_target(search, &siblings, now) else { return Ok(false) };
        let done = searches::retarget(store, search.id, &target, now).await?;
        self.counts.retargeted += usize::from(done);
        self.parts.events.emit(Event::SearchReady);
        Ok(done)
    }

    /// Ends a search whose target answered no agent, unless another address is left to try.
    pub(super) async fn end_unanswered(&mut self, search: &OpenSearch) -> Result<(), StoreError> {
        if self.retarget(search).await? {
            return Ok(());
        }
        let now = self.parts.clock.now();
        let reason = format!("no agent got an answer from {}", search.target);
        let retries = Retries {
            next_at: PAUSES.map(|pause| now.plus(pause)),
            attempts: self.parts.limits.search_attempts,
            given_up_until: now.plus_ms(GIVEN_UP_MS),
        };
        self.counts.ended += 1;
        searches::end_unanswered(&self.parts.store, search.id, &reason, retries, now).await
    }
}

fn next_target(
    search: &OpenSearch,
    siblings: &[SubnetAddress],
    now: UnixMillis,
) -> Option<probes::Target> {
    let known = |sibling: &SubnetAddress| {
        // The silence of the present target is not stored yet.
        let is_target = sibling.address == search.target;
        (sibling.address, if is_target { Some(now) } else { sibling.silent_since })
    };
    let addresses: Vec<KnownAddress> = siblings.iter().map(known).collect();
    let address = next_address(&addresses, now)?;
    let sibling = siblings.iter().find(|sibling| sibling.address == address)?;
    let port = CrawlUrl::of_host(&sibling.scheme, &sibling.authority).ok()?.port();
    Some(probes::Target { address, host: sibling.authority.clone(), port })
}
