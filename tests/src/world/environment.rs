//! Environment of a world: everything around the programs under test, in this process. It consists
//! of the virtual internet (at real addresses), the web with its referee, and the name server.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use url::Url;

use super::demo::{DemoWorld, NetworkKind, WEB};
use super::error::EnvironmentError;
use crate::dns::{self, Zone};
use crate::net::{Internet, Links, Namespace, NetError, PortForward, Proof};
use crate::referee::Referee;
use crate::web::{self, Web};
use crate::web_server::{Pace, Server};

/// The participant that a program or socket belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Node {
    Coordinator,
    /// The agent with this index.
    Agent(usize),
    /// All web hosts.
    Web,
    /// The name server.
    Dns,
}

/// A world that is up. Dropping it takes everything down; programs started on it should have ended
/// before.
#[derive(Debug)]
pub struct Environment {
    world: DemoWorld,
    web: Arc<Web>,
    referee: Referee,
    _server: Server,
    dns: dns::Server,
    internet: Option<Internet>,
}

impl Environment {
    /// Opens the environment of a world with so many documents. Call it inside a tokio runtime; at
    /// real addresses it needs what [`Internet::open`] needs, and when
    /// [`EnvironmentError::is_unavailable`] says so, the caller should open the world's
    /// [mirror](DemoWorld::on_loopback) instead.
    pub fn open(world: DemoWorld, documents: usize) -> Result<Self, EnvironmentError> {
        match world.network_kind() {
            NetworkKind::Namespaces => Self::open_internet(world, documents),
            NetworkKind::Loopback => Self::open_loopback(world, documents),
        }
    }

    fn open_internet(world: DemoWorld, documents: usize) -> Result<Self, EnvironmentError> {
        const PORT: u16 = 80;
        let internet = Internet::open(world.internet_plan())?;
        let web = Arc::new(Web::generate(&world.web_plan(documents, PORT))?);
        let referee = Referee::new(Arc::clone(&web));
        let listeners = web::listen::inside(internet.namespace(WEB)?, PORT)?;
        let server = Server::start(Arc::clone(&web), referee.clone(), Pace::at_once(), listeners)?;
        let sockets =
            dns::Sockets::inside(internet.namespace(&world.dns.name)?, world.dns.address)?;
        let dns = dns::Server::start(Zone::new(web.names()), sockets)?;
        Ok(Self { world, web, referee, _server: server, dns, internet: Some(internet) })
    }

    fn open_loopback(world: DemoWorld, documents: usize) -> Result<Self, EnvironmentError> {
        let (port, listeners) =
            web::listen::on_loopback(world.hosts.iter().map(|host| host.address))?;
        let web = Arc::new(Web::generate(&world.web_plan(documents, port))?);
        let referee = Referee::new(Arc::clone(&web));
        let server =
            Server::start(Arc::clone(&web), referee.clone(), pace(world.clone()), listeners)?;
        let sockets = dns::Sockets::open(SocketAddr::new(world.dns.address, 0))?;
        let dns = dns::Server::start(Zone::new(web.names()), sockets)?;
        Ok(Self { world, web, referee, _server: server, dns, internet: None })
    }

    /// Who is where.
    pub fn world(&self) -> &DemoWorld {
        &self.world
    }

    /// The web, to change pages and to ask what searches must find.
    pub fn web(&self) -> &Web {
        &self.web
    }

    /// The referee of the web.
    pub fn referee(&self) -> &Referee {
        &self.referee
    }

    /// URLs to start the crawl with.
    pub fn seeds(&self) -> Vec<Url> {
        self.web.seeds()
    }

    /// Where names are looked up: for the coordinator's `--resolver` and the agents' `resolver`.
    pub fn resolver(&self) -> SocketAddr {
        self.dns.address()
    }

    /// The address of a participant: what an agent binds to, and what the coordinator listens on.
    /// All web hosts have many; then the first is given.
    pub fn address(&self, who: Node) -> Option<IpAddr> {
        let participant = match who {
            Node::Coordinator => Some(&self.world.coordinator),
            Node::Agent(index) => self.world.agents.get(index),
            Node::Web => self.world.hosts.first(),
            Node::Dns => Some(&self.world.dns),
        };
        participant.map(|participant| participant.address)
    }

    /// Methods with which distances can be measured on this environment, best first: words of an
    /// agent's configuration.
    pub fn probe_methods(&self) -> &'static [&'static str] {
        match self.world.network_kind() {
            NetworkKind::Namespaces => &["icmp", "tcp", "head"],
            NetworkKind::Loopback => &["head"],
        }
    }

    /// Prefixes that an agent's owner must allow beyond the built-in guard.
    pub fn guard_allow(&self) -> &'static [&'static str] {
        match self.world.network_kind() {
            NetworkKind::Namespaces => &[],
            NetworkKind::Loopback => &["127.0.0.0/8"],
        }
    }

    /// Ports that an agent's owner must allow.
    pub fn guard_ports(&self) -> Vec<u16> {
        vec![self.web.port()]
    }

    /// Runs `work` in the namespace of a participant, to open sockets there.
    pub fn run<T: Send>(&self, who: Node, work: impl FnOnce() -> T + Send) -> Result<T, NetError> {
        match self.namespace(who)? {
            Some(namespace) => namespace.run(work),
            None => Ok(work()),
        }
    }

    /// Lets connections to `outside` in to a listener of somebody, such as the coordinator's
    /// dashboard. None on loopback, where there is no outside: use `inside` itself.
    pub fn port_forward(
        &self,
        who: Node,
        outside: TcpListener,
        inside: SocketAddr,
    ) -> Result<Option<PortForward>, NetError> {
        self.namespace(who)?
            .map(|namespace| PortForward::open(namespace.clone(), outside, inside))
            .transpose()
    }

    /// Verifies that nothing can leave. None on loopback: there the agents' guard allows nothing
    /// but 127.0.0.0/8.
    pub fn prove_isolated(&self) -> Result<Option<Proof>, NetError> {
        self.internet.as_ref().map(Internet::prove_isolated).transpose()
    }

    /// The handle to cut, slow and heal ways; none on loopback.
    pub fn links(&self) -> Option<Links> {
        self.internet.as_ref().map(Internet::links)
    }

    /// Namespace of a participant; none on loopback.
    pub fn namespace(&self, who: Node) -> Result<Option<&Namespace>, NetError> {
        let Some(internet) = &self.internet else { return Ok(None) };
        let name = match who {
            Node::Coordinator => Some(self.world.coordinator.name.as_str()),
            Node::Agent(index) => self.world.agents.get(index).map(|agent| agent.name.as_str()),
            Node::Web => Some(WEB),
            Node::Dns => Some(self.world.dns.name.as_str()),
        };
        let name = name.ok_or_else(|| NetError::Plan(format!("there is no {who:?}")))?;
        internet.namespace(name).map(Some)
    }
}

/// The round trip between an agent and a host, before each answer.
fn pace(world: DemoWorld) -> Pace {
    Pace::imposed(move |asker, host| {
        let rtt_ms = world.agent_at(asker).map_or(0.0, |agent| world.rtt_ms(agent, host));
        Duration::try_from_secs_f64(rtt_ms / 1_000.0).unwrap_or(Duration::ZERO)
    })
}
