//! The whole agent at work.
//!
//! Tasks, each in a file of its own, that share little: [`readiness`] say whether the agent may
//! work, and why not; [`heartbeat`] asks the coordinator what there is to do; [`crawl`] visits hosts;
//! [`probes`] measures and reports; [`host_orders`] lets go of hosts; [`lease`] says how long the agent
//! may go on by itself; [`ship`] packs and sends; [`monitors`] looks at the clock, the disk and the
//! network. [`Agent::run`] starts them, and ends them in order when it is told to.

mod crawl;
mod heartbeat;
mod host_orders;
mod lease;
mod monitors;
mod probes;
pub mod readiness;
mod ship;

use std::{path::PathBuf, sync::Arc, time::Duration};

use model::{AgentId, CrawlPolicy, ProbeMethod};
use protocol::key::AgentKey;
use tokio::{
    sync::{Notify, mpsc, watch},
    task::{JoinError, JoinSet},
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::Config,
    coordinator_client::{CoordinatorClient, CoordinatorError},
    disk, error_line,
    fetch::{self, Fetcher},
    frontier::{Frontier, FrontierError, FrontierHandle},
    guard::{Guard, on_link_prefixes},
    journal::Journal,
    outbox::{Outbox, OutboxError, PackTrigger},
    probe::Prober,
    resolve::{ResolveError, Resolver},
    schedule::Schedule,
    visit::Visitor,
};
use readiness::Readiness;

/// How long what is going on may go on after the agent was told to stop.
const GRACE: Duration = Duration::from_secs(4);
/// How long packages are still sent after that.
const LAST_SHIPPING: Duration = Duration::from_secs(4);

/// How long the journal may take to be written after that.
const FLUSH: Duration = Duration::from_millis(500);

/// The agent can't go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    /// The frontier failed.
    #[error(transparent)]
    Frontier(#[from] FrontierError),
    /// The outbox failed.
    #[error(transparent)]
    Outbox(#[from] OutboxError),
    /// Names can't be resolved at all.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The coordinator does not want this agent.
    #[error(transparent)]
    Banned(CoordinatorError),
    /// An admin revoked the agent.
    #[error("the operator has revoked this agent; nothing more is fetched in your name")]
    Revoked,
    /// The machine does not do what it must.
    #[error("{attempt} failed")]
    Machine {
        /// What was attempted.
        attempt: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// A task ended as none should.
    #[error("a part of the agent has crashed")]
    Crashed(#[source] JoinError),
}

/// Everything that a run of the agent is made of.
pub struct Agent {
    /// The owner's rules.
    pub config: Config,
    /// Where the agent keeps its things.
    pub dir: PathBuf,
    /// Who it is.
    pub id: AgentId,
    /// Its key.
    pub key: Arc<AgentKey>,
    /// Whom it works for.
    pub coordinator: Arc<CoordinatorClient>,
    /// Its store.
    pub frontier: Frontier,
}

/// What the tasks share.
struct Shared {
    config: Config,
    dir: PathBuf,
    id: AgentId,
    coordinator: Arc<CoordinatorClient>,
    store: FrontierHandle,
    schedule: Arc<Schedule>,
    resolver: Arc<Resolver>,
    visitor: Arc<Visitor>,
    prober: Arc<Prober>,
    taken: probes::TakenProbes,
    host_orders: host_orders::HostOrders,
    lease: lease::Lease,
    fetcher: Arc<Fetcher>,
    outbox: Outbox,
    pack_trigger: Arc<PackTrigger>,
    sealed: Notify,
    policy: watch::Sender<CrawlPolicy>,
    readiness: watch::Sender<Readiness>,
    /// Told to stop taking up new work.
    stop: CancellationToken,
}

impl Agent {
    /// Works until `stop` is cancelled or it can't go on; then ends what is going on, packs, and
    /// ships what it can, within ten seconds. `tell` hears of changes of state, for the owner's
    /// eyes.
    pub async fn run(
        self,
        stop: CancellationToken,
        tell: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<(), AgentError> {
        let (store, mut frontier_failed) = FrontierHandle::start(self.frontier)
            .map_err(|source| AgentError::Machine { attempt: "starting a thread", source })?;
        let parts = Parts { config: self.config, dir: self.dir, id: self.id, key: self.key };
        let shared = Arc::new(parts.assemble(store, self.coordinator, stop.child_token()).await?);
        let mut tasks = JoinSet::new();
        spawn_all(&mut tasks, &shared, tell);
        let ended = tokio::select! {
            () = stop.cancelled() => Ok(()),
            Ok(error) = &mut frontier_failed => Err(AgentError::Frontier(error)),
            ended = first_end(&mut tasks) => match frontier_failed.try_recv() {
                // Tasks fail because the frontier did; the cause is what the owner must know.
                Ok(cause) => Err(AgentError::Frontier(cause)),
                Err(_) => ended,
            },
        };
        let drained = shared.drain(tasks).await;
        ended.and(drained)
    }
}

/// The first task that ends does so because it failed.
async fn first_end(tasks: &mut JoinSet<Result<(), AgentError>>) -> Result<(), AgentError> {
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(AgentError::Crashed)??;
    }
    Ok(())
}

struct Parts {
    config: Config,
    dir: PathBuf,
    id: AgentId,
    key: Arc<AgentKey>,
}

impl Parts {
    async fn assemble(
        self,
        store: FrontierHandle,
        coordinator: Arc<CoordinatorClient>,
        stop: CancellationToken,
    ) -> Result<Shared, AgentError> {
        let Self { config, dir, id, key } = self;
        let machine = |attempt| move |source| AgentError::Machine { attempt, source };
        let on_link = on_link_prefixes().map_err(machine("reading the network interfaces"))?;
        let guard = Guard::new(config.guard.clone(), on_link);
        let resolver = Arc::new(Resolver::new(&config.resolver, config.bind, guard)?);
        let journal = Journal::start(&dir.join("journal"), config.limits.journal_days)
            .map_err(machine("starting the journal"))?;
        let fetcher = Arc::new(fetcher(&config));
        let schedule = Schedule::new();
        let pack_trigger = Arc::new(PackTrigger::default());
        let (policy, policy_seen) = watch::channel(CrawlPolicy::default());
        let outbox =
            Outbox::open(&dir.join("packages"), store.clone(), key, id, config.ship.clone())
                .await?;
        let visitor = Arc::new(Visitor {
            store: store.clone(),
            schedule: Arc::clone(&schedule),
            resolver: Arc::clone(&resolver),
            fetcher: Arc::clone(&fetcher),
            tcp_times_count: config.probe.methods.contains(&ProbeMethod::Tcp),
            journal: journal.clone(),
            pack_trigger: Arc::clone(&pack_trigger),
            limits: config.limits.clone(),
            policy: policy_seen,
        });
        let prober = Arc::new(Prober::new(
            config.probe.clone(),
            config.bind,
            Arc::clone(&resolver),
            Arc::clone(&fetcher),
            Arc::clone(&schedule),
            journal,
        ));
        // Read before anything starts: a full disk or a closed span holds from the first moment.
        let shortage =
            disk::shortage(&dir, &config.limits).map_err(machine("looking at the disk"))?;
        let asleep = monitors::asleep(&config.spans);
        let (readiness, _) = watch::channel(Readiness { asleep, shortage, ..Readiness::default() });
        Ok(Shared {
            config,
            dir,
            id,
            coordinator,
            store,
            schedule,
            resolver,
            visitor,
            prober,
            taken: probes::TakenProbes::default(),
            host_orders: host_orders::HostOrders::default(),
            lease: lease::Lease::default(),
            fetcher,
            outbox,
            pack_trigger,
            sealed: Notify::new(),
            policy,
            readiness,
            stop,
        })
    }
}

fn fetcher(config: &Config) -> Fetcher {
    let tls = fetch::tls_config();
    if let Err(error) = &tls {
        let error = error_line::of(error);
        tracing::warn!(error, "https pages can't be fetched: install the package ca-certificates");
    }
    Fetcher::new(config.limits.clone(), config.user_agent(), config.bind, tls.ok())
}

fn spawn_all(
    tasks: &mut JoinSet<Result<(), AgentError>>,
    shared: &Arc<Shared>,
    tell: impl Fn(&str) + Send + Sync + 'static,
) {
    let (orders, ordered) = mpsc::channel(protocol::limits::PROBES_PER_HEARTBEAT);
    let (reports, reported) = mpsc::channel(protocol::limits::PROBES_PER_HEARTBEAT);
    tasks.spawn(heartbeat::run(Arc::clone(shared), orders, tell));
    tasks.spawn(host_orders::run(Arc::clone(shared)));
    tasks.spawn(crawl::run(Arc::clone(shared)));
    tasks.spawn(probes::measure(Arc::clone(shared), ordered, reports));
    tasks.spawn(probes::report(Arc::clone(shared), reported));
    tasks.spawn(ship::pack(Arc::clone(shared)));
    tasks.spawn(ship::send(Arc::clone(shared)));
    tasks.spawn(monitors::spans(Arc::clone(shared)));
    tasks.spawn(monitors::machine(Arc::clone(shared)));
    tasks.spawn(monitors::status(Arc::clone(shared)));
}

impl Shared {
    /// Changes the readiness, and agent_wakeups whoever waits for them if anything is different.
    fn change(&self, change: impl FnOnce(&mut Readiness)) {
        self.readiness.send_if_modified(|readiness| {
            let before = readiness.clone();
            change(readiness);
            *readiness != before
        });
    }

    /// Ends all tasks, packs what there is and ships what goes.
    async fn drain(&self, mut tasks: JoinSet<Result<(), AgentError>>) -> Result<(), AgentError> {
        self.change(|readiness| readiness.draining = true);
        self.stop.cancel();
        // Every task ends by itself; the limit is for one that hangs.
        let ended = tokio::time::timeout(GRACE + Duration::from_secs(1), async {
            while tasks.join_next().await.is_some() {}
        });
        if ended.await.is_err() {
            tasks.shutdown().await;
        }
        let shipped = tokio::time::timeout(LAST_SHIPPING, self.last_shipping()).await;
        monitors::write_status(self).await;
        let journal = self.visitor.journal.clone();
        // A thread that can't be had loses nothing but time.
        drop(tokio::task::spawn_blocking(move || journal.flush(FLUSH)).await);
        shipped.unwrap_or_else(|_| {
            tracing::info!("some packages stay on disk until the next start");
            Ok(())
        })
    }

    async fn last_shipping(&self) -> Result<(), AgentError> {
        self.outbox.seal_all().await?;
        ship::once(self).await
    }
}
