//! Links between the pages of a host.

use std::ops::Range;

use rand::RngExt as _;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;

/// Children of a page in the tree.
pub const FAN_OUT: u32 = 8;

/// Random links of a page.
pub const CROSS_LINKS: usize = 8;

/// Pages that a page links to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Links {
    /// Children in the tree.
    pub children: Range<u32>,
    /// Random pages, repetitions and the page itself included, as on real sites.
    pub cross: [u32; CROSS_LINKS],
}

/// The links of a page of a host with `pages` pages.
pub fn links(host: u32, page: u32, pages: u32) -> Links {
    let first = page.saturating_mul(FAN_OUT).saturating_add(1);
    let after = first.saturating_add(FAN_OUT);
    let mut random = stream(host, page, 1);
    Links {
        children: first.min(pages)..after.min(pages),
        cross: std::array::from_fn(|_| random.random_range(0..pages.max(1))),
    }
}

/// Random numbers for one topic of a page.
pub(super) fn stream(host: u32, page: u32, topic: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&host.to_le_bytes());
    key[4..8].copy_from_slice(&page.to_le_bytes());
    key[8..16].copy_from_slice(&topic.to_le_bytes());
    ChaCha8Rng::from_seed(key)
}
