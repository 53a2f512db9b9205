//! Core: the member with what belongs to it in memory, behind one lock.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
};

use model::{AgentId, CrawlUrl, RegionId, UnixMillis};
use protocol::key::PublicKey;
use region::{
    Denial, Effect, HostAtAddress, HostPosition, Member, Millis, Peer, Permit, Settings,
    detector::Liveness,
    envelope::{Envelope, EnvelopeFilter, Refusal},
    member::{Identity, Link, LinkOutcome, SavedMember},
    message::{BUNDLE_BYTES, Bundle, Message, RoutedUrl, UrlPurpose},
    ownership::SignedView,
    relay::MemberReport,
    roster::RosterError,
};

use super::{disk::Membership, host_addresses::HostAddresses, host_urls::HostUrls, worker::Work};
use crate::{elapsed_clock, error_line, frontier::BundleError};

/// Most bytes of bundles that wait for the worker: one of the largest size fits.
const WAITING_BUNDLES: usize = BUNDLE_BYTES;

/// A member that runs.
pub(super) struct Core {
    me: AgentId,
    pub(super) member: Member,
    filter: EnvelopeFilter,
    /// Hosts of the region that the member knows.
    hosts: HashSet<HostPosition>,
    host_addresses: Arc<HostAddresses>,
    /// Bytes of bundles that the worker has not stored.
    waiting_bundles: usize,
}

impl Core {
    /// A member that joins. Where the agent rests until `rests_until`, the member sleeps from the
    /// beginning, so that no other member waits for it.
    pub(super) fn join(
        identity: Identity,
        settings: Settings,
        saved: SavedMember,
        host_addresses: Arc<HostAddresses>,
        rests_until: Option<Millis>,
    ) -> Result<Self, RosterError> {
        let now = elapsed_clock::now();
        let mut member = Member::start(identity, settings, saved, now)?;
        if let Some(until) = rests_until {
            member.sleep(until.since(now), now);
        }
        Ok(Self::new(identity, member, host_addresses))
    }

    /// A member that starts again, with its hosts and waiting URLs.
    pub(super) fn restart(
        identity: Identity,
        membership: Membership,
        (hosts, waiting): (&[RoutedUrl], Vec<RoutedUrl>),
        host_addresses: Arc<HostAddresses>,
    ) -> Result<(Self, Vec<Work>), RosterError> {
        let now = elapsed_clock::now();
        let Membership { view, settings, promises, copied, loan_until } = membership;
        let loan_until = elapsed_clock::from_wall(loan_until);
        let saved = SavedMember { view, promises, copied, loan_until };
        let member = Member::start(identity, settings, saved, now)?;
        let mut core = Self::new(identity, member, host_addresses);
        for url in hosts {
            core.restore(url);
        }
        let mut effects = Vec::new();
        for url in waiting {
            core.member.resume(url, now, &mut effects);
        }
        let works = core.works(effects);
        Ok((core, works))
    }

    fn new(identity: Identity, member: Member, host_addresses: Arc<HostAddresses>) -> Self {
        let region = member.view().roster().region;
        let filter = EnvelopeFilter::new(region, Peer::Agent(identity.agent), identity.coordinator);
        Self {
            me: identity.agent,
            member,
            filter,
            hosts: HashSet::new(),
            host_addresses,
            waiting_bundles: 0,
        }
    }

    /// The region of the member.
    pub(super) fn region(&self) -> RegionId {
        self.member.view().roster().region
    }

    /// Number of this membership, larger than those of all before.
    pub(super) fn incarnation(&self) -> u64 {
        self.member.incarnation()
    }

    fn restore(&mut self, url: &RoutedUrl) {
        if self.note_host(&url.url, url.host) {
            self.member.restore_host(url);
        }
    }

    /// Notes a host with its address; returns whether it is new.
    fn note_host(&mut self, url: &CrawlUrl, host: HostAtAddress) -> bool {
        let is_new = self.hosts.insert(host.position);
        if is_new {
            self.host_addresses.set(url, host);
        }
        is_new
    }

    /// Opens an envelope to this agent and handles the message; returns the sender as well, for
    /// those that ask for their mailbox.
    pub(super) fn open(&mut self, envelope: &Envelope) -> Result<(Peer, Vec<Work>), Refusal> {
        let now = elapsed_clock::now();
        let (from, message) = self.filter.open(envelope, self.member.view(), now)?;
        if message == Message::Collect {
            return Ok((from, Vec::new()));
        }
        // Its sender sends it again, because it is not acknowledged.
        if let Message::Bundle(bundle) = &message
            && !self.has_room_for(bundle)
        {
            tracing::debug!(host = bundle.front.host_key_str(), "too many bundles wait");
            return Ok((from, Vec::new()));
        }
        // The sender deletes the host when its bundle is taken, so one that cannot be read is not.
        if let Message::Bundle(bundle) = &message
            && let Err(error) = check(bundle)
        {
            let host = bundle.front.host_key_str();
            let error = error_line::of(&error);
            tracing::warn!(host, error, "refused a host bundle of a peer");
            return Ok((from, Vec::new()));
        }
        let effects = self.member.handle(from, message, now);
        Ok((from, self.works(effects)))
    }

    /// Whether a bundle may wait for the worker. One may in any case, however large it is.
    fn has_room_for(&self, bundle: &Bundle) -> bool {
        self.waiting_bundles == 0 || self.waiting_bundles + bundle.bytes.len() <= WAITING_BUNDLES
    }

    /// The worker has stored a bundle of so many bytes.
    pub(super) fn bundle_is_stored(&mut self, bytes: usize) {
        self.waiting_bundles = self.waiting_bundles.saturating_sub(bytes);
    }

    /// Takes roster and deltas that the coordinator answered with.
    pub(super) fn take_view(&mut self, view: SignedView) -> Vec<Work> {
        let now = elapsed_clock::now();
        let effects = self.member.handle(Peer::Coordinator, Message::View(view), now);
        self.works(effects)
    }

    pub(super) fn tick(&mut self) -> Vec<Work> {
        let effects = self.member.tick(elapsed_clock::now());
        self.works(effects)
    }

    /// Gives a link to the agent of its host. Returns what is to be done, and whether the link is
    /// settled: its host is the region's. None when too many URLs wait.
    pub(super) fn offer(&mut self, link: &Link, host: HostAtAddress) -> Option<(bool, Vec<Work>)> {
        let mut effects = Vec::new();
        let now = elapsed_clock::now();
        let offered = self.member.offer(link.clone(), host.address, now, &mut effects);
        let is_settled = match offered {
            LinkOutcome::Full => return None,
            LinkOutcome::Foreign => false,
            LinkOutcome::Own | LinkOutcome::Queued | LinkOutcome::Repeated => true,
        };
        Some((is_settled, self.works(effects)))
    }

    /// Asks for a permit. A host that the member does not know yet, because it came by another way,
    /// becomes known.
    pub(super) fn permit(&mut self, url: &CrawlUrl, host: HostAtAddress) -> (Permit, Vec<Work>) {
        let permit = self.member.permit(host, elapsed_clock::now());
        let is_foreign = permit == Permit::Denied(Denial::NotOfRegion);
        if is_foreign || self.hosts.contains(&host.position) {
            return (permit, Vec::new());
        }
        let url = RoutedUrl::first(url.clone(), host, UrlPurpose::Fetch);
        self.restore(&url);
        (permit, vec![Work::AddHost(url)])
    }

    /// Forgets the address of a host that was dropped, unless it came back meanwhile. The next link
    /// to it is looked up: its address may be another one now.
    pub(super) fn forget_address(&self, host: HostPosition) {
        if !self.hosts.contains(&host) {
            self.host_addresses.forget(host);
        }
    }

    /// Sends the agents that would take a host over a notice that a URL of it was fetched.
    pub(super) fn fetched(&mut self, url: CrawlUrl, host: HostAtAddress) {
        if self.hosts.contains(&host.position) {
            self.member.fetched(url, host.address, elapsed_clock::now());
        }
    }

    pub(super) fn lent(&mut self, term_ms: u64, asked: Millis) -> UnixMillis {
        self.member.lent(term_ms, asked);
        elapsed_clock::to_wall(self.member.loan_until())
    }

    pub(super) fn loan_until(&self) -> Millis {
        self.member.loan_until()
    }

    pub(super) fn view(&self) -> &region::ownership::View {
        self.member.view()
    }

    /// The report to the coordinator.
    pub(super) fn report(&self) -> MemberReport {
        let counts = self.member.counts();
        let now = elapsed_clock::now();
        MemberReport {
            has_lease: self.member.has_lease(now),
            replaced: self.member.replaced(now).collect(),
            hosts: self.member.known_hosts() as u64,
            waiting: self.member.waiting_urls() as u64,
            sent: counts.urls_sent,
            received: counts.urls_received,
            refused: self.filter.refused().values().sum::<u64>() + counts.refused,
        }
    }

    /// Members that are silent or asleep.
    pub(super) fn suspicions(&self) -> BTreeMap<AgentId, Liveness> {
        let now = elapsed_clock::now();
        let me = self.me;
        let agents = self.member.view().roster().agents.iter().map(|entry| entry.agent);
        let agents = agents.filter(|agent| *agent != me);
        let state = |agent| (agent, self.member.liveness(Peer::Agent(agent), now));
        agents.map(state).filter(|(_, state)| *state != Liveness::Alive).collect()
    }

    pub(super) fn may_pass(&self, envelope: &Envelope, coordinator: &PublicKey) -> bool {
        envelope.may_pass(self.member.view(), coordinator)
    }

    /// The effects, each after the host that it makes known.
    fn works(&mut self, effects: Vec<Effect>) -> Vec<Work> {
        let mut works = Vec::new();
        for effect in effects {
            works.extend(self.follow(&effect).map(Work::AddHost));
            works.push(Work::Effect(effect));
        }
        works
    }

    /// Follows which hosts the member knows; returns one that becomes known. It is stored also
    /// where the frontier has it already, because an agent that leaves the region hands back what
    /// is stored as the region's.
    fn follow(&mut self, effect: &Effect) -> Option<RoutedUrl> {
        let (url, host) = match effect {
            Effect::Accept(url) | Effect::Note(url) => (&url.url, url.host),
            Effect::Store(bundle) => {
                self.waiting_bundles += bundle.bytes.len();
                (&bundle.front, bundle.host)
            }
            Effect::Drop(url) | Effect::HandBack(url) | Effect::LeaveRegion(url) => {
                self.hosts.remove(&url.host.position);
                return None;
            }
            _ => return None,
        };
        self.note_host(url, host).then(|| RoutedUrl::first(url.clone(), host, UrlPurpose::Fetch))
    }
}

/// Whether the bundle can be read. A newer version of the sender may have another format.
fn check(bundle: &Bundle) -> Result<(), BundleError> {
    HostUrls::decode(&bundle.bytes, bundle.front.host_key_str()).map(drop)
}

#[cfg(test)]
pub(super) mod tests;
