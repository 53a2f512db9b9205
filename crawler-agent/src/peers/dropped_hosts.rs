//! Hosts that the agent has no more: others have them, or their region is none of the agent's.

use region::{HostPosition, message::RoutedUrl};

use super::{
    PeersError,
    worker::{Batch, Worker},
};
use crate::frontier::{Change, HostNumber};

impl Worker {
    /// Drops the host of a URL by a change that is applied until nothing of it is left.
    pub(super) fn drop_host(
        &mut self,
        url: &RoutedUrl,
        change: impl Fn(HostNumber) -> Change,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        self.apply_adopted(batch)?;
        self.noted.remove(url.host.position);
        self.remove_host(url.host.position, batch)?;
        if let Some(number) = self.store.host_number(url.url.host_key_str())? {
            self.drop_number(number, &change(number), batch)?;
        }
        Ok(())
    }

    /// Drops the host with this number from the frontier by a change.
    pub(super) fn drop_number(
        &self,
        number: HostNumber,
        change: &Change,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        self.schedule.retire(number);
        batch.has_results |= self.store.apply_wholly(change)?;
        self.schedule.forget(number);
        Ok(())
    }

    /// Removes a host from those of the region, with its address.
    pub(super) fn remove_host(
        &self,
        host: HostPosition,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        self.shared.with_core(|core| core.forget_address(host));
        self.writing(batch)?.remove_host(host)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use model::UnixMillis;
    use protocol::Route;
    use region::Effect;

    use crate::{
        frontier::{Bounds, Change},
        peers::worker::{self, Batch},
    };

    /// The agent joined another region before the worker came to the effects of the former one, so
    /// that the addresses of its hosts are forgotten.
    #[tokio::test]
    async fn hosts_are_dropped_though_their_addresses_are_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let mut worker = worker::tests::worker(dir.path());
        let bounds = Bounds { pages_a_host: 10, depth: 1 };
        let texts = ["http://moved.test/", "http://outside.test/"];
        let routes =
            (1..).zip(texts).map(|(seq, url)| Route { seq, url: url.into(), redirects: 0 });
        let routes = Change::Routes { routes: routes.collect(), at: UnixMillis(1), bounds };
        worker.store.apply(routes).unwrap();
        let [moved, outside] = texts.map(worker::tests::routed);
        let mut batch = Batch::default();
        let writing = worker.writing(&mut batch).unwrap();
        writing.add_host(&moved).unwrap();
        writing.add_host(&outside).unwrap();
        worker.effect(Effect::Drop(moved), &mut batch).unwrap();
        worker.effect(Effect::HandBack(outside), &mut batch).unwrap();
        worker.leave(&mut batch).unwrap();
        worker.finish(batch).unwrap();
        for text in ["http://moved.test", "http://outside.test"] {
            assert_eq!(worker.store.host_number(text).unwrap(), None, "{text}");
        }
        assert_eq!(worker.store.counts().unwrap().results, 1, "the host that is handed back");
    }
}
