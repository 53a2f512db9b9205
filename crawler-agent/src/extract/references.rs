//! References of a document as they are written, bounded in number and bytes.

use model::UnixMillis;

/// Memory of a resolved link in addition to its text, in bytes.
const RESOLVED_BYTES: usize = 256;

/// References in their order.
#[derive(Debug)]
pub(super) struct References {
    list: Vec<Reference>,
    bytes: usize,
    most: Bound,
}

/// A reference with its text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Reference {
    /// Target as it is written.
    pub(super) target: String,
    /// Text of the link.
    pub(super) anchor: String,
    pub(super) rel: Rel,
    /// When the target changed last, as a sitemap states it.
    pub(super) modified: Option<UnixMillis>,
}

/// What a document says of its relation to the target of a link.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rel {
    /// The link must not be followed.
    pub nofollow: bool,
    /// A user of the site made the link.
    pub ugc: bool,
    /// The link is an advertisement.
    pub sponsored: bool,
}

impl Rel {
    /// The words of a `rel` attribute.
    pub(super) fn of_words(words: &str) -> Self {
        let has = |wanted| has_word(words, wanted);
        Self { nofollow: has("nofollow"), ugc: has("ugc"), sponsored: has("sponsored") }
    }
}

/// Whether a list of words, like that of a `rel` attribute, has this one.
pub(super) fn has_word(words: &str, wanted: &str) -> bool {
    words.split_ascii_whitespace().any(|word| word.eq_ignore_ascii_case(wanted))
}

/// Most references of a document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bound {
    /// Number of references.
    pub(super) count: usize,
    /// Bytes of all references.
    pub(super) bytes: usize,
}

impl References {
    pub(super) fn new(most: Bound) -> Self {
        Self { list: Vec::new(), bytes: 0, most }
    }

    /// Adds a reference, unless it is too much; returns whether it was added.
    pub(super) fn add(&mut self, target: String, rel: Rel) -> bool {
        let bytes = self.bytes + target.len();
        let fits = !self.is_full() && bytes <= self.most.bytes;
        if fits {
            self.bytes = bytes;
            self.list.push(Reference { target, rel, ..Reference::default() });
        }
        fits
    }

    /// Gives the last reference its text, unless that is too much.
    pub(super) fn set_anchor(&mut self, anchor: &str) {
        let bytes = self.bytes + anchor.len();
        if let Some(last) = self.list.last_mut()
            && bytes <= self.most.bytes
        {
            self.bytes = bytes;
            anchor.clone_into(&mut last.anchor);
        }
    }

    /// Gives the last reference the time of its last change.
    pub(super) fn set_modified(&mut self, modified: UnixMillis) {
        if let Some(last) = self.list.last_mut() {
            last.modified = Some(modified);
        }
    }

    /// Whether there are as many as there may be.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= self.most.count
    }

    /// Memory of the references and of the links that become of them, in bytes.
    pub(super) fn held(&self) -> usize {
        let resolved = self.bytes + self.list.len() * RESOLVED_BYTES;
        self.list.capacity() * size_of::<Reference>() + self.bytes + resolved
    }

    pub(super) fn into_list(self) -> Vec<Reference> {
        self.list
    }
}
