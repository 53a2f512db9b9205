//! Explanations of addresses, subnets, companies and agents.

use hierarchy::Range;
use model::{AgentId, DelegationSort, HostSort};
use store::agents;
use store::delegations::{self, DelegationFilter, DelegationSummary};
use store::host_list::{self, HostFilter};
use url::form_urlencoded;

use crate::http::admin::agents::unknown;
use crate::http::admin::delegations::{MATCHING_MAX, ms};
use crate::http::admin::dto::inspection::StepName::{Delegation, Hosts, Subnet};
use crate::http::admin::dto::inspection::StepState::{Done, Open, Waiting};
use crate::http::admin::dto::inspection::{InspectedKind, Inspection, InspectionStep};
use crate::http::admin::inspection::{before_agent, inspection};
use crate::http::admin::subnet_lookup::{SubnetInfo, no_hierarchy};
use crate::http::problem::Problem;
use crate::http::state::ApiState;

/// Hosts and delegations that a sentence counts; there may be more.
const COUNTED: i64 = 100;

/// What is known of an address or a subnet.
pub(super) async fn range(state: &ApiState, range: &Range) -> Result<Inspection, Problem> {
    let delegated = state.core.delegated().ok_or_else(no_hierarchy)?;
    let hierarchy = delegated.hierarchy();
    let is_address = range.first() == range.last();
    let subject = if is_address { range.first().to_string() } else { range.to_string() };
    let smallest = hierarchy.subnet(hierarchy.smallest_holding(range));
    let subnet = smallest.range();
    let info = SubnetInfo::of_range(Some(&delegated), &subnet);
    let mut steps = vec![subnet_step(range, &subnet, &info)];
    let filter = HostFilter { addresses: Some(*range), ..HostFilter::default() };
    let hosts = hosts_step(state, &filter, &format!("/hosts?q={subject}")).await?;
    let held = delegations_in(state, range, &subnet).await?;
    match held.as_slice() {
        [] => {
            let may_be_delegated = smallest.may_be_delegated();
            steps.push(without_delegation(&subnet, may_be_delegated, hosts.state == Done));
        }
        [one] => {
            steps.push(delegation_step(one));
            steps.extend(agent_step(state, one.agent).await?);
        }
        several => {
            let agents = several.iter().map(|held| held.agent_name.clone()).collect();
            steps.push(several_delegations(&subject, several.len(), COUNTED, agents));
        }
    }
    steps.push(hosts);
    let kind = if is_address { InspectedKind::Address } else { InspectedKind::Subnet };
    Ok(inspection(kind, &subject, steps))
}

/// The delegation of the smallest subnet that holds the range; where it has none, those within the
/// range.
async fn delegations_in(
    state: &ApiState,
    range: &Range,
    subnet: &Range,
) -> Result<Vec<DelegationSummary>, Problem> {
    let store = &state.core.store;
    if let Some(id) = delegations::of_subnet(store, subnet).await? {
        return Ok(delegations::find(store, id).await?.into_iter().collect());
    }
    if range.first() == range.last() {
        return Ok(Vec::new());
    }
    let filter = DelegationFilter { touching: Some(*range), ..DelegationFilter::default() };
    let mut found =
        delegations::list(store, &filter, DelegationSort::Newest, None, COUNTED).await?;
    // Ranges around it overlap it as well, and say nothing about its own hosts.
    found.retain(|held| range.first() <= held.subnet.first() && held.subnet.last() <= range.last());
    Ok(found)
}

/// Why nothing of a subnet is delegated.
fn without_delegation(subnet: &Range, may_be_delegated: bool, has_hosts: bool) -> InspectionStep {
    let sentence = match (may_be_delegated, has_hosts) {
        // Roots and blocks of registries unite the addresses of many holders.
        (false, _) => {
            format!(
                "{subnet} as a whole goes to no agent: a host in it gets a virtual subnet of its \
                 own."
            )
        }
        (true, false) => {
            format!("{subnet} has no agent: a search begins with its first host.")
        }
        (true, true) => {
            format!("{subnet} has no agent: its hosts wait for a delegation search.")
        }
    };
    let step = InspectionStep::new(Delegation, Waiting, sentence);
    if may_be_delegated && has_hosts {
        return step.advice("Inspect one of its hosts: that says what the search waits for.");
    }
    step
}

fn subnet_step(range: &Range, subnet: &Range, info: &SubnetInfo) -> InspectionStep {
    let company = info.company.as_deref().unwrap_or("no company that is known");
    let country = info.country.as_deref().map(|code| format!(", {code}")).unwrap_or_default();
    let sentence = if range == subnet {
        format!("{subnet} is held by {company}{country}.")
    } else if range.first() == range.last() {
        format!("{} lies in {subnet}, held by {company}{country}.", range.first())
    } else {
        format!("{range} lies in {subnet}, held by {company}{country}.")
    };
    InspectionStep::new(Subnet, Done, sentence)
        .link(format!("/hierarchy?address={}", range.first()))
}

fn delegation_step(held: &DelegationSummary) -> InspectionStep {
    let rtt = held.rtt_us.map(|us| format!(", with a round trip of {:.1} ms", ms(us)));
    let sentence = format!(
        "{} is delegated to {} ({}){}.",
        held.subnet,
        held.agent_name,
        held.reason.as_str(),
        rtt.unwrap_or_default()
    );
    InspectionStep::new(Delegation, Done, sentence)
        .at(held.decided_at)
        .link(format!("/delegations/{}/explanation", held.id))
}

/// `most` delegations were read at most.
fn several_delegations(
    subject: &str,
    count: usize,
    most: i64,
    mut agents: Vec<String>,
) -> InspectionStep {
    agents.sort_unstable();
    agents.dedup();
    let agents = match agents.as_slice() {
        [] => "agents that are being revoked".to_owned(),
        [one] => one.clone(),
        [one, two] => format!("{one} and {two}"),
        [one, two, ..] => format!("{} agents, among them {one} and {two}", agents.len()),
    };
    let verb = if count == 1 { "is" } else { "are" };
    let sentence =
        format!("{} of {subject} {verb} delegated to {agents}.", at_least(count, most, "subnet"));
    let query: String = form_urlencoded::byte_serialize(subject.as_bytes()).collect();
    InspectionStep::new(Delegation, Done, sentence).link(format!("/delegations?q={query}"))
}

/// A count that may have reached the bound `most`.
fn at_least(count: usize, most: i64, noun: &str) -> String {
    let is_all = i64::try_from(count).is_ok_and(|count| count < most);
    match count {
        1 => format!("1 {noun}"),
        _ if is_all => format!("{count} {noun}s"),
        _ => format!("{count} {noun}s or more"),
    }
}

async fn agent_step(state: &ApiState, agent: AgentId) -> Result<Option<InspectionStep>, Problem> {
    let agent = agents::find(&state.core.store, agent).await?;
    let cutoff = state.core.heartbeat_cutoff();
    let now = state.core.now();
    Ok(agent.map(|agent| before_agent::presence(&agent, cutoff, now)))
}

async fn hosts_step(
    state: &ApiState,
    filter: &HostFilter,
    link: &str,
) -> Result<InspectionStep, Problem> {
    let store = &state.core.store;
    let hosts = host_list::list(store, filter, HostSort::Newest, None, COUNTED).await?;
    if hosts.is_empty() {
        return Ok(InspectionStep::new(Hosts, Open, "No host of it is known."));
    }
    let pages: u64 = hosts.iter().map(|host| host.pages).fold(0, u64::saturating_add);
    let verb = if hosts.len() == 1 { "is" } else { "are" };
    let are_all = i64::try_from(hosts.len()).is_ok_and(|count| count < COUNTED);
    let pages = match pages {
        _ if !are_all => String::new(),
        1 => ", with 1 page".to_owned(),
        pages => format!(", with {pages} pages"),
    };
    let sentence = format!("{} {verb} known{pages}.", at_least(hosts.len(), COUNTED, "host"));
    Ok(InspectionStep::new(Hosts, Done, sentence).link(link))
}

/// What is known of the companies with such a name, from the delegation table in memory.
pub(super) async fn company(
    state: &ApiState,
    name: &str,
    subnets: &[(Range, AgentId)],
) -> Result<Inspection, Problem> {
    let mut agents: Vec<AgentId> = subnets.iter().map(|(_, agent)| *agent).collect();
    agents.sort_unstable();
    agents.dedup();
    let names = agents::names(&state.core.store, &agents).await?;
    let most = i64::try_from(MATCHING_MAX).unwrap_or(i64::MAX);
    let step = several_delegations(name, subnets.len(), most, names.into_values().collect());
    Ok(inspection(InspectedKind::Company, name, vec![step]))
}

/// What is known of an agent.
pub(super) async fn agent(state: &ApiState, id: AgentId) -> Result<Inspection, Problem> {
    let found = agents::find(&state.core.store, id).await?;
    let found = found.ok_or_else(|| unknown(id))?;
    let cutoff = state.core.heartbeat_cutoff();
    let now = state.core.now();
    let filter = HostFilter { agent: Some(id), ..HostFilter::default() };
    let steps = vec![
        before_agent::presence(&found, cutoff, now),
        hosts_step(state, &filter, &format!("/hosts?agent={id}")).await?,
    ];
    Ok(inspection(InspectedKind::Agent, &found.name, steps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subnet_with_hosts_is_not_said_to_wait_for_its_first() {
        let subnet = "192.0.2.0/24".parse().unwrap();
        let sentence = |may_be_delegated, has_hosts| {
            without_delegation(&subnet, may_be_delegated, has_hosts).sentence
        };
        assert!(sentence(true, false).contains("first host"));
        assert!(sentence(true, true).contains("wait"));
        assert!(sentence(false, true).contains("virtual subnet"));
    }

    #[test]
    fn the_name_of_a_company_is_encoded_in_the_link() {
        let step = several_delegations("AT&T #1", 2, 100, vec!["cape".into()]);
        assert_eq!(step.link.as_deref(), Some("/delegations?q=AT%26T+%231"));
        let step = several_delegations("192.0.2.0/24", 2, 100, vec!["cape".into()]);
        assert_eq!(step.link.as_deref(), Some("/delegations?q=192.0.2.0%2F24"));
    }
}
