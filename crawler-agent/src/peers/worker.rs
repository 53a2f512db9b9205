//! Worker: the thread that executes what the member asks for, in its order. What is to be stored is
//! on disk before a later message leaves. Everything that waits is stored by one sync.

use std::{
    sync::{
        Arc,
        mpsc::{Receiver, Sender, channel},
    },
    time::Duration,
};

use model::{CrawlPolicy, UnixMillis};
use region::{
    Effect, HostPosition, Peer, Settings,
    effect::BundleToPack,
    lease::Promises,
    message::{Message, RoutedUrl, UrlPurpose},
    ownership::SignedView,
};
use tokio::sync::{oneshot, watch};

use super::{
    PeersError, Shared,
    disk::{PeersDisk, WriteBatch},
    host_urls::HostUrls,
    note_counts::NoteCounts,
};
use crate::{
    clock,
    frontier::{AdoptedUrl, Bounds, Change, FrontierHandle, HostActivity, Report},
    outbox::PackTrigger,
    schedule::Schedule,
};

/// Most works that one sync stores.
const BATCH: usize = 2_000;
/// Most URLs of one change of the frontier.
pub(super) const URLS: usize = 500;

/// Something to be done.
pub(super) enum Work {
    /// An effect of the member.
    Effect(Effect),
    /// The member knows a further host.
    AddHost(RoutedUrl),
    /// The agent is no member of its region any more.
    Leave,
    /// The agent became a member. Without promises, which an earlier membership may have made, the
    /// next start takes them as lost.
    Join { view: Box<SignedView>, settings: Settings, promises: Option<Promises> },
    /// The loan ends then.
    Loan(UnixMillis),
    /// The operator's settings changed.
    Policy(Box<CrawlPolicy>),
    /// Everything before is stored.
    Stored(oneshot::Sender<()>),
}

/// What the worker works on.
pub(super) struct Worker {
    pub(super) disk: PeersDisk,
    pub(super) store: FrontierHandle,
    pub(super) schedule: Arc<Schedule>,
    pub(super) pack_trigger: Arc<PackTrigger>,
    pub(super) policy: watch::Receiver<CrawlPolicy>,
    /// The owner's least pause between two requests to a host.
    pub(super) host_delay: Duration,
    pub(super) shared: Arc<Shared>,
    pub(super) noted: NoteCounts,
}

/// What one batch has collected.
#[derive(Default)]
pub(super) struct Batch {
    writing: Option<WriteBatch>,
    pub(super) adopted: Vec<AdoptedUrl>,
    reports: Vec<Report>,
    /// Whether there are results to pack that no visit left.
    pub(super) has_results: bool,
    pub(super) sends: Vec<(Peer, Message)>,
    stored: Vec<oneshot::Sender<()>>,
}

impl Worker {
    /// Starts the thread. It ends when the sender is dropped; the error goes to the receiver.
    pub(super) fn start(
        self,
    ) -> std::io::Result<(Sender<Vec<Work>>, oneshot::Receiver<PeersError>)> {
        let (works, coming) = channel();
        let (failed, failure) = oneshot::channel();
        std::thread::Builder::new().name("region".into()).spawn(move || {
            if let Err(error) = self.run(&coming) {
                // There is no receiver when the agent is stopping.
                drop(failed.send(error));
            }
        })?;
        Ok((works, failure))
    }

    fn run(mut self, coming: &Receiver<Vec<Work>>) -> Result<(), PeersError> {
        while let Ok(first) = coming.recv() {
            let mut works = first;
            while works.len() < BATCH
                && let Ok(more) = coming.try_recv()
            {
                works.extend(more);
            }
            let mut batch = Batch::default();
            for work in works {
                self.execute(work, &mut batch)?;
            }
            self.finish(batch)?;
        }
        Ok(())
    }

    fn execute(&mut self, work: Work, batch: &mut Batch) -> Result<(), PeersError> {
        match work {
            Work::Effect(effect) => self.effect(effect, batch)?,
            Work::AddHost(url) => self.writing(batch)?.add_host(&url)?,
            Work::Leave => self.leave(batch)?,
            Work::Join { view, settings, promises } => {
                let writing = self.writing(batch)?;
                writing.set_view(&view)?;
                writing.set_settings(&settings)?;
                match promises {
                    Some(promises) => writing.set_promises(&promises)?,
                    None => writing.forget_promises()?,
                }
            }
            Work::Loan(until) => self.writing(batch)?.set_loan(until)?,
            Work::Policy(policy) => self.writing(batch)?.set_policy(&policy)?,
            Work::Stored(stored) => batch.stored.push(stored),
        }
        Ok(())
    }

    pub(super) fn effect(&mut self, effect: Effect, batch: &mut Batch) -> Result<(), PeersError> {
        match effect {
            Effect::Send(to, message) => batch.sends.push((to, message)),
            Effect::SavePromises(promises) => self.writing(batch)?.set_promises(&promises)?,
            Effect::SaveView(view) => self.writing(batch)?.set_view(&view)?,
            Effect::SaveCopied(copied) => self.writing(batch)?.set_copied(&copied)?,
            Effect::Keep(url) => self.writing(batch)?.keep(&url)?,
            Effect::Forget(urls) => {
                let writing = self.writing(batch)?;
                urls.iter().try_for_each(|url| writing.forget(url))?;
            }
            Effect::Accept(url) => self.adopt(&url, batch)?,
            Effect::Note(url) => self.note(&url, batch)?,
            Effect::Foreign(url) => {
                self.writing(batch)?.forget(&url)?;
                batch.reports.push(report(&url));
            }
            Effect::Pack(packing) => self.pack(packing, batch)?,
            Effect::Store(bundle) => {
                self.store_bundle(&bundle, batch)?;
                let bytes = bundle.bytes.len();
                self.shared.with_core(|core| core.bundle_is_stored(bytes));
            }
            Effect::Drop(url) => self.drop_host(&url, |host| Change::Drop { host }, batch)?,
            Effect::HandBack(url) => {
                self.drop_host(&url, |host| Change::HandBack { host }, batch)?;
            }
            Effect::LeaveRegion(url) => {
                self.adopt_notes(url.host.position, batch)?;
                self.remove_host(url.host.position, batch)?;
            }
        }
        Ok(())
    }

    /// Queues a URL. With the first one after a takeover come those that were noted.
    fn adopt(&mut self, url: &RoutedUrl, batch: &mut Batch) -> Result<(), PeersError> {
        self.adopt_notes(url.host.position, batch)?;
        batch.adopted.push(adopted(url));
        Ok(())
    }

    pub(super) fn note(&mut self, url: &RoutedUrl, batch: &mut Batch) -> Result<(), PeersError> {
        let host = url.host.position;
        let has_room = self.noted.has_room(host);
        if self.writing(batch)?.note(url, has_room)? {
            self.noted.add(host);
        }
        Ok(())
    }

    pub(super) fn adopt_notes(
        &mut self,
        host: HostPosition,
        batch: &mut Batch,
    ) -> Result<(), PeersError> {
        if self.noted.remove(host) {
            let notes = self.writing(batch)?.take_notes(host)?;
            batch.adopted.extend(notes.iter().map(adopted));
        }
        Ok(())
    }

    /// Packs a host, unless a request to it is running: then the member asks again.
    fn pack(&mut self, packing: BundleToPack, batch: &mut Batch) -> Result<(), PeersError> {
        self.apply_adopted(batch)?;
        let BundleToPack { host, is_copy, .. } = packing;
        let Some(front) = self.shared.front(host.position) else { return Ok(()) };
        let known = self.store.host_number(front.host_key_str())?;
        let is_running =
            known.is_some_and(|number| self.schedule.activity(number) == HostActivity::Running);
        if is_running && !is_copy {
            return Ok(());
        }
        let mut urls = match known {
            Some(number) => HostUrls::of(&self.store, number)?,
            None => HostUrls::default(),
        };
        urls.add_notes(self.writing(batch)?.notes(host.position)?);
        let bytes = urls.encode()?;
        let mut effects = Vec::new();
        self.shared.with_core(|core| core.member.packed(packing, bytes, &mut effects));
        effects.into_iter().try_for_each(|effect| self.effect(effect, batch))
    }

    pub(super) fn writing<'b>(&self, batch: &'b mut Batch) -> Result<&'b WriteBatch, PeersError> {
        if batch.writing.is_none() {
            batch.writing = Some(self.disk.write()?);
        }
        batch.writing.as_ref().ok_or(PeersError::Closed)
    }

    pub(super) fn apply_adopted(&self, batch: &mut Batch) -> Result<(), PeersError> {
        let at = clock::now();
        let urls = std::mem::take(&mut batch.adopted);
        for urls in urls.chunks(URLS) {
            self.apply(Change::Adopt { urls: urls.to_vec(), at, bounds: self.bounds() }, at)?;
        }
        Ok(())
    }

    /// Applies a change that may give hosts work.
    pub(super) fn apply(&self, change: Change, at: UnixMillis) -> Result<(), PeersError> {
        for (host, due) in self.store.apply(change)?.ready {
            // The last request of its former agent may have ended just now.
            self.schedule.offer(host, due, at, self.delay());
        }
        Ok(())
    }

    pub(super) fn finish(&self, mut batch: Batch) -> Result<(), PeersError> {
        let has_urls = !batch.adopted.is_empty() || !batch.reports.is_empty();
        self.apply_adopted(&mut batch)?;
        if !batch.reports.is_empty() {
            let reports = std::mem::take(&mut batch.reports);
            self.store.apply(Change::Report { reports })?;
            batch.has_results = true;
        }
        if batch.has_results {
            self.pack_trigger.add(0);
        }
        // The receiver never fetches what it takes for fetched, so that the fetch must be on disk.
        let tells_fetched = batch.sends.iter().any(|(_, message)| has_fetched(message));
        if has_urls || tells_fetched || batch.writing.is_some() {
            // Before the file, which forgets notes that are in the frontier from now on.
            self.store.sync_here()?;
        }
        if let Some(writing) = batch.writing {
            writing.commit()?;
        }
        for (to, message) in batch.sends {
            self.shared.outgoing.send(to, message);
        }
        for stored in batch.stored {
            // There is no receiver if the visit was cut off.
            let _ = stored.send(());
        }
        Ok(())
    }

    fn delay(&self) -> Duration {
        let policy = Duration::from_millis(self.policy.borrow().host_delay_ms.into());
        self.host_delay.max(policy)
    }

    fn bounds(&self) -> Bounds {
        let policy = *self.policy.borrow();
        Bounds { pages_a_host: policy.pages_a_host, depth: policy.depth.into() }
    }
}

/// Whether the message says of a URL that it was fetched.
fn has_fetched(message: &Message) -> bool {
    let Message::Urls(batch) = message else { return false };
    batch.urls.iter().any(|url| url.purpose == UrlPurpose::Fetched)
}

/// A URL as it is reported to the coordinator.
pub(super) fn report(url: &RoutedUrl) -> Report {
    Report { url: url.url.as_str().into(), redirects: url.redirects }
}

/// A URL as the frontier takes it.
pub(super) fn adopted(url: &RoutedUrl) -> AdoptedUrl {
    AdoptedUrl {
        url: url.url.clone(),
        depth: url.depth,
        redirects: url.redirects,
        is_fetched: url.purpose == UrlPurpose::Fetched,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::net::IpAddr;

    use model::AgentId;
    use protocol::key::AgentKey;
    use region::{HostAtAddress, member::Identity};
    use tokio_util::sync::CancellationToken;

    use super::*;
    use crate::peers::{core, outgoing::Outgoing};
    use crate::{frontier::Frontier, guard::Guard, resolve::Resolver};

    pub(in crate::peers) fn worker(dir: &std::path::Path) -> Worker {
        let key = Arc::new(AgentKey::from_seed([1; 32]));
        let agent = AgentId::new(1);
        let identity = Identity { agent, coordinator: key.public(), incarnation: 1 };
        let resolver = Resolver::new(&[], None, Guard::default(), 100).unwrap();
        let ways = (Arc::new(resolver), None);
        let outgoing = Outgoing::new(identity, key, ways, CancellationToken::new());
        let shared =
            Shared { identity, core: None.into(), outgoing, host_addresses: Arc::default() };
        let (store, _failure) = FrontierHandle::start(Frontier::open(dir, 1).unwrap()).unwrap();
        let disk = PeersDisk::open(dir).unwrap();
        Worker {
            noted: disk.note_counts().unwrap(),
            disk,
            store,
            schedule: Schedule::new(1),
            pack_trigger: Arc::default(),
            policy: watch::channel(CrawlPolicy::default()).1,
            host_delay: Duration::ZERO,
            shared: Arc::new(shared),
        }
    }

    /// A URL whose host has an address.
    pub(in crate::peers) fn routed(url: &str) -> RoutedUrl {
        let url = model::CrawlUrl::parse(url).unwrap();
        let position = HostPosition::of(url.host_key_str());
        let address = IpAddr::from([192, 0, 2, 1]);
        RoutedUrl::first(url, HostAtAddress { position, address }, UrlPurpose::Fetch)
    }

    #[tokio::test]
    async fn promises_of_an_earlier_membership_stay_lost_after_a_restart() {
        let dir = tempfile::tempdir().unwrap();
        let mut worker = worker(dir.path());
        let mut stored_by = |works: Vec<Work>| {
            let mut batch = Batch::default();
            for work in works {
                worker.execute(work, &mut batch).unwrap();
            }
            worker.finish(batch).unwrap();
            worker.disk.membership().unwrap().unwrap().promises
        };
        let join = |promises| {
            let view = Box::new(core::tests::view());
            Work::Join { view, settings: Settings::default(), promises }
        };
        let none = Promises::default();
        assert_eq!(stored_by(vec![join(Some(none.clone()))]), Some(none));
        assert_eq!(stored_by(vec![Work::Leave, join(None)]), None);
    }

    #[tokio::test]
    async fn a_url_that_leaves_the_region_keeps_the_count_of_its_redirects() {
        let dir = tempfile::tempdir().unwrap();
        let url = RoutedUrl { redirects: 3, ..routed("http://elsewhere.test/") };
        let mut batch = Batch::default();
        worker(dir.path()).effect(Effect::Foreign(url), &mut batch).unwrap();
        assert_eq!(batch.reports.first().map(|report| report.redirects), Some(3));
    }
}
