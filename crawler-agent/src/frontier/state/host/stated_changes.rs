//! Pages that are visited again earlier because a sitemap states that they changed.

use model::{UnixMillis, url::fingerprint};

use super::{super::window::PageKey, Host};
use crate::frontier::{FrontierError, StatedChanges, disk::Disk};

impl Host {
    /// Pages that changed since their last visits by the word of a sitemap, with their new advances
    /// in seconds. Reads all pages of the host.
    pub(in crate::frontier) fn changed_pages(
        &mut self,
        disk: &Disk,
        stated: &StatedChanges,
    ) -> Result<Vec<(PageKey, u32)>, FrontierError> {
        let pages = self.pages.all(disk.pages(self.number))?;
        let changed = pages.filter_map(|((base, order), page)| {
            let url = fingerprint(&format!("{}{}", self.record.key, page.path));
            let visited = page.changes.visited(UnixMillis(base));
            let advance_s = stated.advance_s(url, visited, page.changes)?;
            Some(((base, order), advance_s))
        });
        Ok(changed.collect())
    }

    /// Lets pages be visited again earlier, with these advances in seconds.
    pub(in crate::frontier) fn bring_forward(
        &mut self,
        disk: &Disk,
        pages: &[(PageKey, u32)],
    ) -> Result<(), FrontierError> {
        for (key, advance_s) in pages {
            if let Some(mut page) = self.remove_page(disk, *key)? {
                let visited = page.changes.visited(UnixMillis(key.0));
                page.changes.advance_s = *advance_s;
                self.insert_page(visited, key.1, page);
            }
        }
        Ok(())
    }
}
