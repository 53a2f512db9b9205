//! Results of a crawl, as the coordinator, the referee, the matrix and the kernel report them.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use anyhow::Context as _;
use hierarchy::Range;
use lab::{Evaluation, HostAssignment, evaluate};
use model::Strategy;
use serde::Serialize;
use serde_json::Value;
use url::form_urlencoded;

use super::{Deployment, Outage};
use crate::referee::{Report, Rules};
use crate::web::Query;
use crate::world::{DemoWorld, Environment, Geography, WorldCounts};

/// Everything that the demo tells.
#[derive(Debug, Clone, Serialize)]
pub struct Numbers {
    /// Who takes part.
    pub counts: WorldCounts,
    /// Subnets of the loaded generation.
    pub subnets: u64,
    pub companies: u64,
    /// Seconds from the first byte of the files to the swap.
    pub build_seconds: f64,
    pub agents: u64,
    /// Delegations by reason.
    pub delegations: BTreeMap<String, u64>,
    /// Searches that ended.
    pub searches_decided: u64,
    /// Searches that did not.
    pub searches_open: u64,
    /// Probes of searches.
    pub search_probes: u64,
    /// Home addresses that another agent measured, by which agents are placed and judged.
    pub home_probes: u64,
    /// Whether round trips are measured ones, and searches predict.
    pub is_promised_near: bool,
    /// How well hosts were dealt out.
    pub dealing: AssignmentQuality,
    /// Seconds from the seeds to the last change.
    pub crawl_seconds: f64,
    /// The second act, if there was one.
    pub outage: Option<Outage>,
    /// What the referee saw.
    pub referee: Report,
    /// Documents and plain texts that the index shall hold.
    pub indexable: u64,
    /// Documents that it holds.
    pub indexed: u64,
    /// Documents ingested, counted again each time.
    pub ingested: u64,
    pub packages: u64,
    pub packages_ingested: u64,
    /// Bytes of bodies that the agents fetched.
    pub bytes_fetched: u64,
    /// Bytes of packages that they shipped.
    pub bytes_shipped: u64,
    /// What was searched for.
    pub searches: Vec<SearchFound>,
    /// Most memory of the coordinator's process, in bytes.
    pub coordinator_memory: u64,
    /// Most memory of the largest agent's process, in bytes.
    pub agent_memory: u64,
}

/// How hosts were dealt out, and what other ways of dealing would have cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AssignmentQuality {
    /// Hosts in a delegated subnet.
    pub hosts: usize,
    /// Hosts without an agent.
    pub without_agent: usize,
    /// Share whose agent is truly the nearest; 0 to 1.
    pub share_nearest: f64,
    /// Mean time above the nearest agent's, in milliseconds.
    pub mean_excess_ms: f64,
    /// Sum over pages of one round trip each, as dealt, in seconds.
    pub crawl_s: f64,
    /// The same, dealt at random.
    pub random_s: f64,
    /// The same, everything at its nearest agent.
    pub nearest_s: f64,
}

/// One search and what came back.
#[derive(Debug, Clone, Serialize)]
pub struct SearchFound {
    /// What had to come back.
    pub query: Query,
    /// Pages that fit.
    pub total: u64,
    /// Milliseconds it took.
    pub took_ms: f64,
    /// Title and URL of the best.
    pub best: Option<(String, String)>,
    /// Whether the answers are what they had to be.
    pub as_expected: bool,
}

impl Numbers {
    /// All probes for each new subnet: those of its search, and its share of those of homes.
    pub fn probes_per_subnet(&self) -> f64 {
        (self.search_probes + self.home_probes) as f64 / self.searches_decided.max(1) as f64
    }

    /// Gathers them; the deployment must still be up.
    pub async fn gather(
        environment: &Environment,
        geography: &Geography,
        deployment: &mut Deployment,
        rules: Rules,
        (crawl, outage): (Duration, Option<Outage>),
    ) -> anyhow::Result<Self> {
        let overview = deployment.admin.get("overview").await?;
        let number = |pointer: &str| overview.pointer(pointer).and_then(Value::as_u64).unwrap_or(0);
        Ok(Self {
            counts: environment.world().counts(),
            subnets: number("/generation/subnets"),
            companies: number("/generation/companies"),
            build_seconds: deployment.load["build_seconds"].as_f64().unwrap_or(0.0),
            agents: number("/agents/approved"),
            delegations: by_reason(&overview),
            searches_decided: number("/delegation_searches/decided"),
            searches_open: number("/delegation_searches/open"),
            search_probes: number("/probes/total"),
            home_probes: number("/probes/homes"),
            is_promised_near: geography.is_measured() && is_predictive(deployment).await?,
            dealing: AssignmentQuality::of(environment, geography, deployment).await?,
            crawl_seconds: crawl.as_secs_f64(),
            outage,
            referee: environment.referee().report(&rules),
            indexable: (environment.web().indexable().count()
                + environment.web().plain_texts().count()) as u64,
            indexed: number("/pages/indexed"),
            ingested: number("/pages/ingested"),
            packages: number("/packages/received"),
            packages_ingested: number("/packages/ingested"),
            bytes_fetched: number("/pages/bytes_fetched"),
            bytes_shipped: number("/packages/bytes"),
            searches: searches(environment, deployment).await?,
            coordinator_memory: deployment.coordinator.process().usage().peak_bytes,
            agent_memory: deployment
                .agents
                .iter_mut()
                .map(|agent| agent.process().usage().peak_bytes)
                .max()
                .unwrap_or(0),
        })
    }
}

async fn is_predictive(deployment: &Deployment) -> anyhow::Result<bool> {
    let policy = deployment.admin.get("policy").await?;
    Ok(policy["strategy"] == Strategy::Predictive.as_str())
}

fn by_reason(overview: &Value) -> BTreeMap<String, u64> {
    let reasons = overview.pointer("/delegations/by_reason").and_then(Value::as_object);
    let counted = reasons
        .into_iter()
        .flatten()
        .map(|(reason, count)| (reason.clone(), count.as_u64().unwrap_or(0)));
    counted.collect()
}

async fn searches(
    environment: &Environment,
    deployment: &Deployment,
) -> anyhow::Result<Vec<SearchFound>> {
    let mut found = Vec::new();
    for query in environment.web().queries() {
        let words: String = form_urlencoded::byte_serialize(query.text.as_bytes()).collect();
        let answer = deployment.admin.get(&format!("search?q={words}&limit=10")).await?;
        found.push(SearchFound::of(query, &answer));
    }
    Ok(found)
}

impl SearchFound {
    fn of(query: Query, answer: &Value) -> Self {
        let items = answer["items"].as_array().map(Vec::as_slice).unwrap_or_default();
        let text = |item: &Value, field: &str| item[field].as_str().unwrap_or_default().to_owned();
        let named =
            query.url.as_ref().is_none_or(|url| items.iter().any(|item| text(item, "url") == *url));
        let of_host = query
            .host
            .as_ref()
            .is_none_or(|host| items.iter().all(|item| text(item, "host") == *host));
        let of_language =
            query.language.is_none_or(|code| items.iter().all(|item| text(item, "lang") == code));
        Self {
            as_expected: !items.is_empty() && named && of_host && of_language,
            total: answer["total"].as_u64().unwrap_or(0),
            took_ms: answer["took_ms"].as_f64().unwrap_or(0.0),
            best: items.first().map(|item| (text(item, "title"), text(item, "url"))),
            query,
        }
    }
}

impl AssignmentQuality {
    /// Looks up the agent of each host, and its round trip in the matrix.
    async fn of(
        environment: &Environment,
        geography: &Geography,
        deployment: &Deployment,
    ) -> anyhow::Result<Self> {
        let delegation_table = delegation_table(deployment).await?;
        let world = environment.world();
        let pages = pages_of_hosts(environment);
        let mut dealt = Vec::with_capacity(world.hosts.len());
        for (participant, pages) in world.hosts.iter().zip(pages) {
            let city = geography
                .world()
                .find(&participant.city)
                .context("a host is in no city of the matrix")?;
            if let Some(agent) = owner(&delegation_table, participant.address) {
                dealt.push(HostAssignment { city, pages, agent });
            }
        }
        let agents = cities(geography, world)?;
        Ok(Self::judged(
            &evaluate(geography.world(), &agents, &dealt),
            world.hosts.len() - dealt.len(),
        ))
    }

    fn judged(seen: &Evaluation, without_agent: usize) -> Self {
        Self {
            hosts: seen.hosts,
            without_agent,
            share_nearest: seen.share_optimal,
            mean_excess_ms: seen.mean_excess_ms,
            crawl_s: seen.crawl_ms / 1_000.0,
            random_s: seen.crawl_ms_random / 1_000.0,
            nearest_s: seen.crawl_ms_nearest / 1_000.0,
        }
    }
}

fn cities(geography: &Geography, world: &DemoWorld) -> anyhow::Result<Vec<lab::CityId>> {
    let find =
        |city: &str| geography.world().find(city).context("an agent is in no city of the matrix");
    world.agents.iter().map(|agent| find(&agent.city)).collect()
}

/// Requests that a complete crawl of each host takes.
fn pages_of_hosts(environment: &Environment) -> Vec<u64> {
    let mut pages = vec![0; environment.world().hosts.len()];
    for id in environment.web().expected().wanted().keys() {
        pages[id.host] += 1;
    }
    pages
}

/// Every delegated subnet and the place of its agent in the world.
async fn delegation_table(deployment: &Deployment) -> anyhow::Result<Vec<(Range, usize)>> {
    let mut delegation_table = Vec::new();
    for item in deployment.admin.list("delegations").await? {
        let subnet = item["subnet"].as_str().context("a delegation has no subnet")?;
        let name = item
            .pointer("/agent/name")
            .and_then(Value::as_str)
            .context("a delegation has no agent")?;
        let agent = deployment.agent_named(name).context("a delegation names a stranger")?;
        delegation_table
            .push((subnet.parse().context("a delegated subnet cannot be read")?, agent));
    }
    Ok(delegation_table)
}

/// Who has the smallest delegated subnet around the address.
fn owner(delegation_table: &[(Range, usize)], address: IpAddr) -> Option<usize> {
    let around = delegation_table.iter().filter(|(range, _)| range.contains(address));
    around.min_by_key(|(range, _)| range.addresses()).map(|(_, agent)| *agent)
}
