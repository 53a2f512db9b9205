//! References of a document as they are written, bounded in number and bytes.

/// Memory of a resolved link in addition to its text, in bytes.
const RESOLVED_BYTES: usize = 160;

/// References in their order.
#[derive(Debug)]
pub(super) struct References {
    list: Vec<String>,
    bytes: usize,
    most: Bound,
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

    /// Adds a reference, unless it is too much.
    pub(super) fn add(&mut self, reference: String) {
        let bytes = self.bytes + reference.len();
        if !self.is_full() && bytes <= self.most.bytes {
            self.bytes = bytes;
            self.list.push(reference);
        }
    }

    /// Whether there are as many as there may be.
    pub(super) fn is_full(&self) -> bool {
        self.list.len() >= self.most.count
    }

    /// Memory of the references and of the links that become of them, in bytes.
    pub(super) fn held(&self) -> usize {
        let resolved = self.bytes + self.list.len() * RESOLVED_BYTES;
        self.list.capacity() * size_of::<String>() + self.bytes + resolved
    }

    pub(super) fn into_list(self) -> Vec<String> {
        self.list
    }
}
