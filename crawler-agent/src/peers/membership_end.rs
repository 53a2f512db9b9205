//! The end of a membership: the owner does not want the agent in a region any more, or it is in
//! another one.

use std::path::Path;

use super::{
    PeersError,
    disk::{self, PeersDisk},
    note_counts::NoteCounts,
    worker::{Batch, Worker, report},
};
use crate::frontier::{Change, FrontierHandle, HostNumber};

/// Hands the hosts of the former region back to the coordinator, with the URLs that wait for other
/// agents, and forgets the region. While the agent was away, others may have got its hosts without
/// a notice to it. The coordinator gives back those that are still its own.
pub(super) fn end(dir: &Path, store: &FrontierHandle) -> Result<(), PeersError> {
    if !disk::file(dir).exists() {
        return Ok(());
    }
    let disk = PeersDisk::open(dir)?;
    if disk.membership()?.is_none() {
        return Ok(());
    }
    let handed_back = hand_back(&disk, store, |host| {
        store.apply_wholly(&Change::HandBack { host })?;
        Ok(())
    })?;
    let writing = disk.write()?;
    writing.forget_region()?;
    writing.commit()?;
    tracing::info!(hosts = handed_back, "left the region: its hosts are handed back");
    Ok(())
}

impl Worker {
    /// Forgets the region, as if the owner had wanted none and then another one.
    pub(super) fn leave(&mut self, batch: &mut Batch) -> Result<(), PeersError> {
        // Nobody of the next region waits for what the member was about to send.
        batch.sends.clear();
        self.finish(std::mem::take(batch))?;
        let handed_back = hand_back(&self.disk, &self.store, |host| {
            self.drop_number(host, &Change::HandBack { host }, batch)
        })?;
        batch.has_results = true;
        self.noted = NoteCounts::default();
        self.writing(batch)?.forget_region()?;
        tracing::info!(hosts = handed_back, "left the region: its hosts are handed back");
        Ok(())
    }
}

/// Hands all hosts back to the coordinator, each by `hand_back_one`, with the URLs that wait for
/// other agents; returns the number of hosts.
fn hand_back(
    disk: &PeersDisk,
    store: &FrontierHandle,
    mut hand_back_one: impl FnMut(HostNumber) -> Result<(), PeersError>,
) -> Result<u64, PeersError> {
    let mut handed_back = 0;
    for url in disk.hosts()? {
        if let Some(host) = store.host_number(url.url.host_key_str())? {
            hand_back_one(host)?;
            handed_back += 1;
        }
    }
    let waiting = disk.waiting()?;
    store.apply(Change::Report { reports: waiting.iter().map(report).collect() })?;
    // Before the file, which still names the hosts if this process ends now.
    store.sync_here()?;
    Ok(handed_back)
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;
    use protocol::Route;
    use region::{Settings, lease::Promises, roster::Version};

    use super::*;
    use crate::{
        frontier::{Bounds, Frontier},
        peers::{
            core,
            disk::FormerMembership,
            worker::{self, tests::routed},
        },
    };

    #[tokio::test]
    async fn an_agent_that_joins_another_region_keeps_nothing_of_the_former_one() {
        let dir = tempfile::tempdir().unwrap();
        let mut worker = worker::tests::worker(dir.path());
        let bounds = Bounds { pages_a_host: 10, depth: 1 };
        let route = Route { seq: 1, url: "http://shared.test/".into(), redirects: 0 };
        let routes = Change::Routes { routes: vec![route], at: UnixMillis(1), bounds };
        worker.store.apply(routes).unwrap();
        let mut batch = Batch::default();
        let writing = worker.writing(&mut batch).unwrap();
        writing.add_host(&routed("http://shared.test/")).unwrap();
        writing.keep(&routed("http://waiting.test/")).unwrap();
        writing.note(&routed("http://noted.test/"), true).unwrap();
        writing.set_loan(UnixMillis(7)).unwrap();
        worker.leave(&mut batch).unwrap();
        worker.finish(batch).unwrap();
        assert_eq!(worker.store.host_number("http://shared.test").unwrap(), None);
        assert_eq!(worker.store.counts().unwrap().results, 2, "the host, and what waited");
        assert!(worker.disk.hosts().unwrap().is_empty());
        assert!(worker.disk.waiting().unwrap().is_empty());
        assert!(worker.disk.membership().unwrap().is_none());
        let noted = routed("http://noted.test/").host.position;
        assert!(worker.disk.write().unwrap().notes(noted).unwrap().is_empty());
    }

    #[tokio::test]
    async fn an_agent_that_wants_no_region_hands_its_hosts_back_and_keeps_its_promises() {
        let dir = tempfile::tempdir().unwrap();
        let frontier = Frontier::open(dir.path(), 7).unwrap();
        let (store, _failure) = FrontierHandle::start(frontier).unwrap();
        let urls = ["http://shared.test/", "http://own.test/"];
        let routes = (1..).zip(urls).map(|(seq, url)| Route { seq, url: url.into(), redirects: 0 });
        let bounds = Bounds { pages_a_host: 10, depth: 1 };
        let routes = Change::Routes { routes: routes.collect(), at: UnixMillis(1), bounds };
        store.apply(routes).unwrap();
        let disk = PeersDisk::open(dir.path()).unwrap();
        let writing = disk.write().unwrap();
        let view = core::tests::view();
        let floor = Version { epoch: 1, delta: 0 };
        let promises = Promises { floor, ..Promises::default() };
        writing.set_view(&view).unwrap();
        writing.set_settings(&Settings::default()).unwrap();
        writing.set_promises(&promises).unwrap();
        writing.add_host(&routed(urls[0])).unwrap();
        writing.add_host(&routed("http://noted.test/")).unwrap();
        writing.keep(&routed("http://waiting.test/")).unwrap();
        writing.commit().unwrap();
        drop(disk);
        for _ in 0..2 {
            end(dir.path(), &store).unwrap();
            assert_eq!(store.host_number("http://shared.test").unwrap(), None);
            assert!(store.host_number("http://own.test").unwrap().is_some());
            assert_eq!(store.counts().unwrap().results, 2, "one host, and what waited");
        }
        let disk = PeersDisk::open(dir.path()).unwrap();
        assert!(disk.membership().unwrap().is_none() && disk.hosts().unwrap().is_empty());
        let region = view.alleged_region().unwrap();
        let former = FormerMembership { region, promises: Some(promises) };
        assert_eq!(disk.former_membership().unwrap(), Some(former));
    }
}
