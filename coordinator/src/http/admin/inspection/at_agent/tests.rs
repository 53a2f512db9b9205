//! What is said of URLs at their agents.

use model::{AgentId, AgentState, CrawlUrl, HiddenId, HiddenKind, HostId, HostState, UnixMillis};
use store::agents::AgentSummary;
use store::host_list::{FetchSummary, HostSummary};
use store::host_tally::RecentFetch;

use super::*;
use crate::http::admin::agent_list;
use crate::http::admin::dto::inspection::StepState;
use crate::http::admin::inspection::before_agent;
use crate::http::admin::subnet_lookup::SubnetInfo;

const NOW: UnixMillis = UnixMillis(1_000_000);
const URL: &str = "http://a.test/page";

fn host() -> HostSummary {
    HostSummary {
        id: HostId::new(7),
        scheme: "http".into(),
        authority: "a.test".into(),
        state: HostState::Delegated,
        address: Some("198.51.100.7".parse().unwrap()),
        subnet: Some("198.51.100.0/24".parse().unwrap()),
        agent: Some((AgentId::new(1), "one".into())),
        reason: None,
        attempts: 0,
        retry_at: NOW,
        found_at: NOW,
        found_by: None,
        pages: 0,
        fetches: 0,
        wire_bytes: 0,
        fetched: None,
    }
}

fn agent() -> AgentSummary {
    let never_heard_of = agent_list::tests::agent(1, "one", AgentState::Approved);
    AgentSummary { last_heartbeat_at: Some(NOW), ..never_heard_of }
}

fn facts() -> Facts {
    Facts {
        url: CrawlUrl::parse(URL).unwrap(),
        now: NOW,
        heartbeat_cutoff: UnixMillis(NOW.0 - 1_000),
        host: Some(host()),
        found_by: None,
        subnet: SubnetInfo::default(),
        delegation: None,
        open_search: None,
        agent: Some(agent()),
        place: None,
        answer: None,
        fetch: None,
        indexed: None,
        hidden: None,
    }
}

fn answer(is_allowed: Option<bool>, is_known: bool, waits_for: WaitsFor) -> Answer {
    let host = HostStatus {
        host: "http://a.test".into(),
        waits_for,
        until: None,
        reason: "for a reason".into(),
        next: None,
        is_allowed: None,
        accepted: 1,
        failures: 0,
    };
    Answer { status: UrlStatus { url: URL.into(), is_allowed, is_known, host }, at: NOW }
}

fn fetched(outcome: FetchOutcome, detail: &str) -> RecentFetch {
    let detail = detail.to_owned();
    RecentFetch { url: URL.into(), at: NOW, outcome, detail, ms: None, bytes: 0 }
}

/// States of the steps robots, queue, fetch and index.
fn states(facts: &Facts) -> Vec<StepState> {
    steps(facts).into_iter().map(|step| step.state).collect()
}

#[test]
fn a_url_that_waits_its_turn() {
    let answer = Some(answer(Some(true), true, WaitsFor::Delay));
    assert_eq!(states(&Facts { answer, ..facts() }), [Done, Waiting, Open, Open]);
}

#[test]
fn a_url_that_robots_txt_forbids() {
    let answered = Some(answer(Some(false), true, WaitsFor::Url));
    let fetch = Some(fetched(FetchOutcome::Disallowed, "by robots.txt"));
    let facts = Facts { answer: answered, fetch: fetch.clone(), ..facts() };
    assert_eq!(states(&facts), [Stuck, Done, Done, Open]);
    // Also while the agent cannot be asked.
    let unasked = Facts { answer: None, ..facts };
    assert_eq!(states(&unasked)[0], Stuck);
}

#[test]
fn a_url_that_was_never_given_to_the_agent() {
    let answered = Some(answer(Some(true), false, WaitsFor::Url));
    let queue = &steps(&Facts { answer: answered, ..facts() })[1];
    assert_eq!((queue.state, queue.link.as_deref()), (Stuck, Some("/seeds")));
}

#[test]
fn a_page_in_the_index() {
    let facts = Facts {
        answer: Some(answer(Some(true), true, WaitsFor::Revisit)),
        fetch: Some(fetched(FetchOutcome::Page, "")),
        indexed: Some(NOW),
        ..facts()
    };
    assert_eq!(states(&facts), [Done; 4]);
}

#[test]
fn a_page_that_is_hidden_from_the_search() {
    let hidden = Hidden {
        id: HiddenId::new(3),
        kind: HiddenKind::Site,
        target: "a.test".into(),
        reason: "a court order".into(),
        hidden_by: "ada".into(),
        hidden_at: NOW,
    };
    let facts = Facts { indexed: Some(NOW), hidden: Some(hidden), ..facts() };
    let step = &steps(&facts)[3];
    assert_eq!((step.state, step.link.as_deref()), (Stuck, Some("/hidden")));
    assert_eq!(step.sentence, "ada has hidden a.test from the search: a court order.");
}

#[test]
fn a_page_of_a_host_that_has_been_silent_for_long() {
    let fetched = |is_silent| FetchSummary {
        errors: 9,
        disallowed: 0,
        mean_ms: 0,
        recent: Vec::new(),
        answered_at: None,
        unanswered_since: Some(UnixMillis(0)),
        is_silent,
    };
    let index_step = |is_silent, indexed| {
        let host = HostSummary { fetched: Some(fetched(is_silent)), ..host() };
        steps(&Facts { host: Some(host), indexed, ..facts() }).remove(3)
    };
    let step = index_step(true, Some(NOW));
    assert_eq!((step.state, step.link.as_deref()), (Stuck, Some("/hosts/hst_7")));
    let since = "1970-01-01 00:00:00 UTC";
    assert_eq!(
        step.sentence,
        format!("http://a.test has not answered since {since}: searches leave it out.")
    );
    assert_eq!(index_step(false, Some(NOW)).state, Done, "not for long");
    assert_eq!(index_step(true, None).state, Open, "there is nothing to leave out");
}

#[test]
fn a_fetch_that_failed() {
    for (detail, state) in [
        ("no connection: refused", Waiting),
        ("HTTP 503, text/html", Waiting),
        ("HTTP 404", Stuck),
        ("HTTP 410, text/html", Stuck),
    ] {
        let fetch = Some(fetched(FetchOutcome::Failed, detail));
        let step = &steps(&Facts { fetch, ..facts() })[2];
        assert_eq!((step.state, step.advice.is_some()), (state, true));
        assert_eq!(step.sentence, format!("The last fetch failed: {detail}."));
    }
}

#[test]
fn a_host_without_an_address_is_stuck_and_the_rest_open() {
    let host = HostSummary {
        state: HostState::Failed,
        address: None,
        subnet: None,
        agent: None,
        reason: Some("no such name".into()),
        ..host()
    };
    let facts = Facts { host: Some(host), agent: None, ..facts() };
    let states: Vec<StepState> =
        before_agent::steps(&facts).into_iter().map(|step| step.state).collect();
    assert_eq!(states, [Done, Stuck, Open, Open, Open]);
}

#[test]
fn a_sleeping_agent_is_waited_for() {
    let until = UnixMillis(NOW.0 + 60_000);
    let asleep = AgentSummary { asleep_until: Some(until), ..agent() };
    let step = before_agent::presence(&asleep, NOW, NOW);
    assert_eq!((step.state, step.at), (Waiting, Some(Timestamp(until))));
}

#[test]
fn an_agent_that_leaves_is_not_to_be_resumed() {
    let state = AgentState::Paused;
    let leaving = AgentSummary { state, leaving_at: Some(NOW), ..agent() };
    let step = before_agent::presence(&leaving, NOW, NOW);
    assert_eq!((step.state, step.advice), (Waiting, None));
}

#[test]
fn nothing_is_known_of_a_host_that_nobody_named() {
    let facts = Facts { host: None, agent: None, ..facts() };
    let steps = before_agent::steps(&facts);
    assert_eq!((steps.len(), steps[0].state), (1, Stuck));
    assert!(super::steps(&facts).is_empty());
}
