//! An agent under test.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use ipnet::IpNet;
use model::{AgentId, PlaceClaim};
use serde_json::{Value, json};

use super::{HarnessError, Process, Program};
use crate::net::Namespace;

/// A small world asks the same few agents about hundreds of addresses within a minute.
const NEW_TARGETS_PER_MINUTE: u32 = 6_000;
/// Some pages of the webs are broken, and worlds do not exist for long.
const RETRY_MS: u64 = 2_000;
const START: Duration = Duration::from_secs(30);
/// An agent promises to end within ten seconds.
const STOP: Duration = Duration::from_secs(15);

/// How an agent is started; what its owner would write into its file.
#[derive(Debug, Clone)]
pub struct AgentPlan {
    /// Shown to admins; also the name of its folder.
    pub name: String,
    /// Folder for its file, its log and its data.
    pub home: PathBuf,
    /// The coordinator's URL, seen from the agent.
    pub coordinator: String,
    /// Pages a day.
    pub capacity: u32,
    /// Source address of everything.
    pub bind: Option<IpAddr>,
    /// Its name servers.
    pub resolver: Vec<SocketAddr>,
    /// How it may probe: `icmp`, `tcp`, `head`.
    pub methods: Vec<&'static str>,
    /// Networks that the guard lets through although they are not public.
    pub allow: Vec<IpNet>,
    /// Ports that the guard lets through.
    pub ports: Vec<u16>,
    /// The owner's least pause between two requests to a host, in milliseconds.
    pub host_delay_ms: u64,
    /// Age at which a package is closed and shipped, in milliseconds.
    pub ship_age_ms: u64,
    /// Where it serves metrics, if anywhere; port 0 for any.
    pub metrics: Option<SocketAddr>,
    /// Whether it may be in a region, and where it listens for peers.
    pub peer: Option<PeerPlan>,
    /// Where its owner says it is.
    pub place: Option<PlaceClaim>,
    /// Where it runs.
    pub namespace: Option<Namespace>,
}

/// How an agent takes part in a region.
#[derive(Debug, Clone, Copy)]
pub struct PeerPlan {
    /// Where it listens; none if it only opens connections.
    pub listen: Option<SocketAddr>,
}

impl AgentPlan {
    /// Writes the owner's file; its path.
    fn write(&self) -> Result<PathBuf, HarnessError> {
        std::fs::create_dir_all(&self.home).map_err(HarnessError::prepare(&self.home))?;
        let path = self.home.join("agent.toml");
        std::fs::write(&path, self.file()?).map_err(HarnessError::prepare(&path))?;
        Ok(path)
    }

    fn command(&self, join_token: Option<&str>) -> Result<Command, HarnessError> {
        let mut command = Program::Agent.command()?;
        command.args(["run", "--config"]).arg(self.write()?);
        if let Some(token) = join_token {
            command.env("NEARCRAWL_JOIN_TOKEN", token);
        }
        if let Some(namespace) = &self.namespace {
            namespace.enter_command(&mut command);
        }
        Ok(command)
    }
}

impl AgentPlan {
    fn file(&self) -> Result<String, HarnessError> {
        let listen = self.peer.and_then(|plan| plan.listen);
        let advertise: Vec<String> =
            listen.iter().map(|address| format!("http://{address}/")).collect();
        // Degrees, because a city of the matrix need not be in the agent's list.
        let place = self.place.as_ref().map(|place| {
            let city = place.city();
            json!({ "city": city, "latitude": place.latitude(), "longitude": place.longitude() })
        });
        let file = json!({
            "coordinator": self.coordinator,
            // The coordinator of a virtual internet has no certificate.
            "allow_plain_http": true,
            "contact": "https://demo.nearcrawl.example/bot",
            "name": self.name,
            "data_dir": self.home.join("data"),
            "capacity_pages_per_day": self.capacity,
            "bind": self.bind,
            "resolver": (!self.resolver.is_empty()).then_some(&self.resolver),
            "probe": {
                "methods": self.methods,
                "new_targets_per_minute": NEW_TARGETS_PER_MINUTE,
            },
            "guard": { "allow": self.allow, "ports": self.ports },
            "limits": { "host_delay_ms": self.host_delay_ms, "retry_ms": RETRY_MS },
            "ship": { "age_ms": self.ship_age_ms },
            "metrics": { "listen": self.metrics },
            "peer": {
                "enabled": self.peer.is_some(),
                "listen": listen,
                "advertise": advertise,
                // Agents of a small world are at several registries.
                "region": "world",
            },
            "place": place,
        });
        toml::to_string(&without_nulls(file))
            .map_err(|error| HarnessError::prepare(&self.home)(std::io::Error::other(error)))
    }
}

/// TOML has no null: what is not set is left out.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let set = fields.into_iter().filter(|(_, value)| !value.is_null());
            set.map(|(name, value)| (name, without_nulls(value))).collect()
        }
        value => value,
    }
}

/// A running agent, or one that was killed and can be started again.
#[derive(Debug)]
pub struct Agent {
    plan: AgentPlan,
    process: Process,
    id: AgentId,
}

impl Agent {
    /// Starts it with a join token and waits until it is enrolled.
    pub async fn join(plan: AgentPlan, join_token: &str) -> Result<Self, HarnessError> {
        let mut process = begin(&plan, Some(join_token))?;
        let id = process.line("an enrolled agent", START, enrolled).await?;
        Ok(Self { plan, process, id })
    }

    /// Its name at the coordinator.
    pub fn id(&self) -> AgentId {
        self.id
    }

    /// What it was started with.
    pub fn plan(&self) -> &AgentPlan {
        &self.plan
    }

    /// What it wrote last into its status file; null before that.
    pub fn status(&self) -> Value {
        let file = std::fs::read(self.plan.home.join("data/status.json"));
        file.ok().and_then(|json| serde_json::from_slice(&json).ok()).unwrap_or_default()
    }

    pub fn process(&mut self) -> &mut Process {
        &mut self.process
    }

    /// Waits until it says that it was approved.
    pub async fn approved(&mut self) -> Result<(), HarnessError> {
        let approved = |line: &str| (line == "approved").then_some(());
        self.process.line("an approved agent", START, approved).await
    }

    pub fn kill(&mut self) {
        self.process.kill();
    }

    /// Starts it again after a kill or a stop, with the same data and without a token.
    pub fn restart(&mut self) -> Result<(), HarnessError> {
        self.process.kill();
        self.process = begin(&self.plan, None)?;
        Ok(())
    }

    /// Asks it to end and waits.
    pub async fn stop(&mut self) -> Result<ExitStatus, HarnessError> {
        self.process.stop(STOP).await
    }
}

fn begin(plan: &AgentPlan, join_token: Option<&str>) -> Result<Process, HarnessError> {
    let command = plan.command(join_token)?;
    Process::start(&plan.name, command, &plan.home.join("agent.log"))
}

/// `enrolled as agt_12 (pending)`
fn enrolled(line: &str) -> Option<AgentId> {
    line.strip_prefix("enrolled as ")?.split_whitespace().next()?.parse().ok()
}
