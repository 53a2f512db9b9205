//! Notes by host, bounded: other members say what is noted, and may have any number of URLs.

use std::collections::HashMap;

use region::HostPosition;

/// Most notes of a host: about as many URLs as a bundle has.
const NOTES_OF_HOST: u32 = 100_000;
/// Most notes of all hosts, which take some gigabytes on disk.
const NOTES: u64 = 10_000_000;

/// Number of notes of each host that has any.
#[derive(Debug, Default)]
pub(super) struct NoteCounts {
    by_host: HashMap<HostPosition, u32>,
    all: u64,
}

impl NoteCounts {
    /// Whether the host may have one more.
    pub(super) fn has_room(&self, host: HostPosition) -> bool {
        self.all < NOTES && self.by_host.get(&host).is_none_or(|count| *count < NOTES_OF_HOST)
    }

    pub(super) fn add(&mut self, host: HostPosition) {
        *self.by_host.entry(host).or_default() += 1;
        self.all += 1;
    }

    /// All notes of the host are taken; returns whether there were any.
    pub(super) fn remove(&mut self, host: HostPosition) -> bool {
        let removed = self.by_host.remove(&host);
        self.all -= u64::from(removed.unwrap_or(0));
        removed.is_some()
    }
}

impl FromIterator<HostPosition> for NoteCounts {
    /// The counts of notes with these hosts.
    fn from_iter<I: IntoIterator<Item = HostPosition>>(hosts: I) -> Self {
        let mut counts = Self::default();
        hosts.into_iter().for_each(|host| counts.add(host));
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_a_bounded_number_of_notes() {
        let [one, other] = [1, 2].map(HostPosition);
        let mut counts: NoteCounts = (0..NOTES_OF_HOST).map(|_| one).collect();
        assert!(!counts.has_room(one) && counts.has_room(other));
        assert!(counts.remove(one) && !counts.remove(one));
        assert!(counts.has_room(one));
        assert_eq!(counts.all, 0);
        counts.all = NOTES;
        assert!(!counts.has_room(other));
    }
}
