//! The programs of a run: one coordinator, its agents, and an admin session that approves them.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use model::{PolicyPreset, Strategy};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{RegionPlan, RegistryData};
use crate::harness::{
    Admin, Agent, AgentPlan, Coordinator, CoordinatorPlan, Loader, RunDirectory, until,
};
use crate::net::PortForward;
use crate::world::{Environment, Node};

/// The coordinator's port inside a virtual internet.
const PORT: u16 = 8480;
/// How long a coordinator may take to notice that a generation was loaded.
const NOTICE: Duration = Duration::from_mins(1);

/// How the deployment behaves.
#[derive(Debug, Clone, Copy)]
pub struct CrawlSettings {
    /// Least pause between two requests to a host, in milliseconds.
    pub host_delay_ms: u64,
    /// Settings of searches and balance.
    pub preset: PolicyPreset,
    /// How searches choose whom to ask, in place of the preset's strategy.
    pub strategy: Option<Strategy>,
    /// Round trip that is good enough, in milliseconds.
    pub threshold_ms: u64,
    /// Age at which agents ship what they have, in milliseconds.
    pub ship_age_ms: u64,
    /// The region that the agents form; none without a region.
    pub region: Option<RegionPlan>,
}

impl Default for CrawlSettings {
    fn default() -> Self {
        Self {
            host_delay_ms: 250,
            preset: PolicyPreset::Default,
            strategy: None,
            threshold_ms: 50,
            ship_age_ms: 5_000,
            region: None,
        }
    }
}

/// Everybody, up and let in.
#[derive(Debug)]
pub struct Deployment {
    pub coordinator: Coordinator,
    /// The agents, by their place in the world.
    pub agents: Vec<Agent>,
    pub admin: Admin,
    /// Where the dashboard is, from outside.
    pub dashboard: SocketAddr,
    /// Name and password of the admin.
    pub password: String,
    /// What the loader said about the load.
    pub load: Value,
    settings: CrawlSettings,
    _door: Option<PortForward>,
}

impl Deployment {
    /// Starts the coordinator, loads the registry data, starts the agents and lets them in. Nothing
    /// is crawled yet.
    pub async fn assemble(
        environment: &Environment,
        data: &RegistryData,
        run_directory: &RunDirectory,
        settings: CrawlSettings,
    ) -> anyhow::Result<Self> {
        let plan = coordinator_plan(environment, run_directory, settings)?;
        let data_dir = plan.data_dir.clone();
        let password = plan.admin_password.clone();
        let coordinator = Coordinator::start(plan).await?;
        let (port_forward, dashboard) = open_door(environment, coordinator.address()).await?;
        let load = load(&data_dir, data, run_directory).await?;
        let admin = Admin::sign_in(dashboard, &password).await?;
        generation(&admin).await?;
        let policy = json!({
            "preset": settings.preset.as_str(),
            "strategy": settings.strategy.map(Strategy::as_str),
            "threshold_ms": settings.threshold_ms,
            "patience_s": 20,
            "host_delay_ms": settings.host_delay_ms,
        });
        admin.set_policy(&policy).await?;
        let agents = Vec::with_capacity(environment.world().agents.len());
        let mut deployment = Self {
            coordinator,
            agents,
            admin,
            dashboard,
            password,
            load,
            settings,
            _door: port_forward,
        };
        deployment.approve_agents(environment, run_directory).await?;
        Ok(deployment)
    }

    async fn approve_agents(
        &mut self,
        environment: &Environment,
        run_directory: &RunDirectory,
    ) -> anyhow::Result<()> {
        for number in 0..environment.world().agents.len() {
            let plan = self.agent_plan(environment, number, run_directory)?;
            let token = self.admin.join_token(&plan.name).await?;
            let agent = Agent::join(plan, &token).await?;
            self.admin.approve(agent.id()).await?;
            self.agents.push(agent);
        }
        for agent in &mut self.agents {
            agent.approved().await?;
        }
        Ok(())
    }

    fn agent_plan(
        &self,
        environment: &Environment,
        number: usize,
        run_directory: &RunDirectory,
    ) -> anyhow::Result<AgentPlan> {
        let who = Node::Agent(number);
        let participant = &environment.world().agents[number];
        let allow = environment.guard_allow().iter().map(|prefix| prefix.parse());
        Ok(AgentPlan {
            name: format!("{} {}", participant.name, participant.city),
            home: run_directory.folder(&participant.name)?,
            coordinator: format!("http://{}", self.coordinator.address()),
            capacity: 50_000,
            bind: environment.address(who),
            resolver: vec![environment.resolver()],
            methods: environment.probe_methods().to_vec(),
            allow: allow
                .collect::<Result<_, _>>()
                .context("the environment names a strange prefix")?,
            ports: environment.guard_ports(),
            host_delay_ms: self.settings.host_delay_ms,
            ship_age_ms: self.settings.ship_age_ms,
            metrics: None,
            place: participant.place.clone(),
            peer: self.settings.region.map(|region| region.peer(environment, number)),
            namespace: environment.namespace(who)?.cloned(),
        })
    }

    /// Begins the crawl.
    pub async fn seed(&self, environment: &Environment) -> anyhow::Result<usize> {
        let urls: Vec<String> = environment.seeds().iter().map(ToString::to_string).collect();
        let answer = self.admin.seed(&urls).await?;
        match answer["rejected"].as_array() {
            Some(rejected) if !rejected.is_empty() => {
                bail!("the coordinator rejected seeds: {rejected:?}")
            }
            _ => Ok(urls.len()),
        }
    }

    /// The agent that calls itself so at the coordinator.
    pub fn agent_named(&self, name: &str) -> Option<usize> {
        self.agents.iter().position(|agent| agent.plan().name == name)
    }

    /// Asks everybody to end, agents first, and waits.
    pub async fn dismiss(mut self) -> anyhow::Result<()> {
        let ends = self.agents.iter_mut().map(Agent::stop);
        for end in futures_util::future::join_all(ends).await {
            end?;
        }
        self.coordinator.stop().await?;
        Ok(())
    }
}

fn coordinator_plan(
    environment: &Environment,
    run_directory: &RunDirectory,
    settings: CrawlSettings,
) -> anyhow::Result<CoordinatorPlan> {
    let address = environment.address(Node::Coordinator).context("the world has no coordinator")?;
    let namespace = environment.namespace(Node::Coordinator)?.cloned();
    let port = if namespace.is_some() { PORT } else { 0 };
    Ok(CoordinatorPlan {
        listen: SocketAddr::new(address, port),
        resolver: Some(environment.resolver()),
        namespace,
        config: settings.region.map(|region| region.rules(run_directory)).transpose()?,
        ..CoordinatorPlan::new(run_directory.path().join("coordinator"))
    })
}

/// Lets a browser outside see a dashboard inside: at the usual port, or at any free one.
async fn open_door(
    environment: &Environment,
    inside: SocketAddr,
) -> anyhow::Result<(Option<PortForward>, SocketAddr)> {
    let usual = TcpListener::bind(("127.0.0.1", PORT)).await;
    let outside = match usual {
        Ok(listener) => listener,
        Err(_) => {
            TcpListener::bind(("127.0.0.1", 0)).await.context("cannot listen for the dashboard")?
        }
    };
    let port_forward = environment.port_forward(Node::Coordinator, outside, inside)?;
    let dashboard = port_forward.as_ref().map_or(inside, PortForward::outside);
    Ok((port_forward, dashboard))
}

async fn load(
    data_dir: &std::path::Path,
    data: &RegistryData,
    run_directory: &RunDirectory,
) -> anyhow::Result<Value> {
    let done = Loader::load(data_dir, &data.folder, &run_directory.path().join("load.log")).await?;
    if !done.status.success() {
        bail!("rir-loader ended with {}: {}", done.status, done.said);
    }
    serde_json::from_str(&done.output.join("\n")).context("rir-loader's report is no JSON")
}

/// Waits until the coordinator uses what was loaded.
async fn generation(admin: &Admin) -> anyhow::Result<()> {
    let look = || async {
        match admin.get("overview").await {
            Ok(overview) if overview["generation"].is_object() => Ok(()),
            Ok(_) => Err("no generation".to_owned()),
            Err(error) => Err(error.to_string()),
        }
    };
    Ok(until("loaded generation at the coordinator", NOTICE, look).await?)
}
