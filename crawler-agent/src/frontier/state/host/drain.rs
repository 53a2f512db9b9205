//! URLs and pages of a host that end in large numbers, a part at a time.

use model::UnixMillis;

use super::Host;
use crate::frontier::{FrontierError, PageRecord, disk::Disk};

impl Host {
    /// Removes up to `most` URLs of the queue; returns them with the number of their redirects.
    pub(in crate::frontier::state) fn drain_queue(
        &mut self,
        disk: &Disk,
        most: usize,
    ) -> Result<Vec<(String, u8)>, FrontierError> {
        let drained = self.queue.pop_firsts(most, disk.queue(self.number))?.into_iter();
        let url_of = |path| format!("{}{path}", self.record.key);
        Ok(drained.map(|(_, queued)| (url_of(queued.path), queued.redirects)).collect())
    }

    /// Turns up to `most` URLs of the queue into pages without content, as visited at `at`; returns
    /// them. They are visited again, because the host may answer later.
    pub(in crate::frontier::state) fn give_queue_up(
        &mut self,
        disk: &Disk,
        most: usize,
        at: UnixMillis,
    ) -> Result<Vec<String>, FrontierError> {
        let mut ended = Vec::new();
        for ((depth, order), queued) in self.queue.pop_firsts(most, disk.queue(self.number))? {
            let page = PageRecord::without_content(queued.path.into(), depth);
            ended.push(format!("{}{}", self.record.key, page.path));
            self.insert_page(at, order, page);
        }
        Ok(ended)
    }

    /// Removes up to `most` pages; returns their URLs.
    pub(in crate::frontier::state) fn drain_pages(
        &mut self,
        disk: &Disk,
        most: usize,
    ) -> Result<Vec<String>, FrontierError> {
        let drained = self.pages.pop_firsts(most, disk.pages(self.number))?.into_iter();
        Ok(drained.map(|(_, page)| format!("{}{}", self.record.key, page.path)).collect())
    }
}
