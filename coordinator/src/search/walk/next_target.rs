//! Another address, where one is silent.

use delegation::target::{Silence, Target};
use protocol::UnixMillis;
use store::probes;
use store::searches::{OpenSearch, Sibling};

use crate::intake::url::host_and_port;

/// Known addresses of a subnet that are looked at.
pub(super) const SIBLINGS: u32 = 64;
/// So many silent addresses, and the subnet is silent.
const TRIES: usize = 3;

/// Another address of the subnet than the one that is silent now.
pub(super) fn next_target(
    search: &OpenSearch,
    siblings: &[Sibling],
    now: UnixMillis,
) -> Option<probes::Target> {
    let mut silence = Silence::default();
    let silent =
        siblings.iter().filter_map(|sibling| Some((sibling.address, sibling.silent_since?)));
    silent.for_each(|(address, since)| silence.note(address, since));
    silence.note(search.target, now);
    let addresses: Vec<_> = siblings.iter().map(|sibling| sibling.address).collect();
    let tried = addresses.iter().filter(|address| silence.holds(**address, now)).count();
    match silence.target(search.target, &addresses, now) {
        Target::Address(address) if tried < TRIES => {
            let sibling = siblings.iter().find(|sibling| sibling.address == address)?;
            let (_, port) = host_and_port(&sibling.scheme, &sibling.authority)?;
            Some(probes::Target { address, host: sibling.authority.clone(), port })
        }
        // The order of the search asked for HEAD as well; nothing is left to try.
        Target::Address(_) | Target::Head(_) => None,
    }
}
