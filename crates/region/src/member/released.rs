//! Hosts that the coordinator took from this member because their addresses are outside the region.

use std::collections::BTreeMap;

use crate::ownership::HostPosition;
use crate::time::Millis;

/// How long URLs with the former address go to the coordinator: longer than members remember the
/// addresses of links.
const REMEMBERED_MS: u64 = 2 * 86_400_000;

/// Released hosts, with the time until which each is remembered.
#[derive(Debug, Clone, Default)]
pub(super) struct ReleasedHosts(BTreeMap<HostPosition, Millis>);

impl ReleasedHosts {
    pub(super) fn add(&mut self, host: HostPosition, now: Millis) {
        self.0.retain(|_, until| *until > now);
        self.0.insert(host, now.plus(REMEMBERED_MS));
    }

    pub(super) fn remove(&mut self, host: HostPosition) {
        self.0.remove(&host);
    }

    pub(super) fn contains(&self, host: HostPosition, now: Millis) -> bool {
        self.0.get(&host).is_some_and(|until| *until > now)
    }
}
