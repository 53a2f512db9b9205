//! Column of strings: many short strings end to end in one allocation.

#[derive(Debug, Clone, Default)]
pub(crate) struct StringColumn {
    pub(crate) joined: String,
    /// End of each string in `joined`, in bytes.
    pub(crate) ends: Vec<u64>,
}

impl StringColumn {
    pub(crate) fn push(&mut self, text: &str) {
        self.joined.push_str(text);
        self.ends.push(self.joined.len() as u64);
    }

    pub(crate) fn get(&self, place: usize) -> Option<&str> {
        let end = *self.ends.get(place)? as usize;
        let start = place.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        self.joined.get(start..end)
    }

    pub(crate) fn shrink(&mut self) {
        self.joined.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}
