//! Lists with a bound, for messages of others. An entry of one byte in a message, such as an empty
//! text, takes many bytes in memory. So the number of entries is checked while they are read.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};

struct Bounded<T, const MOST: usize>(PhantomData<T>);

/// Reads a list of at most `MOST` entries.
pub fn at_most<'de, const MOST: usize, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_seq(Bounded::<T, MOST>(PhantomData))
}

impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Bounded<T, MOST> {
    type Value = Vec<T>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of at most {MOST} entries")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Vec<T>, A::Error> {
        let mut list = Vec::new();
        while let Some(entry) = entries.next_element()? {
            if list.len() == MOST {
                return Err(A::Error::invalid_length(MOST + 1, &self));
            }
            list.push(entry);
        }
        Ok(list)
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Short(#[serde(deserialize_with = "at_most::<3, _, _>")] Vec<Option<u8>>);

    #[test]
    fn a_longer_list_is_refused() {
        let list = vec![None::<u8>; 3];
        let bytes = postcard::to_allocvec(&list).unwrap();
        assert_eq!(postcard::from_bytes(&bytes), Ok(Short(list)));
        let bytes = postcard::to_allocvec(&vec![None::<u8>; 4]).unwrap();
        assert!(postcard::from_bytes::<Short>(&bytes).is_err());
    }
}
