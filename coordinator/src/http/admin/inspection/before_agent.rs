//! Steps of a URL from the first link to the agent that crawls its host.

use model::{AgentState, HostState, UnixMillis};
use store::agents::AgentSummary;
use store::host_list::HostSummary;

use crate::http::admin::delegations::ms;
use crate::http::admin::dto::inspection::StepName::{Agent, Delegation, Dns, Found, Subnet};
use crate::http::admin::dto::inspection::StepState::{Done, Open, Stuck, Waiting};
use crate::http::admin::dto::inspection::{InspectionStep, StepName};
use crate::http::admin::inspection::facts::Facts;
use crate::http::timestamp::Timestamp;

/// The steps; those after the first that is not done are open.
pub(super) fn steps(facts: &Facts) -> Vec<InspectionStep> {
    let Some(host) = &facts.host else {
        let sentence =
            format!("No seed and no link has led to {} so far.", facts.url.host_key_str());
        return vec![
            InspectionStep::new(Found, Stuck, sentence)
                .advice("Add the URL as a seed.")
                .link("/seeds"),
        ];
    };
    vec![
        found(facts, host),
        dns(facts, host),
        subnet(facts, host),
        delegation(facts, host),
        agent(facts),
    ]
}

fn found(facts: &Facts, host: &HostSummary) -> InspectionStep {
    let from = match (&facts.found_by, host.found_by) {
        (Some(name), _) => format!("in a link that {name} reported"),
        (None, Some(agent)) => format!("in a link that {agent} reported"),
        (None, None) => "as a seed".to_owned(),
    };
    let sentence = format!("{} was first seen {from}.", facts.url.host_key_str());
    InspectionStep::new(Found, Done, sentence).at(host.found_at).link(format!("/hosts/{}", host.id))
}

fn dns(facts: &Facts, host: &HostSummary) -> InspectionStep {
    let name = &host.authority;
    if let Some(address) = host.address {
        return InspectionStep::new(Dns, Done, format!("{name} has the address {address}."));
    }
    let reason = host.reason.as_deref().unwrap_or("no reason is known");
    let retry = Timestamp(host.retry_at).to_minute();
    match host.state {
        HostState::Failed => {
            let sentence = format!("{name} was given up: {reason}.");
            let advice = format!(
                "Check the name. A seed or a link that comes after {retry} has it looked up again."
            );
            InspectionStep::new(Dns, Stuck, sentence).advice(advice).link("/seeds")
        }
        _ if host.attempts > 0 => {
            let sentence = format!(
                "The lookup of {name} has failed {} in a row: {reason}. The next one is due at \
                 {retry}.",
                times(host.attempts)
            );
            InspectionStep::new(Dns, Waiting, sentence).at(host.retry_at)
        }
        _ if host.retry_at > facts.now => {
            let sentence = format!("The lookup of {name} is due at {retry}.");
            InspectionStep::new(Dns, Waiting, sentence).at(host.retry_at)
        }
        _ => InspectionStep::new(Dns, Waiting, format!("The lookup of {name} is due.")),
    }
}

fn times(count: u32) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// A step that is not reached because an earlier one is not done.
fn open(step: StepName, sentence: &str) -> InspectionStep {
    InspectionStep::new(step, Open, sentence)
}

fn subnet(facts: &Facts, host: &HostSummary) -> InspectionStep {
    let Some(address) = host.address else {
        return open(Subnet, "The subnet follows from the address.");
    };
    let Some(subnet) = &host.subnet else {
        let Some(reason) = host.reason.as_ref().filter(|_| host.state == HostState::Failed) else {
            return InspectionStep::new(
                Subnet,
                Waiting,
                format!("The subnet of {address} has not been looked up yet."),
            );
        };
        let sentence = format!("{address} belongs to no subnet that may be crawled: {reason}.");
        return InspectionStep::new(Subnet, Stuck, sentence)
            .link(format!("/hierarchy?address={address}"));
    };
    let company = facts.subnet.company.as_deref().map(|name| format!(" of {name}"));
    let country = facts.subnet.country.as_deref().map(|code| format!(", {code}"));
    let sentence = format!(
        "{address} lies in {subnet}{}{}.",
        company.unwrap_or_default(),
        country.unwrap_or_default()
    );
    InspectionStep::new(Subnet, Done, sentence).link(format!("/hierarchy?address={address}"))
}

fn delegation(facts: &Facts, host: &HostSummary) -> InspectionStep {
    let Some(subnet) = &host.subnet else {
        return open(Delegation, "Agents are searched for subnets.");
    };
    let is_in_use = facts.delegation.is_some() || facts.open_search.is_some();
    if is_in_use && host.state == HostState::Failed {
        // Other hosts of the subnet are crawled; this one is tried again only after a new URL.
        let reason = host.reason.as_deref().unwrap_or("it could not be reached");
        return given_up(format!("The host was given up: {reason}."), host);
    }
    if let Some(held) = &facts.delegation {
        let rtt = held.rtt_us.map(|us| format!(", with a round trip of {:.1} ms", ms(us)));
        let provisional = if held.provisional { " for the time being" } else { "" };
        let moving = if host.state == HostState::Moving {
            " The host is being released by the agent before it."
        } else {
            ""
        };
        let sentence = format!(
            "{subnet} is delegated to {}{provisional} ({}){}.{moving}",
            held.agent_name,
            held.reason.as_str(),
            rtt.unwrap_or_default()
        );
        return InspectionStep::new(Delegation, Done, sentence)
            .at(held.decided_at)
            .link(format!("/delegations/{}/explanation", held.id));
    }
    match facts.open_search {
        Some(opened) => {
            let sentence = format!("A delegation search for {subnet} is open.");
            InspectionStep::new(Delegation, Waiting, sentence).at(opened)
        }
        None => without_search(&subnet.to_string(), host),
    }
}

/// Why a subnet has neither an agent nor an open search.
fn without_search(subnet: &str, host: &HostSummary) -> InspectionStep {
    let retry_at = Timestamp(host.retry_at);
    match &host.reason {
        Some(reason) if host.state == HostState::Failed => {
            let sentence = format!("{subnet} has no agent, and the host was given up: {reason}.");
            given_up(sentence, host)
        }
        Some(reason) if host.attempts > 0 => {
            let sentence = format!(
                "{subnet} has no agent: {reason}. The next search begins after {}.",
                retry_at.to_second()
            );
            InspectionStep::new(Delegation, Waiting, sentence).advice(
                "Check that the host answers, and that the agents' owners allow its address and \
                 port.",
            )
        }
        _ if host.state == HostState::Moving => {
            let sentence = format!(
                "{subnet} has no agent. Its former agent has to release the host first, or to lose \
                 its lease."
            );
            InspectionStep::new(Delegation, Waiting, sentence)
        }
        _ => {
            let sentence =
                format!("{subnet} has no agent, and its delegation search has not begun.");
            InspectionStep::new(Delegation, Waiting, sentence)
                .advice("If this lasts, see whether an approved agent is awake.")
                .link("/agents")
        }
    }
}

fn given_up(sentence: String, host: &HostSummary) -> InspectionStep {
    let retry = Timestamp(host.retry_at).to_minute();
    let advice = format!("A seed or a link that comes after {retry} has it tried again.");
    InspectionStep::new(Delegation, Stuck, sentence).advice(advice).link("/seeds")
}

fn agent(facts: &Facts) -> InspectionStep {
    match &facts.agent {
        Some(agent) => presence(agent, facts.heartbeat_cutoff, facts.now),
        None => open(Agent, "No agent has the host yet."),
    }
}

/// Whether an agent works now.
pub(super) fn presence(
    agent: &AgentSummary,
    heartbeat_cutoff: UnixMillis,
    now: UnixMillis,
) -> InspectionStep {
    let name = &agent.name;
    let link = format!("/agents/{}", agent.id);
    let step = |state, sentence: String| InspectionStep::new(Agent, state, sentence).link(&*link);
    match agent.state {
        AgentState::Pending => step(Stuck, format!("{name} waits for an admin's approval."))
            .advice("Approve the agent."),
        AgentState::Paused if agent.leaving_at.is_some() => {
            step(Waiting, format!("{name} leaves: it hands its hosts over to other agents."))
        }
        AgentState::Paused => step(Stuck, format!("{name} is paused.")).advice("Resume the agent."),
        AgentState::Revoked => step(
            Waiting,
            format!("{name} is revoked and gets no hosts; those that it had go to other agents."),
        ),
        AgentState::Approved => match (agent.asleep_until, agent.last_heartbeat_at) {
            (Some(until), _) if until > now => {
                let until = Timestamp(until);
                step(Waiting, format!("{name} sleeps until {}.", until.to_minute())).at(until)
            }
            (_, Some(heartbeat)) if heartbeat >= heartbeat_cutoff => match &agent.idle_reason {
                Some(reason) => {
                    step(Waiting, format!("{name} does not fetch: {reason}.")).at(heartbeat)
                }
                None => step(Done, format!("{name} is awake and fetches.")).at(heartbeat),
            },
            (_, Some(heartbeat)) => step(Stuck, format!("{name} sends no heartbeats any more."))
                .at(heartbeat)
                .advice(format!("Ask its owner ({}), or revoke the agent.", agent.contact)),
            (_, None) => step(Stuck, format!("{name} has not sent a heartbeat yet."))
                .advice(format!("Ask its owner: {}.", agent.contact)),
        },
    }
}

#[cfg(test)]
mod tests {
    use model::HostId;

    use super::*;

    fn host() -> HostSummary {
        HostSummary {
            id: HostId::new(1),
            scheme: "https".into(),
            authority: "example.org".into(),
            state: HostState::Resolved,
            address: Some([192, 0, 2, 1].into()),
            subnet: None,
            agent: None,
            reason: None,
            attempts: 0,
            retry_at: UnixMillis(1_731_000_007_000),
            found_at: UnixMillis(0),
            found_by: None,
            pages: 0,
            fetches: 0,
            wire_bytes: 0,
            fetched: None,
        }
    }

    #[test]
    fn an_unanswered_search_is_told_from_one_that_has_not_begun() {
        let new = without_search("192.0.2.0/24", &host());
        assert!(new.sentence.ends_with("has not begun."), "{}", new.sentence);
        let moving = HostSummary { state: HostState::Moving, ..host() };
        let released = without_search("192.0.2.0/24", &moving);
        assert!(released.sentence.contains("release the host first"), "{}", released.sentence);
        let reason = Some("no agent got an answer from 192.0.2.1".to_owned());
        let unanswered = HostSummary { reason, attempts: 1, ..host() };
        let waiting = without_search("192.0.2.0/24", &unanswered);
        assert_eq!(
            waiting.sentence,
            "192.0.2.0/24 has no agent: no agent got an answer from 192.0.2.1. The next search \
             begins after 2024-11-07 17:20:07 UTC."
        );
        let given_up = HostSummary { state: HostState::Failed, ..unanswered };
        assert_eq!(without_search("192.0.2.0/24", &given_up).state, Stuck);
    }
}
