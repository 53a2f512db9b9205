//! Recognises what a person typed: the most exact meaning wins.

use hierarchy::Range;
use model::{AgentId, CrawlUrl, HostId};
use store::{host_list, inspection};

use crate::http::admin::delegations;
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// What is to be explained.
pub(super) enum Subject {
    /// A URL; of a host, the URL of its front page.
    Url(CrawlUrl),
    /// An address or a subnet.
    Range(Range),
    /// An agent by its identifier.
    Agent(AgentId),
    /// Delegated subnets of companies with such a name, and their agents.
    Company(Vec<(Range, AgentId)>),
}

/// Recognises a text, or 404.
pub(super) async fn recognise(state: &ApiState, text: &str) -> Result<Subject, Problem> {
    if let Ok(url) = CrawlUrl::parse(text) {
        return Ok(Subject::Url(url));
    }
    if let Ok(agent) = text.parse::<AgentId>() {
        return Ok(Subject::Agent(agent));
    }
    if let Ok(range) = text.parse::<Range>() {
        return Ok(Subject::Range(range));
    }
    let store = &state.core.store;
    if let Ok(id) = text.parse::<HostId>()
        && let Some(host) = host_list::find(store, id).await?
        && let Ok(url) = CrawlUrl::of_host(&host.scheme, &host.authority)
    {
        return Ok(Subject::Url(url));
    }
    if let Some(url) = url_without_scheme(state, text).await? {
        return Ok(Subject::Url(url));
    }
    if let Some(agent) = inspection::agent_named(store, text).await? {
        return Ok(Subject::Agent(agent));
    }
    let delegated = state.core.delegated();
    let subnets = delegated.map(|delegated| delegations::matching(&delegated, text));
    if let Some(subnets) = subnets.filter(|subnets| !subnets.is_empty()) {
        return Ok(Subject::Company(subnets));
    }
    // A host that is not known.
    match CrawlUrl::parse(&format!("http://{text}")) {
        Ok(url) if text.contains('.') && !text.contains(' ') => Ok(Subject::Url(url)),
        _ => Err(Problem::not_found(format!(
            "Nothing is called {text:?}: give a URL, a host, an address, a subnet, or the name of \
             an agent, or of a company with a delegated subnet."
        ))),
    }
}

/// The URL that a text without a scheme means at a host that is known.
async fn url_without_scheme(state: &ApiState, text: &str) -> Result<Option<CrawlUrl>, Problem> {
    let Ok(url) = CrawlUrl::parse(&format!("http://{text}")) else { return Ok(None) };
    let hosts = host_list::named(&state.core.store, url.host_key().authority()).await?;
    let scheme = hosts.first().map(|host| host.scheme.clone());
    Ok(scheme.and_then(|scheme| CrawlUrl::parse(&format!("{scheme}://{text}")).ok()))
}
