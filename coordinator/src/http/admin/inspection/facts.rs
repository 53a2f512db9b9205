//! What the coordinator and the agent know of a URL.

use std::sync::Arc;
use std::time::Duration;

use model::{CrawlUrl, Presence, UnixMillis};
use store::agents::{self, AgentSummary};
use store::delegations::{self, DelegationSummary};
use store::hidden_from_search::{self, Hidden};
use store::host_list::{self, HostSummary};
use store::host_tally::RecentFetch;
use store::inspection::{self, UrlPlace};
use store::url_questions::{self, Answer};
use tokio::time::Instant;

use crate::http::admin::agents::presence;
use crate::http::admin::subnet_lookup::SubnetInfo;
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// How long a request waits for the agent's answer.
const PATIENCE: Duration = Duration::from_secs(2);
/// How old an answer may be that is shown without asking again, in milliseconds.
const FRESH_MS: i64 = 3_000;

/// Everything that the sentences are made of.
#[derive(Debug, Clone)]
pub(super) struct Facts {
    pub(super) url: CrawlUrl,
    pub(super) now: UnixMillis,
    /// An agent without a heartbeat since then is unreachable.
    pub(super) heartbeat_cutoff: UnixMillis,
    /// The host; none when nothing is known of it.
    pub(super) host: Option<HostSummary>,
    /// Name of the agent that reported the first link to the host.
    pub(super) found_by: Option<String>,
    /// What the registries know about the host's subnet.
    pub(super) subnet: SubnetInfo,
    /// The delegation of the subnet that holds now.
    pub(super) delegation: Option<DelegationSummary>,
    /// Since when a search for an agent is open.
    pub(super) open_search: Option<UnixMillis>,
    /// The agent that has the host.
    pub(super) agent: Option<AgentSummary>,
    /// Where the URL waits at the coordinator.
    pub(super) place: Option<UrlPlace>,
    /// The agent's last answer.
    pub(super) answer: Option<Answer>,
    /// The last fetch of this URL, where it is among the last ones of the host.
    pub(super) fetch: Option<RecentFetch>,
    /// When the page in the index was fetched.
    pub(super) indexed: Option<UnixMillis>,
    /// By which entry the page is hidden from the search.
    pub(super) hidden: Option<Hidden>,
}

impl Facts {
    /// Whether the agent sends heartbeats now.
    pub(super) fn is_reachable(&self) -> bool {
        self.agent.as_ref().is_some_and(|agent| {
            presence(agent, self.heartbeat_cutoff, self.now) == Presence::Awake
        })
    }

    /// Whether the agent was asked and may still answer.
    pub(super) fn is_asking(&self) -> bool {
        let fresh = self.now.plus_ms(-FRESH_MS);
        self.is_reachable() && self.answer.as_ref().is_none_or(|answer| answer.at < fresh)
    }
}

/// Reads the facts about a URL, and asks its agent.
pub(super) async fn read(state: &ApiState, url: &CrawlUrl) -> Result<Facts, Problem> {
    let store = &state.core.store;
    let key = url.host_key();
    let hosts = host_list::named(store, key.authority()).await?;
    let host = hosts.into_iter().find(|host| host.scheme == key.scheme());
    let mut facts = Facts {
        url: url.clone(),
        now: state.core.now(),
        heartbeat_cutoff: state.core.heartbeat_cutoff(),
        host: None,
        found_by: None,
        subnet: SubnetInfo::default(),
        delegation: None,
        open_search: None,
        agent: None,
        place: None,
        answer: None,
        fetch: None,
        indexed: indexed(state, url).await?,
        hidden: hidden_from_search::find_any(store, url).await?,
    };
    if let Some(host) = host {
        read_host(state, host, &mut facts).await?;
    }
    Ok(facts)
}

async fn read_host(state: &ApiState, host: HostSummary, facts: &mut Facts) -> Result<(), Problem> {
    let store = &state.core.store;
    if let Some(agent) = host.found_by {
        facts.found_by = agents::names(store, &[agent]).await?.remove(&agent);
    }
    if let Some(subnet) = &host.subnet {
        facts.subnet = SubnetInfo::of_range(state.core.delegated().as_deref(), subnet);
        facts.open_search = inspection::open_search(store, subnet).await?;
        if let Some(delegation) = delegations::of_subnet(store, subnet).await? {
            facts.delegation = delegations::find(store, delegation).await?;
        }
    }
    let agent = host.agent.as_ref().map(|(id, _)| *id);
    let url = facts.url.as_str();
    facts.place = inspection::place_of_url(store, host.id, agent, url).await?;
    if let Some(agent) = agent {
        facts.agent = agents::find(store, agent).await?;
        facts.answer = ask(state, facts).await?;
    }
    let mut recent = host.fetched.iter().flat_map(|fetched| &fetched.recent);
    facts.fetch = recent.find(|fetch| fetch.url == url).cloned();
    facts.host = Some(host);
    Ok(())
}

/// The agent's answer: a fresh one if it comes in time, else the last one.
async fn ask(state: &ApiState, facts: &Facts) -> Result<Option<Answer>, Problem> {
    let Some(agent) = &facts.agent else { return Ok(None) };
    let store = &state.core.store;
    let url = facts.url.as_str();
    let last = url_questions::find(store, agent.id, url).await?;
    let fresh = facts.now.plus_ms(-FRESH_MS);
    if !facts.is_reachable() || last.as_ref().is_some_and(|answer| answer.at >= fresh) {
        return Ok(last);
    }
    let deadline = Instant::now() + PATIENCE;
    let answers = Arc::clone(&state.core.url_answers);
    url_questions::ask(store, agent.id, url, facts.now).await?;
    loop {
        let signal = answers.notified();
        tokio::pin!(signal);
        // From here on no answer is missed, including one while the database is read.
        signal.as_mut().enable();
        state.core.agent_wakeups.wake([agent.id]);
        let answer = url_questions::find(store, agent.id, url).await?;
        let is_new = answer.as_ref().is_some_and(|answer| answer.at >= facts.now);
        if is_new || tokio::time::timeout_at(deadline, signal).await.is_err() {
            return Ok(answer);
        }
    }
}

/// When the page in the index was fetched; none when the URL is not there.
async fn indexed(state: &ApiState, url: &CrawlUrl) -> Result<Option<UnixMillis>, Problem> {
    let index = Arc::clone(&state.core.packages.index);
    let url = url.as_str().to_owned();
    let found = tokio::task::spawn_blocking(move || index.fetched_at(&url)).await;
    match found {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) => Err(Problem::internal(&error)),
        Err(broken) => Err(Problem::internal(&broken)),
    }
}
