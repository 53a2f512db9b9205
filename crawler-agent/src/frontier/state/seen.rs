//! URLs of a host that were ever queued.
//!
//! Fingerprints since the last checkpoint are in a set. Older ones are in sorted runs on disk,
//! which are read when a link of the host is looked up, and may be dropped from memory at any time.
//! As in a log-structured merge tree, a new run is merged with the last ones unless they are much
//! longer. So the lengths of the runs at least halve from one to the next, a host with n
//! fingerprints has O(log n) runs, and each fingerprint is written O(log n) times.

use std::collections::HashSet;

use crate::frontier::FrontierError;

/// A fingerprint within one host, of [`SEEN_BITS`].
pub(in crate::frontier) type SeenUrl = u64;

/// Bits of a fingerprint: two of 10,000 URLs are equal in one of 10⁹ hosts.
pub(in crate::frontier) const SEEN_BITS: u32 = 56;

/// The fingerprint in the lowest bits of a number.
pub(in crate::frontier) fn shortened(bits: u64) -> SeenUrl {
    bits & ((1 << SEEN_BITS) - 1)
}

/// Runs that are longer than the new one by this factor are not merged with it.
const MERGE_FACTOR: usize = 2;

/// A sorted run of fingerprints.
#[derive(Debug)]
struct Run {
    number: u32,
    length: usize,
    /// None where they are only on disk.
    values: Option<Vec<SeenUrl>>,
}

/// Fingerprints of the URLs of a host.
#[derive(Debug, Default)]
pub(in crate::frontier) struct SeenUrls {
    fresh: HashSet<SeenUrl>,
    /// The oldest first.
    runs: Vec<Run>,
}

/// Changes of the fingerprints for a checkpoint.
#[derive(Debug)]
pub(in crate::frontier) struct SeenChanges {
    /// Numbers of runs to delete, before the new one is written.
    pub(in crate::frontier) deleted: Vec<u32>,
    /// Number and values of the new run.
    pub(in crate::frontier) written: (u32, Vec<SeenUrl>),
}

impl SeenUrls {
    /// Fingerprints in runs on disk with these numbers and lengths.
    pub(in crate::frontier) fn on_disk(runs: &[(u32, u32)]) -> Self {
        let run = |(number, length): &(u32, u32)| Run {
            number: *number,
            length: *length as usize,
            values: None,
        };
        Self { fresh: HashSet::new(), runs: runs.iter().map(run).collect() }
    }

    /// Numbers and lengths of the runs.
    pub(in crate::frontier) fn runs(&self) -> Vec<(u32, u32)> {
        let length = |run: &Run| u32::try_from(run.length).unwrap_or(u32::MAX);
        self.runs.iter().map(|run| (run.number, length(run))).collect()
    }

    /// Adds a fingerprint that is not there.
    pub(in crate::frontier) fn add(&mut self, url: SeenUrl) {
        self.fresh.insert(url);
    }

    /// Whether the fingerprint was added. `read` reads a run by its number.
    pub(in crate::frontier) fn contains(
        &mut self,
        url: SeenUrl,
        read: impl Fn(u32) -> Result<Vec<SeenUrl>, FrontierError>,
    ) -> Result<bool, FrontierError> {
        if self.fresh.contains(&url) {
            return Ok(true);
        }
        for run in &mut self.runs {
            if run.values(&read)?.binary_search(&url).is_ok() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Number of the fingerprints.
    pub(in crate::frontier) fn len(&self) -> usize {
        self.fresh.len() + self.runs.iter().map(|run| run.length).sum::<usize>()
    }

    /// All fingerprints, in no order.
    pub(in crate::frontier) fn all(
        &mut self,
        read: impl Fn(u32) -> Result<Vec<SeenUrl>, FrontierError>,
    ) -> Result<Vec<SeenUrl>, FrontierError> {
        let mut all: Vec<SeenUrl> = self.fresh.iter().copied().collect();
        for run in &mut self.runs {
            all.extend_from_slice(run.values(&read)?);
        }
        Ok(all)
    }

    /// Takes what a checkpoint has to write; none where nothing is new.
    pub(in crate::frontier) fn changes(
        &mut self,
        read: impl Fn(u32) -> Result<Vec<SeenUrl>, FrontierError>,
    ) -> Result<Option<SeenChanges>, FrontierError> {
        if self.fresh.is_empty() {
            return Ok(None);
        }
        let mut values: Vec<SeenUrl> = std::mem::take(&mut self.fresh).into_iter().collect();
        let mut deleted = Vec::new();
        while let Some(mut run) =
            self.runs.pop_if(|last| last.length <= values.len().saturating_mul(MERGE_FACTOR))
        {
            deleted.push(run.number);
            values.extend(run.take(&read)?);
        }
        values.sort_unstable();
        let number = self.runs.last().map_or(0, |run| run.number + 1);
        self.runs.push(Run { number, length: values.len(), values: Some(values.clone()) });
        Ok(Some(SeenChanges { deleted, written: (number, values) }))
    }

    /// Drops the runs from memory; all must be on disk.
    pub(in crate::frontier) fn drop_runs(&mut self) {
        for run in &mut self.runs {
            run.values = None;
        }
    }

    /// Bytes in memory, about.
    pub(in crate::frontier) fn bytes(&self) -> usize {
        let runs = self.runs.iter().map(|run| run.values.as_ref().map_or(0, Vec::len));
        // A set has more slots than entries, and a control byte for each.
        self.fresh.capacity() * 10 + runs.sum::<usize>() * 8
    }
}

impl Run {
    fn values(
        &mut self,
        read: impl Fn(u32) -> Result<Vec<SeenUrl>, FrontierError>,
    ) -> Result<&[SeenUrl], FrontierError> {
        let values = self.take(read)?;
        Ok(self.values.insert(values))
    }

    /// Takes the values, from disk if they are not in memory.
    fn take(
        &mut self,
        read: impl Fn(u32) -> Result<Vec<SeenUrl>, FrontierError>,
    ) -> Result<Vec<SeenUrl>, FrontierError> {
        let values = match self.values.take() {
            Some(values) => values,
            None => read(self.number)?,
        };
        // Otherwise URLs would be fetched again without any error.
        if values.len() == self.length { Ok(values) } else { Err(FrontierError::Seen) }
    }
}
