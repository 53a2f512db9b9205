//! The list of agents. They are some thousands at most, so that filters, counts and orders are
//! computed in memory.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use model::{AgentState, Presence};
use store::agents::AgentSummary;

use crate::http::admin::dto::agents::{AgentPresenceCount, AgentQuery, AgentSort, AgentStateCount};

/// An agent of the list with what the filters look at.
#[derive(Debug, Clone)]
pub(super) struct ListedAgent {
    pub(super) agent: AgentSummary,
    pub(super) presence: Presence,
    /// Country and company of the home subnet, where they are known.
    pub(super) registration: Vec<String>,
}

/// The agents that a query leaves, in its order, and what other filters would leave.
#[derive(Debug)]
pub(super) struct SelectedAgents {
    pub(super) agents: Vec<ListedAgent>,
    pub(super) states: Vec<AgentStateCount>,
    pub(super) presences: Vec<AgentPresenceCount>,
}

/// Filters, counts and sorts. Each count ignores the filter of its own kind: a person who has
/// chosen one state sees what the others would show.
pub(super) fn select(all: Vec<ListedAgent>, query: &AgentQuery) -> SelectedAgents {
    let text = query.q.as_deref().map(|text| text.trim().to_lowercase());
    let found: Vec<ListedAgent> =
        all.into_iter().filter(|listed| has_text(listed, text.as_deref())).collect();
    let has_state =
        |listed: &&ListedAgent| query.state.is_none_or(|state| state == listed.agent.state);
    let has_presence = |listed: &&ListedAgent| {
        query.presence.is_none() || query.presence == shown_presence(listed)
    };
    let mut by_state: BTreeMap<AgentState, u64> = BTreeMap::new();
    for listed in found.iter().filter(has_presence) {
        *by_state.entry(listed.agent.state).or_default() += 1;
    }
    let mut by_presence: BTreeMap<Presence, u64> = BTreeMap::new();
    for presence in found.iter().filter(has_state).filter_map(shown_presence) {
        *by_presence.entry(presence).or_default() += 1;
    }
    let mut agents: Vec<ListedAgent> =
        found.iter().filter(has_state).filter(has_presence).cloned().collect();
    sort(&mut agents, query.sort.unwrap_or_default());
    SelectedAgents {
        agents,
        states: by_state
            .into_iter()
            .map(|(state, agents)| AgentStateCount { state, agents })
            .collect(),
        presences: by_presence
            .into_iter()
            .map(|(presence, agents)| AgentPresenceCount { presence, agents })
            .collect(),
    }
}

/// Presence says something only about agents that may work.
fn shown_presence(listed: &ListedAgent) -> Option<Presence> {
    (listed.agent.state == AgentState::Approved).then_some(listed.presence)
}

/// Whether the text, in lower case, is in the name, the identifier, the contact, the home address,
/// the country or the company.
fn has_text(listed: &ListedAgent, text: Option<&str>) -> bool {
    let Some(text) = text.filter(|text| !text.is_empty()) else { return true };
    let agent = &listed.agent;
    let own = [agent.name.clone(), agent.id.to_string(), agent.contact.clone()];
    own.iter().chain(&listed.registration).any(|field| field.to_lowercase().contains(text))
        || agent.home.to_string().starts_with(text)
}

/// Revoked agents, which never come back, are after the rest in every order. Equal agents stay in
/// the order in which they were read, the newest first.
fn sort(agents: &mut [ListedAgent], order: AgentSort) {
    match order {
        AgentSort::Newest => {}
        AgentSort::Name => agents.sort_by_key(|listed| listed.agent.name.to_lowercase()),
        AgentSort::Delegations => {
            agents.sort_by_key(|listed| Reverse(listed.agent.delegations));
        }
        AgentSort::Hosts => agents.sort_by_key(|listed| Reverse(listed.agent.hosts)),
        AgentSort::Pages => agents.sort_by_key(|listed| Reverse(listed.agent.pages)),
        AgentSort::Shipped => agents.sort_by_key(|listed| Reverse(listed.agent.shipped_bytes)),
        AgentSort::Silent => agents.sort_by_key(|listed| listed.agent.last_heartbeat_at),
    }
    agents.sort_by_key(|listed| listed.agent.state == AgentState::Revoked);
}

#[cfg(test)]
pub(super) mod tests {
    use model::{AgentId, UnixMillis};
    use protocol::key::AgentKey;

    use super::*;

    /// An agent that was never heard of.
    pub(in crate::http::admin) fn agent(id: i64, name: &str, state: AgentState) -> AgentSummary {
        AgentSummary {
            id: AgentId::new(id),
            state,
            name: name.into(),
            contact: "crawl@example.org".into(),
            version: "1".into(),
            capacity_pages_per_day: 1,
            zone: "UTC".into(),
            spans: vec![],
            home: "192.0.2.7".parse().unwrap(),
            source: None,
            source_since: None,
            place: None,
            key: AgentKey::from_seed([1; 32]).public(),
            join_token: None,
            leaving_at: None,
            left_at: None,
            pages_removed_at: None,
            enrolled_at: UnixMillis(0),
            approved_at: None,
            last_heartbeat_at: None,
            asleep_until: None,
            idle_reason: None,
            clock_off_ms: None,
            delegations: 0,
            hosts: 0,
            pages: 0,
            wire_bytes: 0,
            shipped_bytes: 0,
        }
    }

    fn listed(id: i64, name: &str, state: AgentState, pages: u64) -> ListedAgent {
        let agent = AgentSummary { pages, ..agent(id, name, state) };
        ListedAgent { agent, presence: Presence::Never, registration: vec!["CY".into()] }
    }

    fn agents() -> Vec<ListedAgent> {
        vec![
            listed(4, "Delta", AgentState::Revoked, 900),
            listed(3, "charlie", AgentState::Approved, 5),
            listed(2, "bravo", AgentState::Paused, 70),
            listed(1, "Alpha", AgentState::Approved, 5),
        ]
    }

    fn ids(query: &AgentQuery) -> Vec<i64> {
        select(agents(), query).agents.iter().map(|listed| listed.agent.id.get()).collect()
    }

    #[test]
    fn orders_put_revoked_agents_last() {
        let by = |sort| ids(&AgentQuery { sort: Some(sort), ..AgentQuery::default() });
        assert_eq!(by(AgentSort::Newest), [3, 2, 1, 4]);
        assert_eq!(by(AgentSort::Name), [1, 2, 3, 4]);
        assert_eq!(by(AgentSort::Pages), [2, 3, 1, 4], "equal agents: the newest first");
    }

    #[test]
    fn counts_ignore_the_filter_of_their_own_kind() {
        let query = AgentQuery { state: Some(AgentState::Paused), ..AgentQuery::default() };
        let selected = select(agents(), &query);
        assert_eq!(selected.agents.len(), 1);
        let states: Vec<(AgentState, u64)> =
            selected.states.iter().map(|count| (count.state, count.agents)).collect();
        assert_eq!(
            states,
            [(AgentState::Approved, 2), (AgentState::Paused, 1), (AgentState::Revoked, 1)]
        );
        assert!(selected.presences.is_empty(), "a paused agent has no presence to count");
    }

    #[test]
    fn texts_and_presences_filter() {
        let with = |q: &str| ids(&AgentQuery { q: Some(q.into()), ..AgentQuery::default() });
        assert_eq!(with("ALPHA"), [1]);
        assert_eq!(with("agt_2"), [2]);
        assert_eq!(with("192.0.2"), [3, 2, 1, 4]);
        assert_eq!(with("nowhere"), Vec::<i64>::new());
        let never = AgentQuery { presence: Some(Presence::Never), ..AgentQuery::default() };
        assert_eq!(ids(&never), [3, 1]);
    }
}
