//! The running agent: how its tasks are wired, started and ended.
//!
//! - [`parts`]: what the tasks share
//! - [`readiness`]: whether the agent may work, and if not, why
//! - [`heartbeat`]: asks the coordinator for work and passes the answer on
//! - [`routes`]: which routes of an answer are new
//! - [`crawl`]: visits hosts that are due
//! - [`probes`]: measures round trips and reports them
//! - [`host_orders`]: carries out orders about hosts, such as releasing them
//! - [`lease`]: how long the agent may fetch without an answer from the coordinator
//! - [`ship`]: sends packages
//! - [`owner`]: keeps what was used of budgets, and rests while others use the machine
//! - [`control`]: answers questions of the owner's commands
//! - [`finish`]: ends the agent once it has shipped what it has
//! - [`monitors`]: watches clock, disk and network, and writes the status file
//! - [`metrics_server`]: serves metrics to the owner, at a loopback address

mod control;
mod crawl;
mod error;
mod finish;
mod heartbeat;
mod host_orders;
mod lease;
mod metrics_server;
mod monitors;
mod owner;
mod parts;
mod probes;
pub mod readiness;
mod routes;
mod ship;

use std::{path::PathBuf, sync::Arc, time::Duration};

use model::AgentId;
use protocol::key::AgentKey;
use tokio::{sync::mpsc, task::JoinSet};
use tokio_util::sync::CancellationToken;

use crate::{
    clock,
    config::Config,
    coordinator_client::CoordinatorClient,
    frontier::{Frontier, FrontierHandle},
};
use control::ControlTask;
use crawl::Crawler;
pub use error::AgentError;
use error::machine;
use finish::Finishing;
use heartbeat::HeartbeatTask;
use metrics_server::{MetricsServer, MetricsSource};
use monitors::StatusWriter;
use owner::MachineWatch;
use parts::Parts;
use probes::{AcceptedProbes, ProbeTask};
use readiness::Phase;
use ship::Shipper;

/// Time that running fetches get to end once the agent stops.
const GRACE: Duration = Duration::from_secs(4);
/// Time in which packages are still sent after that.
const LAST_SHIPPING: Duration = Duration::from_secs(4);
/// Time in which the activity log must be written after that.
const ACTIVITY_LOG_FLUSH: Duration = Duration::from_millis(500);

/// What a run of the agent starts from.
pub struct Agent {
    /// The owner's rules.
    pub config: Config,
    /// Data directory of the agent.
    pub dir: PathBuf,
    /// Identifier that the coordinator gave the agent.
    pub id: AgentId,
    /// Key that signs packages.
    pub key: Arc<AgentKey>,
    /// Connection to the coordinator.
    pub client: Arc<CoordinatorClient>,
    /// Durable state of the crawl.
    pub frontier: Frontier,
}

type Tasks = JoinSet<Result<(), AgentError>>;

impl Agent {
    /// Works until `stop` is cancelled or the agent cannot go on; then ends running fetches, packs
    /// results and ships what it can, within ten seconds. Once `finish` is cancelled, nothing new
    /// starts, and the agent ends when everything is shipped. `print` is called with each new
    /// state, for the owner.
    pub async fn run(
        self,
        stop: CancellationToken,
        finish: CancellationToken,
        print: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<(), AgentError> {
        let metrics_server = MetricsServer::bind(self.config.metrics_listen).await?;
        let (store, mut frontier_failed) =
            FrontierHandle::start(self.frontier).map_err(machine("starting a thread"))?;
        let parts =
            Parts::build(self.config, self.dir, self.id, self.key, self.client, store).await?;
        let stop_tasks = stop.child_token();
        let mut tasks = Tasks::new();
        if let Some(server) = metrics_server {
            print(&format!("metrics at http://{}/metrics", server.address));
            tasks.spawn(server.run(parts.metrics_source(), stop_tasks.clone()));
        }
        if let Some(watch) = MachineWatch::new(&parts.config.idle)? {
            tasks.spawn(watch.run(parts.readiness.clone(), stop_tasks.clone()));
        }
        parts.spawn_tasks(&mut tasks, &stop_tasks, print);
        let ended = tokio::select! {
            () = stop.cancelled() => Ok(()),
            finished = parts.finishing().run(finish) => finished,
            Ok(error) = &mut frontier_failed => Err(AgentError::Frontier(error)),
            ended = first_failure(&mut tasks) => match frontier_failed.try_recv() {
                // Tasks fail when the frontier does; report the cause, not the consequence.
                Ok(cause) => Err(AgentError::Frontier(cause)),
                Err(_) => ended,
            },
        };
        let drained = parts.drain(tasks, &stop_tasks).await;
        ended.and(drained)
    }
}

/// Waits for the first task that fails, or for the end of all.
async fn first_failure(tasks: &mut Tasks) -> Result<(), AgentError> {
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(AgentError::Crashed)??;
    }
    Ok(())
}

impl Parts {
    fn spawn_tasks(
        &self,
        tasks: &mut Tasks,
        stop: &CancellationToken,
        print: impl Fn(&str) + Send + Sync + 'static,
    ) {
        let (probe_orders, ordered) = mpsc::channel(protocol::limits::PROBES_PER_HEARTBEAT);
        let (reports, reported) = mpsc::channel(protocol::limits::PROBES_PER_HEARTBEAT);
        let accepted_probes = Arc::new(AcceptedProbes::default());
        let heartbeat = HeartbeatTask {
            client: Arc::clone(&self.client),
            store: self.store.clone(),
            schedule: Arc::clone(&self.schedule),
            visitor: Arc::clone(&self.visitor),
            accepted_probes: Arc::clone(&accepted_probes),
            host_orders: Arc::clone(&self.host_orders),
            lease: Arc::clone(&self.lease),
            policy: self.policy.clone(),
            coding: self.coding.clone(),
            readiness: self.readiness.clone(),
            pack_trigger: Arc::clone(&self.pack_trigger),
            probe_orders,
            print,
        };
        tasks.spawn(heartbeat.run(stop.clone()));
        tasks.spawn(Arc::clone(&self.host_orders).run(stop.clone()));
        let crawler = Crawler {
            visitor: Arc::clone(&self.visitor),
            gate: Arc::clone(&self.gate),
            lease: Arc::clone(&self.lease),
            readiness: self.readiness.clone(),
        };
        tasks.spawn(crawler.run());
        let probing = ProbeTask {
            prober: Arc::clone(&self.prober),
            visitor: Arc::clone(&self.visitor),
            readiness: self.readiness.clone(),
            concurrency: self.config.probe.concurrency,
            metrics: self.visitor.metrics.clone(),
        };
        tasks.spawn(probing.run(ordered, reports, stop.clone()));
        let client = Arc::clone(&self.client);
        tasks.spawn(probes::report(client, accepted_probes, reported, stop.clone()));
        tasks.spawn(ship::pack(
            Arc::clone(&self.outbox),
            Arc::clone(&self.pack_trigger),
            Arc::clone(&self.sealed),
            stop.clone(),
        ));
        tasks.spawn(self.shipper().run(Arc::clone(&self.sealed), stop.clone()));
        self.spawn_monitors(tasks, stop);
    }

    fn spawn_monitors(&self, tasks: &mut Tasks, stop: &CancellationToken) {
        tasks.spawn(monitors::watch_clock(
            Arc::clone(&self.gate),
            Arc::clone(&self.lease),
            self.readiness.clone(),
            stop.clone(),
        ));
        tasks.spawn(monitors::watch_owner(self.dir.clone(), self.readiness.clone(), stop.clone()));
        tasks.spawn(monitors::watch_disk(
            self.dir.clone(),
            self.config.limits.clone(),
            self.readiness.clone(),
            stop.clone(),
        ));
        tasks.spawn(monitors::watch_network(
            Arc::clone(&self.guard_rules),
            Arc::clone(&self.resolver),
            stop.clone(),
        ));
        tasks.spawn(owner::keep_usage(Arc::clone(&self.gate), stop.clone()));
        tasks.spawn(self.status_writer().run(stop.clone()));
        let control =
            ControlTask { visitor: Arc::clone(&self.visitor), readiness: self.readiness.clone() };
        tasks.spawn(control.run(self.dir.clone(), stop.clone()));
    }

    fn finishing(&self) -> Finishing {
        Finishing {
            schedule: Arc::clone(&self.schedule),
            store: self.store.clone(),
            readiness: self.readiness.clone(),
        }
    }

    fn shipper(&self) -> Shipper {
        Shipper {
            outbox: Arc::clone(&self.outbox),
            client: Arc::clone(&self.client),
            host_orders: Arc::clone(&self.host_orders),
            readiness: self.readiness.clone(),
            metrics: self.visitor.metrics.clone(),
            age: self.config.ship.age,
        }
    }

    fn metrics_source(&self) -> MetricsSource {
        MetricsSource {
            metrics: self.visitor.metrics.clone(),
            status: self.status_writer(),
            lease: Arc::clone(&self.lease),
            started: clock::now(),
        }
    }

    fn status_writer(&self) -> StatusWriter {
        StatusWriter {
            dir: self.dir.clone(),
            agent: self.id,
            name: self.config.profile.name.clone(),
            version: self.config.profile.version.clone(),
            coordinator: self.config.coordinator.to_string(),
            store: self.store.clone(),
            schedule: Arc::clone(&self.schedule),
            gate: Arc::clone(&self.gate),
            readiness: self.readiness.clone(),
        }
    }

    /// Ends all tasks, packs the remaining results and ships what it can.
    async fn drain(&self, mut tasks: Tasks, stop: &CancellationToken) -> Result<(), AgentError> {
        self.readiness.change(|readiness| readiness.phase = Phase::Draining);
        stop.cancel();
        // Every task ends by itself; the time limit is for one that hangs.
        let ended = tokio::time::timeout(GRACE + Duration::from_secs(1), async {
            while tasks.join_next().await.is_some() {}
        });
        if ended.await.is_err() {
            tasks.shutdown().await;
        }
        let shipping = async {
            self.outbox.seal_all().await?;
            self.shipper().send_all().await
        };
        let shipped = tokio::time::timeout(LAST_SHIPPING, shipping).await;
        self.status_writer().write();
        owner::write(Arc::clone(&self.gate), true).await;
        let activity_log = self.visitor.activity_log.clone();
        // Fails only if the blocking thread panics; then the last lines may be missing.
        drop(tokio::task::spawn_blocking(move || activity_log.flush(ACTIVITY_LOG_FLUSH)).await);
        shipped.unwrap_or_else(|_| {
            tracing::info!("some packages stay on disk until the next start");
            Ok(())
        })
    }
}
