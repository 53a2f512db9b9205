//! Parts of a running agent: what its tasks share, made once at start.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use model::{AgentId, CrawlPolicy, ProbeMethod};
use protocol::{join_token::Fingerprint, key::AgentKey, key::PublicKey};
use tokio::sync::{Notify, watch};
use tokio_util::sync::CancellationToken;

use super::{
    AgentError, error::machine, host_orders::HostOrders, monitors, readiness::ReadinessSignal,
};
use crate::{
    activity_log::ActivityLog,
    config::Config,
    coordinator_client::CoordinatorClient,
    data_dir::ACTIVITY_LOG,
    error_line,
    fetch::{self, Fetcher},
    frontier::{Frontier, FrontierHandle},
    guard::{Guard, GuardRules, on_link_prefixes},
    metrics::Metrics,
    outbox::{Bundles, Outbox, PackTrigger},
    owner::gate::Gate,
    peers::{PeerCrawl, PeerIdentity, Peers},
    probe::{HeadProber, KnownRules, Prober},
    resolve::Resolver,
    schedule::Schedule,
    status::{CoordinatorAnswer, StatusFile},
    update::UpdateStatus,
    visit::LostBefore,
    visit::Visitor,
};

/// The parts of a running agent, for wiring only: each task is given the parts that it uses.
pub(super) struct Parts {
    pub(super) config: Config,
    pub(super) dir: PathBuf,
    pub(super) id: AgentId,
    /// Fingerprint of the agent's key.
    pub(super) fingerprint: String,
    /// What the coordinator said of the agent before this start.
    pub(super) earlier_answer: Option<CoordinatorAnswer>,
    pub(super) client: Arc<CoordinatorClient>,
    pub(super) gate: Arc<Gate>,
    pub(super) guard_rules: Arc<GuardRules>,
    pub(super) visitor: Arc<Visitor>,
    pub(super) prober: Arc<Prober>,
    pub(super) host_orders: Arc<HostOrders>,
    /// Bundles of released hosts.
    pub(super) bundles: Arc<Bundles>,
    pub(super) outbox: Arc<Outbox>,
    /// Notified when a package is ready to be sent.
    pub(super) sealed: Arc<Notify>,
    pub(super) policy: watch::Sender<CrawlPolicy>,
    pub(super) readiness: ReadinessSignal,
    /// What the status shows of updates.
    pub(super) update_status: Arc<Mutex<Option<UpdateStatus>>>,
}

impl Parts {
    /// Makes the parts that the configuration asks for.
    #[expect(clippy::too_many_lines, reason = "wiring only, one part after the other")]
    pub(super) async fn build(
        config: Config,
        dir: PathBuf,
        id: AgentId,
        (key, coordinator_key): (Arc<AgentKey>, PublicKey),
        (client, store, stop): (Arc<CoordinatorClient>, FrontierHandle, CancellationToken),
    ) -> Result<Self, AgentError> {
        let fingerprint = Fingerprint::of(&key.public()).to_string();
        let on_link = on_link_prefixes().map_err(machine("reading the network interfaces"))?;
        let guard_rules = Arc::new(config.guard.clone());
        let guard = Guard::new(Arc::clone(&guard_rules), on_link);
        let rate = config.limits.lookups_per_second;
        let resolver = Arc::new(Resolver::new(&config.resolver, config.bind, guard, rate)?);
        let activity_log =
            ActivityLog::start(&dir.join(ACTIVITY_LOG), config.limits.activity_log_days)
                .map_err(machine("starting the activity log"))?;
        let gate = Arc::new(Gate::open(&config, &dir)?);
        let fetcher = Arc::new(fetcher(&config, Arc::clone(&gate)));
        let schedule = Schedule::new(config.limits.concurrency);
        let pack_trigger = Arc::new(PackTrigger::default());
        let (policy, policy_receiver) = watch::channel(CrawlPolicy::default());
        let identity = PeerIdentity { agent: id, key: Arc::clone(&key), coordinator_key };
        let crawl = PeerCrawl {
            store: store.clone(),
            schedule: Arc::clone(&schedule),
            resolver: Arc::clone(&resolver),
            pack_trigger: Arc::clone(&pack_trigger),
            policy: policy_receiver.clone(),
        };
        let client_of_peers = Arc::clone(&client);
        let peers = Peers::open(&config, &dir, identity, crawl, (client_of_peers, stop))?;
        let visitor = Arc::new(Visitor {
            lease: Arc::default(),
            peers,
            store: store.clone(),
            schedule,
            resolver,
            fetcher,
            tcp_times_count: config.probe.methods.contains(&ProbeMethod::Tcp),
            activity_log,
            pack_trigger,
            limits: config.limits.clone(),
            policy: policy_receiver,
            lost_before: LostBefore::default(),
            metrics: Metrics::default(),
        });
        let prober = Arc::new(prober(&config, &visitor, Arc::clone(&gate)));
        let bundles = open_bundles(&dir, &store).await?;
        let host_orders = Arc::new(host_orders(&visitor, &bundles));
        let rules = config.ship.clone();
        let packages = dir.join("packages");
        let outbox = Outbox::open(&packages, store, key, id, rules).await?;
        Ok(Self {
            readiness: monitors::initial_readiness(&config, &dir, &gate)?,
            config,
            earlier_answer: earlier_answer(&dir),
            dir,
            id,
            fingerprint,
            client,
            gate,
            guard_rules,
            visitor,
            prober,
            host_orders,
            bundles,
            outbox: Arc::new(outbox),
            sealed: Arc::default(),
            policy,
            update_status: Arc::default(),
        })
    }
}

/// What the last process wrote into the status file. A file of another version says nothing.
fn earlier_answer(dir: &Path) -> Option<CoordinatorAnswer> {
    StatusFile::read(dir).ok().flatten()?.coordinator_answer
}

/// Bundles of released hosts that were not sent before the agent stopped.
async fn open_bundles(dir: &Path, store: &FrontierHandle) -> Result<Arc<Bundles>, AgentError> {
    let executed = store.read(Frontier::orders_executed).await?.into_iter().collect();
    Ok(Arc::new(Bundles::open(&dir.join("bundles"), &executed)?))
}

/// Orders about the hosts that the visitor visits.
fn host_orders(visitor: &Visitor, bundles: &Arc<Bundles>) -> HostOrders {
    HostOrders::new(
        visitor.store.clone(),
        Arc::clone(&visitor.schedule),
        Arc::clone(&visitor.fetcher),
        Arc::clone(&visitor.pack_trigger),
        Arc::clone(bundles),
    )
}

/// A prober that shares hosts, addresses and connections with the visitor.
fn prober(config: &Config, visitor: &Visitor, gate: Arc<Gate>) -> Prober {
    let head = HeadProber {
        timeout: config.probe.timeout,
        store: visitor.store.clone(),
        schedule: Arc::clone(&visitor.schedule),
        fetcher: Arc::clone(&visitor.fetcher),
        activity_log: visitor.activity_log.clone(),
        rules: KnownRules::default(),
    };
    let resolver = Arc::clone(&visitor.resolver);
    let activity_log = visitor.activity_log.clone();
    Prober::new(config.probe.clone(), config.bind, resolver, head, activity_log, gate)
}

fn fetcher(config: &Config, gate: Arc<Gate>) -> Fetcher {
    let tls = fetch::tls_config();
    if let Err(error) = &tls {
        let error = error_line::of(error);
        tracing::warn!(error, "https pages cannot be fetched: install the package ca-certificates");
    }
    Fetcher::new(config.limits.clone(), config.user_agent(), config.bind, tls.ok(), gate)
}
