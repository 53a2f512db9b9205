//! A crawl in steps of simulated time.

use std::collections::BTreeMap;

use protocol::key::PublicKey;
use region::member::{Identity, Link, SavedMember};
use region::ownership::SignedView;
use region::roster::RosterError;
use region::{
    Effect, HostAtAddress, HostPosition, Member, Message, Millis, Peer, Permit, Settings,
};
use serde::Serialize;

use crate::noise::Noise;
use crate::region_crawl::agent::{Agent, url_of};
use crate::region_crawl::graph::{LinkGraph, hosts};
use crate::region_crawl::quality::{Quality, quality};
use crate::region_crawl::roster::{ADDRESS, agent_id, roster};
use crate::region_crawl::settings::RegionSettings;

/// A step of simulated time.
const STEP_MS: u64 = 100;
/// Term of the loan: longer than any crawl.
const LOAN_MS: u64 = 1 << 50;
/// Steps without a fetch after which the crawl has ended: nothing can still be on its way.
const IDLE_STEPS: u64 = 3_000;

/// Figures of one crawl.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CrawlOutcome {
    /// Pages that can be reached from the seeds.
    pub reachable: usize,
    /// Fetches, repeated ones included.
    pub fetches: usize,
    /// Reachable pages that were fetched to reachable pages.
    pub coverage: f64,
    /// Repeated fetches to different pages.
    pub overlap: f64,
    /// Repeated fetches that the paper permits to different pages: more than *t* agents were
    /// started since the page was fetched.
    pub overlap_permitted: f64,
    /// URLs sent to other agents to fetches, as the paper counts.
    pub communication_overhead: f64,
    /// Links to hosts of other agents to fetches: what would be sent if no agent remembered what it
    /// has sent.
    pub links_to_others_per_page: f64,
    /// Notices of known and fetched URLs sent to next-nearest agents to fetches.
    pub notices_per_page: f64,
    /// Questions about pages to fetches by the paper's rule: *t* for each page.
    pub paper_questions_per_page: f64,
    /// Messages other than heartbeats to fetches.
    pub messages_per_page: f64,
    /// Bundles of hosts that were sent.
    pub bundles: u64,
    /// In-degree of what was fetched first.
    pub quality: Vec<Quality>,
}

/// Crawls the graph with a region.
pub fn crawl(
    graph: &LinkGraph,
    settings: RegionSettings,
    seed: u64,
) -> Result<CrawlOutcome, RosterError> {
    let noise = Noise::new(seed);
    let mut crawl = Crawl::new(graph, settings, noise)?;
    crawl.begin()?;
    let reachable = graph.breadth_first(&crawl.firsts).len();
    let mut idle = 0;
    while idle < IDLE_STEPS {
        let before = crawl.order.len();
        crawl.crash_if_due(reachable);
        crawl.step()?;
        idle = if crawl.order.len() > before || crawl.is_down() { 0 } else { idle + 1 };
    }
    Ok(crawl.outcome(reachable))
}

struct Crawl<'g> {
    graph: &'g LinkGraph,
    settings: RegionSettings,
    noise: Noise,
    signed: SignedView,
    key: PublicKey,
    /// First page of each host.
    firsts: Vec<u32>,
    placed: Vec<HostAtAddress>,
    numbers: BTreeMap<HostPosition, u32>,
    agents: Vec<Agent>,
    now: Millis,
    /// Messages that arrive in this step.
    arriving: Vec<(Peer, Peer, Message)>,
    sent: Vec<(Peer, Peer, Message)>,
    messages: u64,
    /// Links on fetched pages to hosts of other agents.
    links_to_others: u64,
    /// Fetches in order.
    order: Vec<u32>,
    /// Number of started agents when each page was fetched last.
    fetched: BTreeMap<u32, u32>,
    starts: u32,
    repeated: usize,
    permitted: usize,
    crashed: usize,
    returns: Vec<(Millis, usize)>,
    counts: Totals,
}

/// Counters of processes that ended.
#[derive(Debug, Default)]
struct Totals {
    urls: u64,
    notices: u64,
    bundles: u64,
}

impl<'g> Crawl<'g> {
    fn new(
        graph: &'g LinkGraph,
        settings: RegionSettings,
        noise: Noise,
    ) -> Result<Self, RosterError> {
        let (signed, key) = roster(settings.agents.into(), settings.recovery, noise)?;
        let firsts = hosts(graph.len(), settings.hosts as usize, noise);
        let place = |host: usize| HostAtAddress {
            position: HostPosition::of(&format!("http://h{host}")),
            address: ADDRESS,
        };
        let placed: Vec<HostAtAddress> = (0..firsts.len()).map(place).collect();
        let numbers =
            placed.iter().enumerate().map(|(host, at)| (at.position, host as u32)).collect();
        Ok(Self {
            graph,
            settings,
            noise,
            signed,
            key,
            firsts,
            placed,
            numbers,
            agents: (0..settings.agents).map(|_| Agent::new()).collect(),
            now: Millis(1_000_000),
            arriving: Vec::new(),
            sent: Vec::new(),
            messages: 0,
            links_to_others: 0,
            order: Vec::new(),
            fetched: BTreeMap::new(),
            starts: 0,
            repeated: 0,
            permitted: 0,
            crashed: 0,
            returns: Vec::new(),
            counts: Totals::default(),
        })
    }

    /// Starts all agents and gives the first page of each host to one of them.
    fn begin(&mut self) -> Result<(), RosterError> {
        for at in 0..self.agents.len() {
            self.start(at)?;
        }
        // The agents that are there from the beginning are no starts since a page was fetched.
        self.starts = 0;
        for host in 0..self.firsts.len() {
            self.offer(host % self.agents.len(), host as u32, self.firsts[host]);
        }
        Ok(())
    }

    fn start(&mut self, at: usize) -> Result<(), RosterError> {
        let now = self.now;
        self.starts += 1;
        let agent = &mut self.agents[at];
        agent.incarnation += 1;
        let identity =
            Identity { agent: agent_id(at), coordinator: self.key, incarnation: agent.incarnation };
        let saved = SavedMember::joining(self.signed.clone(), None);
        let mut member = Member::start(identity, Settings::default(), saved, now)?;
        member.lent(LOAN_MS, now);
        for url in agent.restored(|host| self.placed[host as usize]) {
            member.restore_host(&url);
        }
        let mut effects = Vec::new();
        for url in std::mem::take(&mut agent.waiting).into_values() {
            agent.waiting.insert(url.url.as_str().to_owned(), url.clone());
            member.resume(url, now, &mut effects);
        }
        agent.member = Some(member);
        self.apply(at, effects);
        Ok(())
    }

    fn step(&mut self) -> Result<(), RosterError> {
        self.now = self.now.plus(STEP_MS);
        for (due, at) in std::mem::take(&mut self.returns) {
            if due <= self.now {
                self.start(at)?;
            } else {
                self.returns.push((due, at));
            }
        }
        std::mem::swap(&mut self.arriving, &mut self.sent);
        for (from, to, message) in std::mem::take(&mut self.arriving) {
            let Some(at) = to.agent().map(|agent| agent.get() as usize) else { continue };
            let now = self.now;
            let Some(member) = &mut self.agents[at].member else { continue };
            let effects = member.handle(from, message, now);
            self.apply(at, effects);
        }
        for at in 0..self.agents.len() {
            self.work(at);
        }
        Ok(())
    }

    /// One fetch from each of the next hosts of an agent, and whatever its member has to do.
    fn work(&mut self, at: usize) {
        let now = self.now;
        let visits = self.agents[at].visits.len().min(self.settings.threads.into());
        for _ in 0..visits {
            let Some(host) = self.agents[at].next_visit() else { break };
            let placed = self.placed[host as usize];
            let Some(member) = &mut self.agents[at].member else { return };
            if matches!(member.permit(placed, now), Permit::Until(_))
                && let Some(page) = self.agents[at].next_page(host)
            {
                self.fetch(at, host, page);
            }
            self.agents[at].visit_again(host);
        }
        let Some(member) = &mut self.agents[at].member else { return };
        if member.next_wakeup() <= now {
            let effects = member.tick(now);
            self.apply(at, effects);
        }
    }

    fn fetch(&mut self, at: usize, host: u32, page: u32) {
        self.order.push(page);
        if let Some(starts) = self.fetched.insert(page, self.starts) {
            self.repeated += 1;
            if self.starts - starts > u32::from(self.settings.recovery) {
                self.permitted += 1;
            }
        }
        let graph = self.graph;
        for target in graph.links(page as usize) {
            let host_of = self.host_of(*target);
            self.links_to_others += u64::from(!self.owns(at, host_of));
            // The engine knows what it has queued of its own hosts.
            if !self.agents[at].knows(host_of, *target) {
                self.offer(at, host_of, *target);
            }
        }
        let Some(url) = url_of(host, page) else { return };
        let now = self.now;
        if let Some(member) = &mut self.agents[at].member {
            member.fetched(url, ADDRESS, now);
        }
    }

    fn owns(&mut self, at: usize, host: u32) -> bool {
        let placed = self.placed[host as usize];
        let now = self.now;
        let member = self.agents[at].member.as_mut();
        member.is_some_and(|member| matches!(member.permit(placed, now), Permit::Until(_)))
    }

    fn offer(&mut self, at: usize, host: u32, page: u32) {
        let now = self.now;
        let Some(url) = url_of(host, page) else { return };
        let mut effects = Vec::new();
        if let Some(member) = &mut self.agents[at].member {
            member.offer(Link { url, depth: 0, redirects: 0 }, ADDRESS, now, &mut effects);
        }
        self.apply(at, effects);
    }

    fn host_of(&self, page: u32) -> u32 {
        (self.firsts.partition_point(|first| *first <= page) - 1) as u32
    }

    fn apply(&mut self, at: usize, effects: Vec<Effect>) {
        let from = Peer::Agent(agent_id(at));
        for effect in effects {
            let agent = &mut self.agents[at];
            match effect {
                Effect::Send(to, message) => {
                    // Heartbeats go with time, not with pages.
                    self.messages += u64::from(!matches!(message, Message::Heartbeat(_)));
                    self.sent.push((from, to, message));
                }
                Effect::Keep(url) => {
                    agent.waiting.insert(url.url.as_str().to_owned(), url);
                }
                Effect::Forget(urls) => {
                    for url in urls {
                        agent.waiting.remove(url.url.as_str());
                    }
                }
                Effect::Accept(url) | Effect::Note(url) => agent.note(&url),
                Effect::Store(bundle) => agent.store(&bundle),
                Effect::Drop(url) | Effect::HandBack(url) | Effect::LeaveRegion(url) => {
                    if let Some(number) = self.numbers.get(&url.host.position) {
                        agent.drop_host(*number);
                    }
                }
                Effect::Pack(packing) => {
                    let Some(number) = self.numbers.get(&packing.host.position) else { continue };
                    let bytes = agent.pack(*number);
                    let mut more = Vec::new();
                    if let Some(member) = &mut agent.member {
                        member.packed(packing, bytes, &mut more);
                    }
                    self.apply(at, more);
                }
                // Mode `available` makes no promises, and the roster never changes.
                Effect::SavePromises(_)
                | Effect::SaveView(_)
                | Effect::SaveCopied(_)
                | Effect::Foreign(_) => {}
            }
        }
    }

    /// Crashes are spread evenly over the crawl.
    fn crash_if_due(&mut self, reachable: usize) {
        let crashes = usize::from(self.settings.crashes);
        let due = reachable * (self.crashed + 1) / (crashes + 1);
        if self.crashed >= crashes || self.fetched.len() < due {
            return;
        }
        let crash = self.noise.hash(&[u64::MAX, self.crashed as u64]);
        let at = (crash % self.agents.len() as u64) as usize;
        self.crashed += 1;
        let Some(member) = self.agents[at].member.take() else { return };
        self.counts.add(&member);
        if self.settings.lose_disk {
            self.agents[at].lose_disk();
        }
        self.returns.push((self.now.plus(u64::from(self.settings.down_s) * 1_000), at));
    }

    fn is_down(&self) -> bool {
        !self.returns.is_empty()
    }

    fn outcome(mut self, reachable: usize) -> CrawlOutcome {
        for member in self.agents.iter().filter_map(|agent| agent.member.as_ref()) {
            self.counts.add(member);
        }
        let fetches = self.order.len().max(1) as f64;
        let different = self.fetched.len().max(1) as f64;
        CrawlOutcome {
            reachable,
            fetches: self.order.len(),
            coverage: self.fetched.len() as f64 / reachable.max(1) as f64,
            overlap: self.repeated as f64 / different,
            overlap_permitted: self.permitted as f64 / different,
            communication_overhead: self.counts.urls as f64 / fetches,
            links_to_others_per_page: self.links_to_others as f64 / fetches,
            notices_per_page: self.counts.notices as f64 / fetches,
            paper_questions_per_page: f64::from(self.settings.recovery),
            messages_per_page: self.messages as f64 / fetches,
            bundles: self.counts.bundles,
            quality: quality(self.graph, &self.order, &self.firsts),
        }
    }
}

impl Totals {
    fn add(&mut self, member: &Member) {
        self.urls += member.counts().urls_sent;
        self.notices += member.counts().notices_sent;
        self.bundles += member.counts().bundles_sent;
    }
}
