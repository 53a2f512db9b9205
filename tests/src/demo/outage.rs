//! Second act of the demo, with `--region`: in mid-crawl the coordinator is stopped for half a
//! minute, and an agent is killed. The others of the region go on, and take its hosts over.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Serialize;
use tokio::time::{Instant, MissedTickBehavior};

use super::Deployment;
use crate::harness::until;
use crate::world::Environment;

/// Share of the crawl at which the coordinator is stopped.
const STOP: f64 = 0.4;
/// Time for which it is away.
const AWAY: Duration = Duration::from_secs(30);
/// When the agent is killed, counted from the coordinator's end.
const KILL: Duration = Duration::from_secs(5);
/// Interval at which progress is looked at.
const STEP: Duration = Duration::from_millis(500);
/// Requests that the killed agent began in this time before its end may be repeated: those in
/// flight, and those whose ends its peers had not heard of.
const LAST_SECONDS: Duration = Duration::from_secs(5);
/// Time within which the coordinator's delegations agree with the region.
const AGREEMENT: Duration = Duration::from_mins(1);
/// Fewest agents of which a majority of votes is left without the coordinator and one of them.
const FEWEST: usize = 4;
/// No crawl takes longer to come this far.
const LIMIT: Duration = Duration::from_mins(10);

/// What happened while the coordinator was away.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Outage {
    /// Seconds from the end of the coordinator to its next start.
    pub away_s: f64,
    /// Expected URLs that were fetched for the first time meanwhile.
    pub fetched: usize,
    /// Longest time without such a URL, in seconds.
    pub longest_pause_s: f64,
    /// Name of the agent that was killed.
    pub killed: String,
    /// Hosts of which it was the last to ask when it was killed.
    pub hosts_of_killed: usize,
    /// How many of them others asked before it returned.
    pub taken_over: usize,
    /// Requests that it began in its last seconds.
    pub last_requests: usize,
    /// Seconds from the coordinator's start until it had given all hosts of the killed agent that
    /// it knows to others; none where it did not within [`AGREEMENT`].
    pub agreed_s: Option<f64>,
}

impl Outage {
    /// Refuses a number of agents with which a region would stop.
    pub fn check(agents: usize) -> anyhow::Result<()> {
        ensure!(
            agents >= FEWEST,
            "--region with {agents} agents: a region goes on without its coordinator and one agent \
             from {FEWEST} agents on; give --agents {FEWEST} or more"
        );
        Ok(())
    }

    /// Plays the act in a crawl that has begun; returns when everybody is back.
    pub async fn play(
        environment: &Environment,
        deployment: &mut Deployment,
    ) -> anyhow::Result<Self> {
        reach(environment, STOP).await?;
        deployment.coordinator.stop().await?;
        println!("second act   the coordinator is stopped for {} s", AWAY.as_secs());
        let mut progress = Progress::start(environment);
        progress.follow(KILL).await;
        let victim = Victim::choose(environment, deployment)?;
        deployment.agents[victim.number].kill();
        let last_requests = environment.referee().requests_of(victim.address, LAST_SECONDS);
        let killed = deployment.agents[victim.number].plan().name.clone();
        println!("             {killed}, the last to ask {} hosts, is killed", victim.hosts.len());
        progress.follow(AWAY.saturating_sub(KILL)).await;
        let taken_over = victim.taken_over(environment);
        println!("             {} URLs were fetched meanwhile", progress.fetched());
        let away_s = progress.begun.elapsed().as_secs_f64();
        deployment.coordinator.restart().await?;
        println!("             the coordinator is started again");
        let agreed_s = victim.until_delegated(deployment).await?;
        deployment.agents[victim.number].restart()?;
        println!("             {killed} is started again");
        Ok(Self {
            away_s,
            fetched: progress.fetched(),
            longest_pause_s: progress.longest_pause.as_secs_f64(),
            killed,
            hosts_of_killed: victim.hosts.len(),
            taken_over,
            last_requests,
            agreed_s,
        })
    }
}

/// The agent to be killed: the one that would be missed most.
struct Victim {
    number: usize,
    address: std::net::IpAddr,
    /// Hosts that it was the last to ask.
    hosts: Vec<usize>,
}

impl Victim {
    fn choose(environment: &Environment, deployment: &Deployment) -> anyhow::Result<Self> {
        let agents = environment.world().agents.iter().enumerate();
        let agents = agents.take(deployment.agents.len()).map(|(number, agent)| Self {
            number,
            address: agent.address,
            hosts: environment.referee().hosts_of(agent.address),
        });
        agents.max_by_key(|agent| agent.hosts.len()).context("the world has no agents")
    }

    fn taken_over(&self, environment: &Environment) -> usize {
        let left = environment.referee().hosts_of(self.address);
        self.hosts.iter().filter(|host| !left.contains(host)).count()
    }

    /// Waits until the coordinator has given all hosts of the agent that it knows to others;
    /// returns the seconds that this took, or none after [`AGREEMENT`].
    async fn until_delegated(&self, deployment: &Deployment) -> anyhow::Result<Option<f64>> {
        let begun = Instant::now();
        let mut steps = tokio::time::interval(STEP);
        while begun.elapsed() < AGREEMENT {
            steps.tick().await;
            if deployment.hosts_at(self.number).await? == 0 {
                return Ok(Some(begun.elapsed().as_secs_f64()));
            }
        }
        Ok(None)
    }
}

/// Progress of the crawl since a moment.
struct Progress<'e> {
    environment: &'e Environment,
    begun: Instant,
    before: usize,
    last: usize,
    changed: Instant,
    longest_pause: Duration,
}

impl<'e> Progress<'e> {
    fn start(environment: &'e Environment) -> Self {
        let before = environment.referee().coverage().all.fetched;
        let begun = Instant::now();
        let longest_pause = Duration::ZERO;
        Self { environment, begun, before, last: before, changed: begun, longest_pause }
    }

    fn fetched(&self) -> usize {
        self.last - self.before
    }

    async fn follow(&mut self, time: Duration) {
        let end = Instant::now() + time;
        let mut steps = tokio::time::interval(STEP);
        steps.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while Instant::now() < end {
            steps.tick().await;
            self.look();
        }
    }

    fn look(&mut self) {
        let all = self.environment.referee().coverage().all;
        self.longest_pause = self.longest_pause.max(self.changed.elapsed());
        // A crawl that is complete does not pause.
        if all.fetched > self.last || all.fetched == all.expected {
            self.changed = Instant::now();
        }
        self.last = all.fetched;
    }
}

async fn reach(environment: &Environment, share: f64) -> anyhow::Result<()> {
    let look = || {
        let seen = environment.referee().coverage().all.share();
        std::future::ready(if seen >= share { Ok(()) } else { Err(seen) })
    };
    Ok(until("share of the crawl", LIMIT, look).await?)
}

impl Deployment {
    /// Number of hosts that an agent has as far as the coordinator knows. Hosts that a region found
    /// by itself are not among them.
    pub async fn hosts_at(&self, agent: usize) -> anyhow::Result<usize> {
        let id = self.agents[agent].id().to_string();
        let hosts = self.admin.list("hosts").await?;
        Ok(hosts.iter().filter(|host| host["agent"]["id"] == id.as_str()).count())
    }

    /// Waits until all agents are members of one region with at least so many ranges of addresses,
    /// and each has a lease and a loan.
    pub async fn until_region(&self, ranges: usize, limit: Duration) -> anyhow::Result<()> {
        let is_ready = |region: &serde_json::Value| {
            region["agents"] == self.agents.len()
                && region["ranges"].as_u64() >= Some(ranges as u64)
                && region["has_lease"] == true
                && region["loan_seconds"].as_u64() > Some(0)
        };
        let look = || {
            let regions: Vec<serde_json::Value> =
                self.agents.iter().map(|agent| agent.status()["region"].take()).collect();
            let all_ready = regions.iter().all(is_ready);
            let seen = serde_json::Value::from(regions).to_string();
            std::future::ready(if all_ready { Ok(()) } else { Err(seen) })
        };
        Ok(until("region of all agents", limit, look).await?)
    }
}
