//! What becomes of a URL that was visited: a page, nothing, or a URL of the queue in the spelling
//! that the server prefers.

use model::url::fingerprint;
use protocol::page::MAX_REDIRECTS;

use super::{
    State,
    host::{Arrival, Host, QueuedPath},
};
use crate::frontier::{
    Done, Effect, FrontierError, PageHistory, PageRecord, VisitedUrl, disk::Disk,
};

/// What was found of a visited URL.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Filed {
    /// Whether it was in the queue.
    pub(super) was_queued: bool,
    /// Whether it was redirected to another spelling of itself.
    pub(super) is_respelled: bool,
    /// Whether it was a page with content, and is none any more.
    pub(super) has_lost_content: bool,
}

/// Takes the visited URL from the queue, or its page from the pages, and stores its new page.
pub(super) fn file(host: &mut Host, disk: &Disk, done: &Done) -> Result<Filed, FrontierError> {
    match done.item {
        VisitedUrl::Queued { key } => {
            let queued = host.dequeue(disk, key)?;
            let mut was_queued = queued.is_some();
            let is_respelled = queued.is_some_and(|queued| respells(host, done, &queued.path));
            if was_queued && done.page.is_none() && !is_respelled {
                host.url_has_ended();
            }
            if let Some(page) = done.page.as_ref().filter(|_| !is_respelled) {
                // The URL left the queue during the visit because another agent had fetched it, and
                // may have come again as a page or as a URL that waits.
                if !was_queued {
                    host.remove_page_at(disk, &page.path)?;
                    was_queued = host.dequeue_path(disk, &page.path)?;
                }
                host.insert_page(done.fetched_at, key.1, page.clone());
            }
            Ok(Filed { was_queued, is_respelled, has_lost_content: false })
        }
        VisitedUrl::Page { key, past } => {
            let stored = host.remove_page(disk, key)?;
            let is_respelled = stored.as_ref().is_some_and(|page| respells(host, done, &page.path));
            let has_content = |page: &PageRecord| page.has_content();
            let has_lost_content = stored.as_ref().is_some_and(has_content)
                && !done.page.as_ref().is_some_and(has_content);
            // An order settled the host during the visit; the record in `done` is from before.
            let is_settled = stored.is_some_and(|stored| stored.past != past);
            match &done.page {
                // The URL takes the place of its page in the bound of the host.
                _ if is_respelled => {}
                None => host.page_is_gone(),
                Some(page) => {
                    let past = if is_settled { PageHistory::default() } else { page.past };
                    let page = PageRecord { past, ..page.clone() };
                    host.insert_page(done.fetched_at, key.1, page);
                }
            }
            Ok(Filed { was_queued: false, is_respelled, has_lost_content })
        }
    }
}

/// Whether the URL with this path was redirected to another spelling of itself that may be
/// requested, such as one without a campaign. The host has the fingerprint already, so that the
/// target would never be fetched as a URL of its own.
fn respells(host: &Host, done: &Done, path: &str) -> bool {
    let Some(target) = &done.target else { return false };
    let key = &host.record.key;
    target.host_key_str() == key
        && target.path_and_query() != path
        && done.redirects < MAX_REDIRECTS
        && done.depth <= done.bounds.depth
        && target.fingerprint() == fingerprint(&format!("{key}{path}"))
}

impl State {
    /// Queues the other spelling to which a visited URL was redirected. Both count as one URL,
    /// which was accepted before.
    pub(super) fn queue_respelled(
        &mut self,
        disk: &Disk,
        done: &Done,
        effect: &mut Effect,
    ) -> Result<(), FrontierError> {
        let order = self.next_order();
        let Some(target) = &done.target else { return Ok(()) };
        let Some(host) = self.hosts.get_mut(disk, done.host)? else { return Ok(()) };
        let path = target.path_and_query().into();
        let redirects = done.redirects.saturating_add(1);
        host.queue.insert((done.depth, order), QueuedPath { path, redirects, attempts: 0 });
        effect.ready.push((done.host, host.record.due));
        self.hosts.queued += 1;
        Ok(())
    }

    /// Queues the target of a redirect again to which a page has moved, where the target was
    /// visited before and ended, such as the old address of a site that moves back to it. Returns
    /// whether it is queued.
    pub(super) fn queue_ended(
        &mut self,
        disk: &Disk,
        target: &Arrival<'_>,
        effect: &mut Effect,
    ) -> Result<bool, FrontierError> {
        let Some(number) = self.hosts.number(target.url.host_key_str()) else { return Ok(false) };
        let order = self.totals.next_order;
        let Some(host) = self.hosts.get(disk, number)? else { return Ok(false) };
        if host.record.key != target.url.host_key_str() || !host.has_ended(disk, target.url)? {
            return Ok(false);
        }
        self.totals.next_order += 1;
        host.is_changed = true;
        // It counts again as when it was queued first. A handover sees by it that the host changed.
        host.record.accepted = host.record.accepted.saturating_add(1);
        host.queue.insert((target.depth, order), target.queued());
        if !effect.ready.iter().any(|(ready, _)| *ready == number) {
            effect.ready.push((number, host.record.due));
        }
        self.hosts.queued += 1;
        Ok(true)
    }
}
