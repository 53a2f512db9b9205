//! Next target of a search whose present target is silent.

use delegation::target::{KnownAddress, next_address};
use model::{CrawlUrl, UnixMillis};
use store::probes;
use store::searches::{OpenSearch, Sibling};

/// Known addresses of a subnet that are considered.
pub(super) const SIBLINGS: u32 = 64;

/// Another address of the subnet than the one that is silent now.
pub(super) fn next_target(
    search: &OpenSearch,
    siblings: &[Sibling],
    now: UnixMillis,
) -> Option<probes::Target> {
    let known = |sibling: &Sibling| {
        let is_target = sibling.address == search.target;
        (sibling.address, if is_target { Some(now) } else { sibling.silent_since })
    };
    let addresses: Vec<KnownAddress> = siblings.iter().map(known).collect();
    let address = next_address(&addresses, now)?;
    let sibling = siblings.iter().find(|sibling| sibling.address == address)?;
    let port = CrawlUrl::of_host(&sibling.scheme, &sibling.authority).ok()?.port();
    Some(probes::Target { address, host: sibling.authority.clone(), port })
}
