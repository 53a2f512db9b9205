//! Entries that are read here and there.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use memmap2::{Advice, MmapMut};
use yoke::Yoke;
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// Linux's larger pages.
const LARGE_PAGE: usize = 2 << 20;

/// Numbers that do not change any more. Many of them lie in large pages where the system has some
/// to give: the processor knows where few pages are, and would have to look up each of many small
/// ones in tables that are far away themselves.
#[derive(Clone)]
pub(super) struct Table<T: 'static>(Yoke<&'static [T], Arc<Room<T>>>);

/// Where they are.
enum Room<T> {
    Small(Vec<T>),
    Large { pages: MmapMut, bytes: usize },
}

impl<T: FromBytes + IntoBytes + Immutable + KnownLayout> Table<T> {
    pub(super) fn new(mut entries: Vec<T>) -> Self {
        let bytes = entries.as_bytes().len();
        let room = if let Some(pages) = large_pages(entries.as_bytes()) {
            Room::Large { pages, bytes }
        } else {
            entries.shrink_to_fit();
            Room::Small(entries)
        };
        Self(Yoke::<&'static [T], _>::attach_to_cart(Arc::new(room), |room: &Room<T>| {
            room.entries()
        }))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&**self)
    }
}

impl<T: FromBytes + Immutable + KnownLayout> Room<T> {
    fn entries(&self) -> &[T] {
        match self {
            Self::Small(entries) => entries,
            Self::Large { pages, bytes } => pages
                .get(..*bytes)
                .and_then(|bytes| <[T]>::ref_from_bytes(bytes).ok())
                .unwrap_or_default(),
        }
    }
}

/// A copy in large pages; `None` where there are none, or the bytes would not fill one.
fn large_pages(bytes: &[u8]) -> Option<MmapMut> {
    if bytes.len() < LARGE_PAGE {
        return None;
    }
    let mut pages = MmapMut::map_anon(bytes.len().next_multiple_of(LARGE_PAGE)).ok()?;
    pages.advise(Advice::HugePage).ok()?;
    pages.get_mut(..bytes.len())?.copy_from_slice(bytes);
    Some(pages)
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        self.0.get()
    }
}

impl<T> fmt::Debug for Table<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entries", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_entries_are_kept_as_they_are() {
        for many in [0, 1, 1_000, LARGE_PAGE as u32 / 4, LARGE_PAGE as u32] {
            let entries: Vec<u32> = (0..many).collect();
            let table = Table::new(entries.clone());
            assert!(*table == *entries, "{many}");
            let copy = table.clone();
            drop(table);
            assert!(*copy == *entries, "{many}, of a copy");
            assert_eq!(copy.heap_bytes(), 4 * many as usize);
        }
    }
}
