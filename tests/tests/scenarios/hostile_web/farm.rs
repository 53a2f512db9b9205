//! The farm: hostile and healthy hosts, the real agent, and a coordinator that routes to it.

use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Duration;

use crawl_bench::coordinator::{Coordinator, TOKEN};
use model::CrawlPolicy;
use tests::harness::{Process, Program, RunDirectory};
use tests::web::listen::on_loopback;

use super::script::{ASKED_OF_ALL, Reply, page, pages};
use super::server::Server;
use super::{Behaviour, Line, activity};

/// Most pages that the policy of short scenarios allows of a host, so that endless sites end.
pub(super) const PAGES_A_HOST: usize = 40;

/// An address that the owner's guard refuses, on which a server counts what arrives.
pub(super) const FORBIDDEN: Ipv4Addr = Ipv4Addr::new(127, 99, 0, 1);

/// An agent promises to end within ten seconds.
const STOP: Duration = Duration::from_secs(15);

/// What the owner and the operator set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings {
    /// Time limit of a connection, and of the first byte after it.
    pub(crate) first_byte: Duration,
    /// Time limit of a whole fetch.
    pub(crate) fetch: Duration,
    /// Pause between two requests to a host.
    pub(crate) delay: Duration,
    /// Most pages of a host.
    pub(crate) pages_a_host: usize,
}

impl Settings {
    /// Short limits, so that a scenario ends soon. A fetch still takes longer than the time after
    /// which a slow body is recognised.
    pub(crate) fn short() -> Self {
        Self {
            first_byte: Duration::from_secs(5),
            fetch: Duration::from_secs(14),
            delay: Duration::from_millis(50),
            pages_a_host: PAGES_A_HOST,
        }
    }

    /// The limits that an agent is shipped with.
    pub(crate) fn shipped() -> Self {
        Self {
            first_byte: Duration::from_secs(20),
            fetch: Duration::from_mins(1),
            delay: Duration::from_secs(1),
            pages_a_host: 10_000,
        }
    }
}

/// Number and size of the healthy hosts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Healthy {
    pub(crate) hosts: usize,
    pub(crate) pages: usize,
}

/// Servers and agent; all of them end when this is dropped.
pub(crate) struct Farm {
    agent: Process,
    server: Server,
    hostile: Vec<(IpAddr, Behaviour)>,
    healthy: Vec<IpAddr>,
    directory: RunDirectory,
    _coordinator: Coordinator,
}

impl Farm {
    /// Starts hosts with these behaviours, healthy hosts, and an agent that crawls all of them.
    pub(crate) async fn start(
        behaviours: Vec<Behaviour>,
        healthy: Healthy,
        settings: Settings,
    ) -> Self {
        let hostile: Vec<(IpAddr, Behaviour)> = addresses(20).zip(behaviours).collect();
        let healthy_hosts: Vec<IpAddr> = addresses(30).take(healthy.hosts).collect();
        let mut replies: Vec<(IpAddr, Reply)> =
            hostile.iter().map(|(at, behaviour)| (*at, behaviour.reply.clone())).collect();
        let site = healthy_site(healthy.pages);
        replies.extend(healthy_hosts.iter().map(|at| (*at, site.clone())));
        replies.push((FORBIDDEN.into(), pages(|_| vec![page("<p>Forbidden.")])));
        let (port, server) = serve(&replies);
        let mut seeds: Vec<String> =
            healthy_hosts.iter().map(|at| format!("http://{at}:{port}/0")).collect();
        seeds.extend(hostile.iter().map(|(at, behaviour)| behaviour.url(*at, port)));
        seeds.push(format!("http://{FORBIDDEN}:{port}/"));
        let coordinator = Coordinator::start(&seeds, policy(settings)).await.unwrap();
        let directory = RunDirectory::open("hostile-farm").unwrap();
        let config = config(&coordinator, port, settings);
        let agent = start_agent(directory.path(), &config);
        Self {
            agent,
            server,
            hostile,
            healthy: healthy_hosts,
            directory,
            _coordinator: coordinator,
        }
    }

    /// Hostile hosts with their behaviours.
    pub(crate) fn hostile(&self) -> &[(IpAddr, Behaviour)] {
        &self.hostile
    }

    /// Everything that the agent has logged so far.
    pub(crate) fn log(&self) -> Vec<Line> {
        activity::read(&self.directory.path().join("data/activity"))
    }

    /// Requests that a host has received, except those that every host receives.
    pub(crate) fn requests(&self, host: IpAddr) -> usize {
        let requests = self.server.requests(host);
        let counted = |path: &&String| !ASKED_OF_ALL.contains(&path.as_str()) && !path.is_empty();
        requests.iter().filter(|(path, _)| counted(path)).map(|(_, count)| count).sum()
    }

    /// Requests that all healthy hosts have received.
    pub(crate) fn healthy_requests(&self) -> usize {
        self.healthy.iter().map(|host| self.requests(*host)).sum()
    }

    /// Requests to the address that the owner's guard refuses, robots.txt included.
    pub(crate) fn forbidden_requests(&self) -> usize {
        self.server.requests(FORBIDDEN.into()).values().sum()
    }

    /// Most memory that the agent ever took, in bytes.
    pub(crate) fn peak_memory(&self) -> u64 {
        self.agent.usage().peak_bytes
    }

    /// Processor time of the agent so far, in seconds.
    pub(crate) fn cpu_s(&self) -> f64 {
        self.agent.usage().cpu_s
    }

    /// Asks the agent to end.
    pub(crate) async fn stop_agent(&mut self) -> ExitStatus {
        self.agent.stop(STOP).await.unwrap()
    }
}

impl Behaviour {
    fn url(&self, at: IpAddr, port: u16) -> String {
        let scheme = if self.is_https { "https" } else { "http" };
        format!("{scheme}://{at}:{port}{}", self.start)
    }
}

/// Loopback addresses of one block.
fn addresses(block: u8) -> impl Iterator<Item = IpAddr> {
    (1..=u16::MAX).map(move |number| {
        let [high, low] = number.to_be_bytes();
        IpAddr::from([127, block, high, low])
    })
}

/// Serves each address by its reply, all on one port.
fn serve(replies: &[(IpAddr, Reply)]) -> (u16, Server) {
    let (port, listeners) = on_loopback(replies.iter().map(|(address, _)| *address)).unwrap();
    let mut server = Server::new();
    for listener in listeners {
        let here = listener.local_addr().unwrap().ip();
        let (_, reply) = replies.iter().find(|(address, _)| *address == here).unwrap();
        server.serve(listener, reply.clone());
    }
    (port, server)
}

/// Links of a healthy page. With fewer, the agent's depth would end a site of thousands of pages.
const LINKS: usize = 20;

/// A site whose pages link to the next ones.
fn healthy_site(size: usize) -> Reply {
    pages(move |request| {
        let number: usize = request.path[1..].parse().unwrap_or(size);
        let next = (number + 1..=number + LINKS).filter(|next| *next < size);
        let links: Vec<String> = next.map(|next| format!("<a href=/{next}>next</a>")).collect();
        vec![page(&format!(
            "<title>{number}</title><p>{}{}",
            "A healthy page. ".repeat(100),
            links.concat()
        ))]
    })
}

fn policy(settings: Settings) -> CrawlPolicy {
    CrawlPolicy {
        host_delay_ms: u32::try_from(settings.delay.as_millis()).unwrap(),
        pages_a_host: u32::try_from(settings.pages_a_host).unwrap(),
        ..CrawlPolicy::default()
    }
}

fn config(coordinator: &Coordinator, port: u16, settings: Settings) -> String {
    let Settings { first_byte, fetch, delay, .. } = settings;
    format!(
        "coordinator = \"{}\"\ncontact = \"https://owner.example/bot\"\nname = \"farm\"\n\
         data_dir = \"data\"\n\
         [guard]\nallow = [\"127.0.0.0/8\"]\ndeny = [\"{FORBIDDEN}/32\"]\nports = [{port}]\n\
         [budget]\npages_per_day = 1_000_000_000\n\
         [limits]\nhost_delay_ms = {}\nconnect_ms = {}\nfirst_byte_ms = {}\nfetch_ms = {}\n",
        coordinator.url(),
        delay.as_millis(),
        first_byte.as_millis(),
        first_byte.as_millis(),
        fetch.as_millis(),
    )
}

fn start_agent(directory: &Path, config: &str) -> Process {
    let path = directory.join("agent.toml");
    std::fs::write(&path, config).unwrap();
    let mut command = Command::new(Program::Agent.path().unwrap());
    command.args(["run", "--config"]).arg(&path);
    command.env("NEARCRAWL_JOIN_TOKEN", &*TOKEN).env_remove("NEARCRAWL_AGENT_DATA_DIR");
    Process::start("agent", command, &directory.join("agent.log")).unwrap()
}
