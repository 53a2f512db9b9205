//! The running agent: how its tasks are wired, started and ended.
//!
//! - [`parts`]: what the tasks share; `task_parts`: what single tasks are given of it
//! - [`readiness`]: whether the agent may work; [`idle_reason`]: why not
//! - [`heartbeat`]: asks the coordinator for work and passes the answer on
//! - [`routes`]: which routes of an answer are new
//! - [`crawl`]: visits hosts that are due
//! - [`filler`]: brings hosts into the schedule when they are due
//! - [`lookups`]: looks up the names of hosts before they are visited
//! - [`probes`]: measures round trips and reports them
//! - [`host_orders`]: carries out orders about hosts, such as releasing them
//! - [`bundle_sender`]: sends the bundles of released hosts
//! - [`takeovers`]: takes hosts over with the bundles of their former agents
//! - [`ship`]: sends packages
//! - [`owner`]: keeps what was used of budgets, and rests while others use the machine
//! - [`control`]: answers questions of the owner's commands
//! - [`inspector`]: what a host or a URL waits for
//! - [`finish`]: ends the agent once it has shipped what it has
//! - [`leaving`]: ends the agent for good: hands its hosts over, and has it deregistered
//! - [`monitors`]: watches clock, disk and network, and writes the status file
//! - [`updates`]: looks for releases, and replaces the program
//! - [`metrics_server`]: serves metrics to the owner, at a loopback address

mod bundle_sender;
mod control;
mod crawl;
mod error;
mod filler;
mod finish;
mod heartbeat;
mod host_orders;
pub mod idle_reason;
mod inspector;
mod leaving;
mod lookups;
mod metrics_server;
mod monitors;
mod owner;
mod parts;
mod probes;
pub mod readiness;
mod routes;
mod ship;
mod takeovers;
mod task_parts;
mod updates;

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicBool},
    time::Duration,
};

use model::{AgentId, AgentState};
use protocol::key::{AgentKey, PublicKey};
use tokio::{
    sync::{Semaphore, mpsc},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use crate::{
    config::Config,
    coordinator_client::CoordinatorClient,
    data_dir::LEAVE_REQUEST,
    frontier::{Frontier, FrontierHandle},
    peers::PeerListener,
};
use control::ControlTask;
use crawl::Crawler;
pub use error::AgentError;
use error::machine;
use filler::Filler;
use heartbeat::HeartbeatTask;
use lookups::LookupTask;
use metrics_server::MetricsServer;
use owner::MachineWatch;
use parts::Parts;
use probes::{AcceptedProbes, ProbeQueue, ProbeTask};
use readiness::Phase;

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
    /// Key of the coordinator of the enrolment.
    pub coordinator_key: PublicKey,
    /// Connection to the coordinator.
    pub client: Arc<CoordinatorClient>,
    /// Durable state of the crawl.
    pub frontier: Frontier,
    /// Whether the installed program runs this one in its place.
    pub is_launched: bool,
}

/// How a run of the agent ended, if not by an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunOutcome {
    /// It can go on with its data directory.
    Stopped,
    /// It is to be restarted, as another program or as the same one.
    Restart,
    /// It was deregistered, because its owner ended it: its data directory is of no use.
    Left,
}

type Tasks = JoinSet<Result<(), AgentError>>;

impl Agent {
    /// Works until `stop` is cancelled or the agent cannot go on; then ends running fetches, packs
    /// results and ships what it can, within ten seconds. Once `finish` is cancelled, nothing new
    /// starts, and the agent ends when everything is shipped. `print` is called with each new
    /// state, for the owner. Once the owner has requested it in the data directory, the agent hands
    /// its hosts over and has itself deregistered.
    pub async fn run(
        self,
        stop: CancellationToken,
        finish: CancellationToken,
        print: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<RunOutcome, AgentError> {
        let metrics_server = MetricsServer::bind(self.config.metrics_listen).await?;
        let (store, mut frontier_failed) =
            FrontierHandle::start(self.frontier).map_err(machine("starting a thread"))?;
        let listen = self.config.peer.as_ref().and_then(|peer| peer.listen);
        let listener = PeerListener::bind(listen)
            .await
            .map_err(machine("listening on the address in [peer]"))?;
        let stop_tasks = stop.child_token();
        let keys = (self.key, self.coordinator_key);
        let connections = (self.client, store, stop_tasks.clone());
        let parts = Parts::build(self.config, self.dir, self.id, keys, connections).await?;
        let mut tasks = Tasks::new();
        parts.spawn_region(&mut tasks, &stop_tasks, listener);
        if let Some(server) = metrics_server {
            print(&format!("metrics at http://{}/metrics", server.address));
            spawn_until(&mut tasks, &stop_tasks, server.run(parts.metrics_source()));
        }
        if let Some(watch) = MachineWatch::new(&parts.config.idle)? {
            spawn_until(&mut tasks, &stop_tasks, watch.run(parts.readiness.clone()));
        }
        let leave = CancellationToken::new();
        let restart = CancellationToken::new();
        if let Some(task) = parts.updates(self.is_launched, restart.clone()) {
            spawn_until(&mut tasks, &stop_tasks, task.run());
        }
        parts.spawn_tasks(&mut tasks, &stop_tasks, &leave, print);
        let ended = tokio::select! {
            // Checked in this order, because an agent that has left is revoked, and its heartbeat
            // learns of that as well.
            biased;
            () = stop.cancelled() => Ok(RunOutcome::Stopped),
            left = parts.leaving().run(leave) => left.map(|()| RunOutcome::Left),
            finished = parts.finishing().run(finish) => finished.map(|()| RunOutcome::Stopped),
            () = restart.cancelled() => Ok(RunOutcome::Restart),
            Ok(error) = &mut frontier_failed => Err(AgentError::Frontier(error)),
            ended = first_failure(&mut tasks) => match frontier_failed.try_recv() {
                // Tasks fail when the frontier does; report the cause, not the consequence.
                Ok(cause) => Err(AgentError::Frontier(cause)),
                Err(_) => parts.how_ended(ended),
            },
        };
        let drained = parts.drain(tasks, &stop_tasks).await;
        match ended {
            // The results that are left have no agent any more.
            Ok(RunOutcome::Left) => Ok(RunOutcome::Left),
            ended => ended.and_then(|ended| drained.map(|()| ended)),
        }
    }
}

/// Starts a task that may be cut off wherever it waits, once the agent stops.
fn spawn_until(
    tasks: &mut Tasks,
    stop: &CancellationToken,
    task: impl Future<Output = Result<(), AgentError>> + Send + 'static,
) {
    let stop = stop.clone();
    tasks.spawn(async move { stop.run_until_cancelled_owned(task).await.unwrap_or(Ok(())) });
}

/// Waits for the first task that fails, or for the end of all.
async fn first_failure(tasks: &mut Tasks) -> Result<(), AgentError> {
    while let Some(ended) = tasks.join_next().await {
        ended.map_err(AgentError::Crashed)??;
    }
    Ok(())
}

impl Parts {
    /// A revocation is what an agent that leaves wants. With another refusal it is still
    /// registered.
    fn how_ended(&self, ended: Result<(), AgentError>) -> Result<RunOutcome, AgentError> {
        // A refusal may come before the request to leave was noticed.
        let is_leaving = LEAVE_REQUEST.is_set(&self.dir);
        match ended {
            Err(AgentError::Revoked) if is_leaving => Ok(RunOutcome::Left),
            Err(AgentError::Banned(error)) if is_leaving && error.is_gone() => Ok(RunOutcome::Left),
            Err(AgentError::Banned(error)) if is_leaving => Err(AgentError::NotDeregistered(error)),
            ended => ended.map(|()| RunOutcome::Stopped),
        }
    }

    fn spawn_tasks(
        &self,
        tasks: &mut Tasks,
        stop: &CancellationToken,
        leave: &CancellationToken,
        print: impl Fn(&str) + Send + Sync + 'static,
    ) {
        let (orders, ordered) = mpsc::channel(protocol::limits::PROBES_PER_HEARTBEAT);
        let (reports, reported) = mpsc::channel(protocol::limits::PROBES_PER_HEARTBEAT);
        let accepted_probes = Arc::new(AcceptedProbes::default());
        let takeovers = Arc::new(self.takeovers());
        let heartbeat = HeartbeatTask {
            profile: self.config.profile.clone(),
            profile_is_known: AtomicBool::new(false),
            client: Arc::clone(&self.client),
            visitor: Arc::clone(&self.visitor),
            probe_queue: ProbeQueue { accepted: Arc::clone(&accepted_probes), orders },
            host_orders: Arc::clone(&self.host_orders),
            takeovers: Arc::clone(&takeovers),
            policy: self.policy.clone(),
            readiness: self.readiness.clone(),
            inspector: self.inspector(),
            url_statuses: Mutex::default(),
            print,
        };
        spawn_until(tasks, stop, heartbeat.run());
        spawn_until(tasks, stop, takeovers.run());
        spawn_until(tasks, stop, Arc::clone(&self.host_orders).run());
        self.spawn_crawl(tasks, stop);
        let probing = ProbeTask {
            prober: Arc::clone(&self.prober),
            accepted: Arc::clone(&accepted_probes),
            visitor: Arc::clone(&self.visitor),
            readiness: self.readiness.clone(),
            concurrency: self.config.probe.concurrency,
        };
        tasks.spawn(probing.run(ordered, reports, stop.clone()));
        let client = Arc::clone(&self.client);
        let readiness = self.readiness.clone();
        let reporting = probes::report(client, accepted_probes, readiness, reported);
        spawn_until(tasks, stop, reporting);
        tasks.spawn(ship::pack(
            Arc::clone(&self.outbox),
            Arc::clone(&self.visitor.pack_trigger),
            Arc::clone(&self.sealed),
            stop.clone(),
        ));
        spawn_until(tasks, stop, self.shipper().run(Arc::clone(&self.sealed)));
        spawn_until(tasks, stop, self.bundle_sender().run());
        self.spawn_monitors(tasks, stop, leave);
    }

    /// Starts the tasks that bring hosts in, look them up and visit them.
    fn spawn_crawl(&self, tasks: &mut Tasks, stop: &CancellationToken) {
        let crawler = Crawler {
            visitor: Arc::clone(&self.visitor),
            gate: Arc::clone(&self.gate),
            readiness: self.readiness.clone(),
            slots: Arc::new(Semaphore::new(self.visitor.limits.concurrency)),
        };
        tasks.spawn(Arc::new(crawler).run());
        let filler =
            Filler { visitor: Arc::clone(&self.visitor), readiness: self.readiness.clone() };
        spawn_until(tasks, stop, filler.run());
        let lookups =
            LookupTask { visitor: Arc::clone(&self.visitor), readiness: self.readiness.clone() };
        spawn_until(tasks, stop, lookups.run());
    }

    /// Starts what belongs to the region, where the owner wants one.
    fn spawn_region(
        &self,
        tasks: &mut Tasks,
        stop: &CancellationToken,
        listener: Option<PeerListener>,
    ) {
        let Some(peers) = &self.visitor.peers else { return };
        if let Some(policy) = peers.stored_policy() {
            // A member goes on although the coordinator does not answer.
            self.policy.send_replace(policy);
            self.readiness.change(|readiness| readiness.state = Some(AgentState::Approved));
        }
        let running = Arc::clone(peers).run(stop.clone());
        tasks.spawn(async move { Ok(running.await?) });
        let announcing = monitors::announce_sleep(Arc::clone(peers), self.readiness.clone());
        spawn_until(tasks, stop, announcing);
        if let Some(listener) = listener {
            let serving = listener.run(Arc::clone(peers), stop.clone());
            tasks.spawn(async move { serving.await.map_err(machine("serving peers")) });
        }
    }

    fn spawn_monitors(
        &self,
        tasks: &mut Tasks,
        stop: &CancellationToken,
        leave: &CancellationToken,
    ) {
        let Self { dir, gate, readiness, .. } = self;
        let visitor = Arc::clone(&self.visitor);
        let clock = monitors::watch_clock(Arc::clone(gate), visitor, readiness.clone());
        spawn_until(tasks, stop, clock);
        spawn_until(tasks, stop, monitors::watch_suspensions(Arc::clone(&self.visitor)));
        let owner = monitors::watch_owner(dir.clone(), readiness.clone(), leave.clone());
        spawn_until(tasks, stop, owner);
        let limits = self.config.limits.clone();
        let disk = monitors::watch_disk(dir.clone(), limits, readiness.clone());
        spawn_until(tasks, stop, disk);
        let rules = Arc::clone(&self.guard_rules);
        let resolver = Arc::clone(&self.visitor.resolver);
        spawn_until(tasks, stop, monitors::watch_network(rules, resolver));
        let fetcher = Arc::clone(&self.visitor.fetcher);
        spawn_until(tasks, stop, monitors::close_old_connections(fetcher));
        spawn_until(tasks, stop, owner::keep_usage(Arc::clone(gate)));
        spawn_until(tasks, stop, self.status_writer().run());
        let control = ControlTask { inspector: self.inspector() };
        tasks.spawn(control.run(self.dir.clone(), stop.clone()));
    }

    /// Ends all tasks, packs the remaining results and ships what it can.
    async fn drain(&self, mut tasks: Tasks, stop: &CancellationToken) -> Result<(), AgentError> {
        let is_asleep = self.readiness.current().asleep.is_some();
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
            // Outside of the owner's hours packages wait on disk.
            if is_asleep { Ok(()) } else { self.shipper().send_all(true).await }
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
