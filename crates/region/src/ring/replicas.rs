//! Points of an agent on the circle.

use rand_mt::Mt64;

/// The points of the agent with this public key, in a fixed order: an agent with more replicas has
/// those of an agent with fewer, and further ones. The generator is MT19937-64, as in UbiCrawler
/// section 4, seeded by the key as four little-endian words.
pub fn replicas(key: &[u8; 32]) -> impl Iterator<Item = u64> + use<> {
    let mut words = [0_u64; 4];
    for (word, bytes) in words.iter_mut().zip(key.chunks_exact(8)) {
        *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    }
    let mut generator = Mt64::new_with_key(words);
    std::iter::repeat_with(move || generator.next_u64())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first output of the reference implementation of 2004 for the key 0x12345, 0x23456,
    /// 0x34567, 0x45678.
    #[test]
    fn the_generator_is_the_reference_one() {
        let mut key = [0; 32];
        for (word, bytes) in [0x12345_u64, 0x23456, 0x34567, 0x45678].iter().zip(key.chunks_mut(8))
        {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        assert_eq!(replicas(&key).next(), Some(7_266_447_313_870_364_031));
    }

    #[test]
    fn more_replicas_include_the_fewer() {
        let few: Vec<u64> = replicas(&[7; 32]).take(100).collect();
        let many: Vec<u64> = replicas(&[7; 32]).take(200).collect();
        assert_eq!(few, many[..100]);
        assert_ne!(few[0], replicas(&[8; 32]).next().unwrap());
    }
}
