//! Rows of the file, in the [postcard] format: fields in their order, integers as varints.

use std::collections::BTreeMap;

use model::UnixMillis;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use crate::frontier::{FrontierError, HostRecord, state::numbers::is_possible};

/// Version of the rows and of the log that is written.
pub(in crate::frontier) const FORMAT: u32 = 9;

/// A host, without its URLs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::frontier) struct HostRow {
    pub(in crate::frontier) record: HostRecord,
    /// Crawl-delay of its rules, in milliseconds.
    pub(in crate::frontier) crawl_delay_ms: Option<u32>,
    /// Number of URLs in its queue.
    pub(in crate::frontier) queued: u32,
    pub(in crate::frontier) pages: u32,
    /// The earliest revisit base of its pages.
    pub(in crate::frontier) revisit_base: Option<UnixMillis>,
    /// Number and length of each run of fingerprints, the oldest first.
    pub(in crate::frontier) seen_runs: Vec<(u32, u32)>,
}

/// Counters and small sets of the whole frontier.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::frontier) struct Totals {
    /// Version of the format.
    pub(in crate::frontier) format: u32,
    /// Epoch of the agent's package names.
    pub(in crate::frontier) epoch: u64,
    /// First segment of the log that this state lacks.
    pub(in crate::frontier) segment: u64,
    pub(in crate::frontier) next_order: u64,
    pub(in crate::frontier) next_package: u64,
    pub(in crate::frontier) routes_after: u64,
    pub(in crate::frontier) queued: u64,
    pub(in crate::frontier) fetched: u64,
    pub(in crate::frontier) wire_bytes: u64,
    /// Packages that are not acknowledged, with their sizes in bytes.
    pub(in crate::frontier) packages: BTreeMap<u64, u64>,
    /// Number of an executed host order, to (last result before it, number after that of the
    /// package that holds this result; 0 when it is not packed yet).
    pub(in crate::frontier) orders: BTreeMap<u64, (u64, u64)>,
}

impl Totals {
    /// The totals of an empty frontier.
    pub(in crate::frontier) fn new(epoch: u64) -> Self {
        Self {
            format: FORMAT,
            epoch,
            segment: 0,
            next_order: 1,
            next_package: 1,
            routes_after: 0,
            queued: 0,
            fetched: 0,
            wire_bytes: 0,
            packages: BTreeMap::new(),
            orders: BTreeMap::new(),
        }
    }

    /// Whether the format is this one, and no counter lies where none can get.
    pub(in crate::frontier) fn is_plausible(&self) -> bool {
        let counters = [self.segment, self.next_order, self.next_package, self.routes_after];
        self.format == FORMAT && counters.into_iter().all(is_possible)
    }
}

pub(in crate::frontier) fn encode(row: &impl Serialize) -> Result<Vec<u8>, FrontierError> {
    Ok(postcard::to_allocvec(row)?)
}

/// Decodes a row.
pub(in crate::frontier) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, FrontierError> {
    Ok(postcard::from_bytes(bytes)?)
}
