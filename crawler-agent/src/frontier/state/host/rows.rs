//! Rows of a host: what a checkpoint writes of it, and what of it may leave memory then.

use std::sync::Arc;

use super::Host;
use crate::frontier::{
    FrontierError, HostNumber, RobotsState,
    disk::{
        Disk,
        rows::{self, HostRow},
        work::WorkEntry,
    },
    state::{
        seen::SeenChanges,
        window::{PageKey, QueueKey, WindowChanges},
    },
};

/// Changes of a host for a checkpoint.
pub(in crate::frontier) struct HostChanges {
    pub(in crate::frontier) number: HostNumber,
    pub(in crate::frontier) row: HostRow,
    pub(in crate::frontier) robots: RobotsChange,
    pub(in crate::frontier) queue: WindowChanges<QueueKey>,
    pub(in crate::frontier) pages: WindowChanges<PageKey>,
    pub(in crate::frontier) seen: Option<SeenChanges>,
    /// Whether links to it are on disk that are decided.
    pub(in crate::frontier) has_decided: bool,
}

/// What a checkpoint does with the state of robots.txt.
pub(in crate::frontier) enum RobotsChange {
    None,
    Set(Arc<RobotsState>),
    Delete,
}

impl Host {
    /// What the host has to do.
    pub(in crate::frontier) fn work(
        &mut self,
        disk: &Disk,
    ) -> Result<Option<WorkEntry>, FrontierError> {
        let revisit_base = if self.has_queued() {
            None
        } else {
            let Some(base) = self.first_revisit_base(disk)? else { return Ok(None) };
            Some(base)
        };
        let crawl_delay_ms = self.crawl_delay_ms().unwrap_or(0);
        let host = self.number;
        Ok(Some(WorkEntry { host, due: self.record.due, crawl_delay_ms, revisit_base }))
    }

    fn crawl_delay_ms(&self) -> Option<u32> {
        self.robots.as_ref().and_then(|robots| robots.delay_ms())
    }

    /// The host's row.
    fn row(&mut self, disk: &Disk) -> Result<HostRow, FrontierError> {
        Ok(HostRow {
            revisit_base: self.first_revisit_base(disk)?,
            record: self.record.clone(),
            crawl_delay_ms: self.crawl_delay_ms(),
            queued: u32::try_from(self.queue.len()).unwrap_or(u32::MAX),
            pages: u32::try_from(self.pages.len()).unwrap_or(u32::MAX),
            seen_runs: self.seen.runs(),
        })
    }

    /// Takes what a checkpoint has to write of this host.
    pub(in crate::frontier::state) fn changes(
        &mut self,
        disk: &Disk,
    ) -> Result<HostChanges, FrontierError> {
        let seen = self.seen.changes(disk.seen_runs(self.number))?;
        let has_new_rules = std::mem::take(&mut self.has_new_rules);
        let changes = HostChanges {
            number: self.number,
            row: self.row(disk)?,
            robots: match (has_new_rules, self.robots.clone()) {
                (false, _) => RobotsChange::None,
                (true, Some(state)) => RobotsChange::Set(state),
                (true, None) => RobotsChange::Delete,
            },
            queue: self.queue.changes(rows::encode)?,
            pages: self.pages.changes(rows::encode)?,
            seen,
            has_decided: std::mem::take(&mut self.has_decided),
        };
        self.is_changed = false;
        self.is_being_written = true;
        Ok(changes)
    }

    /// The checkpoint with the last changes is complete.
    pub(in crate::frontier::state) fn committed(&mut self) {
        self.is_being_written = false;
        self.queue.committed();
        self.pages.committed();
    }

    /// Drops the fingerprints that are on disk from memory, unless they are being written.
    pub(in crate::frontier::state) fn drop_seen(&mut self) {
        if !self.is_being_written {
            self.seen.drop_runs();
        }
    }

    /// Whether everything of the host is on disk.
    pub(in crate::frontier::state) fn is_on_disk_only(&self) -> bool {
        !self.is_changed && !self.is_being_written
    }
}
