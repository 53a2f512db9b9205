//! Entries before they are packed: how they are stored, and the memory that they take.
//!
//! An entry is stored in the postcard format, so that it is written and read without memory for
//! each of its texts.

use std::ops::Deref;

use model::ErrorKind;

use crate::page::{Discovered, Entry, Failure, Fetch, Outcome, Page};

/// Memory of a value without its texts, in bytes.
const VALUE_BYTES: usize = 64;

/// An entry as bytes, for storage until it is packed.
pub fn encode_entry(entry: &Entry) -> Vec<u8> {
    // Room for all texts and lengths, so that the bytes are rarely moved.
    let bytes = Vec::with_capacity(entry.size());
    // Fails only for types of unknown length or a full buffer; an entry has neither.
    postcard::to_extend(entry, bytes).unwrap_or_default()
}

impl<'a> Entry<&'a str> {
    /// The entry that [`encode_entry`] wrote.
    pub fn read(bytes: &'a [u8]) -> Result<Self, postcard::Error> {
        match postcard::take_from_bytes(bytes)? {
            (entry, []) => Ok(entry),
            _ => Err(postcard::Error::DeserializeBadEncoding),
        }
    }

    /// The same fetch, failed for this reason; other entries stay.
    #[must_use]
    pub fn failed(self, cause: ErrorKind, reason: &'a str) -> Self {
        match self {
            Self::Fetch(mut fetch) => {
                fetch.outcome = Outcome::Failed(Failure { cause, reason });
                Self::Fetch(fetch)
            }
            Self::Discovered(_) => self,
        }
    }
}

impl<T: Deref<Target = str>> Entry<T> {
    /// Takes the memory of the entry from a budget; false where it is too small.
    pub(super) fn charge(&self, budget: &mut u64) -> bool {
        let rest = budget.checked_sub(self.size() as u64);
        *budget = rest.unwrap_or(*budget);
        rest.is_some()
    }

    /// Approximate memory of the entry if it owns its texts, in bytes.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Fetch(fetch) => fetch.size(),
            Self::Discovered(found) => found.size(),
        }
    }
}

impl<T: Deref<Target = str>> Discovered<T> {
    pub(super) fn size(&self) -> usize {
        VALUE_BYTES + self.url.len()
    }
}

impl<T: Deref<Target = str>> Fetch<T> {
    pub(super) fn size(&self) -> usize {
        let content = match &self.outcome {
            Outcome::Page(page) => page.size(),
            Outcome::Redirect { location: text, .. }
            | Outcome::Other { media_type: Some(text), .. }
            | Outcome::Failed(Failure { reason: text, .. }) => text.len(),
            Outcome::Other { media_type: None, .. }
            | Outcome::Disallowed { .. }
            | Outcome::Unchanged { .. } => 0,
        };
        2 * VALUE_BYTES + self.url.len() + content
    }
}

impl<T: Deref<Target = str>> Page<T> {
    fn size(&self) -> usize {
        let Self { media_type, charset, lang, title, headings, text, canonical, links, .. } = self;
        let texts = [media_type, charset, title, headings, text].into_iter();
        let texts: usize = texts.chain(lang).chain(canonical).map(|text| text.len()).sum();
        let links = links.iter().map(|link| VALUE_BYTES + link.url.len() + link.anchor.len());
        2 * VALUE_BYTES + texts + links.sum::<usize>()
    }
}
