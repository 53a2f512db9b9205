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
        let number = self.number;
        let read = |from, most| disk.queue(number, from, most);
        let mut drained = Vec::new();
        while drained.len() < most {
            let Some((_, queued)) = self.queue.pop_first(read)? else { break };
            drained.push((format!("{}{}", self.record.key, queued.path), queued.redirects));
        }
        Ok(drained)
    }

    /// Turns up to `most` URLs of the queue into pages without content, as visited at `at`; returns
    /// them. Whatever keeps the host from answering may end.
    pub(in crate::frontier::state) fn give_queue_up(
        &mut self,
        disk: &Disk,
        most: usize,
        at: UnixMillis,
    ) -> Result<Vec<String>, FrontierError> {
        let number = self.number;
        let read = |from, most| disk.queue(number, from, most);
        let mut ended = Vec::new();
        while ended.len() < most {
            let Some(((depth, order), queued)) = self.queue.pop_first(read)? else { break };
            let page = PageRecord::without_content(queued.path.into(), depth);
            ended.push(format!("{}{}", self.record.key, page.path));
            self.insert_page((at.0, order), page);
        }
        Ok(ended)
    }

    /// Removes up to `most` pages; returns their URLs.
    pub(in crate::frontier::state) fn drain_pages(
        &mut self,
        disk: &Disk,
        most: usize,
    ) -> Result<Vec<String>, FrontierError> {
        let number = self.number;
        let read = |from, most| disk.pages(number, from, most);
        let mut drained = Vec::new();
        while drained.len() < most {
            let Some((_, record)) = self.pages.pop_first(read)? else { break };
            drained.push(format!("{}{}", self.record.key, record.path));
        }
        Ok(drained)
    }
}
