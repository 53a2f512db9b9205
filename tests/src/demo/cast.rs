//! The programs on the stage: one coordinator, its agents, and the admin who lets them in.

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::{Context as _, bail};
use model::Strategy;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::RegistryData;
use crate::harness::{Admin, Agent, AgentPlan, Coordinator, CoordinatorPlan, Loader, Room, until};
use crate::net::Door;
use crate::world::{Stage, Who};

/// The coordinator's port inside a virtual internet.
const PORT: u16 = 8480;
/// How long a coordinator may take to notice that a generation was loaded.
const NOTICE: Duration = Duration::from_mins(1);

/// How the cast behaves.
#[derive(Debug, Clone, Copy)]
pub struct Manners {
    /// Least pause between two requests to a host, in milliseconds.
    pub host_delay_ms: u64,
    /// How searches choose whom to ask.
    pub strategy: Strategy,
    /// Round trip that is good enough, in milliseconds.
    pub threshold_ms: u64,
    /// Age at which agents ship what they have, in milliseconds.
    pub ship_age_ms: u64,
}

impl Default for Manners {
    fn default() -> Self {
        Self {
            host_delay_ms: 250,
            strategy: Strategy::Predictive,
            threshold_ms: 50,
            ship_age_ms: 5_000,
        }
    }
}

/// Everybody, up and let in.
#[derive(Debug)]
pub struct Cast {
    /// The coordinator.
    pub coordinator: Coordinator,
    /// The agents, by their place in the world.
    pub agents: Vec<Agent>,
    /// Signed in.
    pub admin: Admin,
    /// Where the dashboard is, from outside.
    pub dashboard: SocketAddr,
    /// Name and password of the admin.
    pub password: String,
    /// What the loader said about the load.
    pub load: Value,
    manners: Manners,
    _door: Option<Door>,
}

impl Cast {
    /// Starts the coordinator, loads the registry data, starts the agents and lets them in. Nothing
    /// is crawled yet.
    pub async fn assemble(
        stage: &Stage,
        data: &RegistryData,
        room: &Room,
        manners: Manners,
    ) -> anyhow::Result<Self> {
        let plan = coordinator_plan(stage, room)?;
        let (data_dir, password) = (plan.data_dir.clone(), plan.admin_password.clone());
        let coordinator = Coordinator::start(plan).await?;
        let (door, dashboard) = open_door(stage, coordinator.address()).await?;
        let load = load(&data_dir, data, room).await?;
        let admin = Admin::sign_in(dashboard, &password).await?;
        generation(&admin).await?;
        let policy = json!({
            "strategy": manners.strategy.as_str(), "threshold_ms": manners.threshold_ms, "patience_s": 20, "host_delay_ms": manners.host_delay_ms,
        });
        admin.set_policy(&policy).await?;
        let agents = Vec::with_capacity(stage.world().agents.len());
        let mut cast =
            Self { coordinator, agents, admin, dashboard, password, load, manners, _door: door };
        cast.let_in(stage, room).await?;
        Ok(cast)
    }

    async fn let_in(&mut self, stage: &Stage, room: &Room) -> anyhow::Result<()> {
        for number in 0..stage.world().agents.len() {
            let plan = self.agent_plan(stage, number, room)?;
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

    fn agent_plan(&self, stage: &Stage, number: usize, room: &Room) -> anyhow::Result<AgentPlan> {
        let who = Who::Agent(number);
        let resident = &stage.world().agents[number];
        let allow = stage.guard_allow().iter().map(|prefix| prefix.parse());
        Ok(AgentPlan {
            name: format!("{} {}", resident.name, resident.city),
            home: room.folder(&resident.name)?,
            coordinator: format!("http://{}", self.coordinator.address()),
            capacity: 50_000,
            bind: stage.address(who),
            resolver: vec![stage.resolver()],
            methods: stage.probe_methods().to_vec(),
            allow: allow.collect::<Result<_, _>>().context("the stage names a strange prefix")?,
            ports: stage.guard_ports(),
            host_delay_ms: self.manners.host_delay_ms,
            ship_age_ms: self.manners.ship_age_ms,
            namespace: stage.namespace(who)?.cloned(),
        })
    }

    /// Begins the crawl.
    pub async fn seed(&self, stage: &Stage) -> anyhow::Result<usize> {
        let urls: Vec<String> = stage.seeds().iter().map(ToString::to_string).collect();
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

fn coordinator_plan(stage: &Stage, room: &Room) -> anyhow::Result<CoordinatorPlan> {
    let address = stage.address(Who::Coordinator).context("the world has no coordinator")?;
    let namespace = stage.namespace(Who::Coordinator)?.cloned();
    let port = if namespace.is_some() { PORT } else { 0 };
    Ok(CoordinatorPlan {
        listen: SocketAddr::new(address, port),
        resolver: Some(stage.resolver()),
        namespace,
        ..CoordinatorPlan::new(room.path().join("coordinator"))
    })
}

/// Lets a browser outside see a dashboard inside: at the usual port, or at any free one.
async fn open_door(
    stage: &Stage,
    inside: SocketAddr,
) -> anyhow::Result<(Option<Door>, SocketAddr)> {
    let usual = TcpListener::bind(("127.0.0.1", PORT)).await;
    let outside = match usual {
        Ok(listener) => listener,
        Err(_) => {
            TcpListener::bind(("127.0.0.1", 0)).await.context("cannot listen for the dashboard")?
        }
    };
    let door = stage.door(Who::Coordinator, outside, inside)?;
    let dashboard = door.as_ref().map_or(inside, Door::outside);
    Ok((door, dashboard))
}

async fn load(
    data_dir: &std::path::Path,
    data: &RegistryData,
    room: &Room,
) -> anyhow::Result<Value> {
    let done = Loader::load(data_dir, &data.folder, &room.path().join("load.log")).await?;
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
