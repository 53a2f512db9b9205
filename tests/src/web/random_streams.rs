//! Random streams by name: every part of the web draws from its own, so that a change of one part
//! leaves the others as they were.

use rand::SeedableRng as _;
use rand::seq::IndexedRandom as _;
use rand_chacha::ChaCha8Rng;

/// What a stream is for.
#[derive(Debug, Clone, Copy)]
pub(super) enum Topic {
    Sizes = 1,
    Tree,
    Extras,
    Cross,
    Prose,
    Words,
    Queries,
    Bytes,
}

/// The stream of draws for a topic and two numbers, such as host and page.
pub(super) fn stream(seed: u64, topic: Topic, a: u64, b: u64) -> ChaCha8Rng {
    let mut key = [0; 32];
    for (place, part) in key.chunks_exact_mut(8).zip([seed, topic as u64, a, b]) {
        place.copy_from_slice(&part.to_le_bytes());
    }
    ChaCha8Rng::from_seed(key)
}

/// One of a list that is never empty by construction; the default if it is.
pub(super) fn pick<T: Copy + Default>(list: &[T], random_streams: &mut ChaCha8Rng) -> T {
    list.choose(random_streams).copied().unwrap_or_default()
}
