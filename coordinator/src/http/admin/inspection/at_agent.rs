//! Steps of a URL at its agent, and what came back from it.

use model::{FetchOutcome, UnixMillis};
use protocol::host_status::{HostStatus, UrlStatus, WaitsFor};
use store::hidden_from_search::Hidden;
use store::inspection::UrlPlace;
use store::url_questions::Answer;

use crate::http::admin::dto::inspection::InspectionStep;
use crate::http::admin::dto::inspection::StepName::{Fetch, Index, Queue, Robots};
use crate::http::admin::dto::inspection::StepState::{Done, Open, Stuck, Waiting};
use crate::http::admin::inspection::facts::Facts;
use crate::http::timestamp::Timestamp;

/// The steps; none where nothing is known of the host.
pub(super) fn steps(facts: &Facts) -> Vec<InspectionStep> {
    if facts.host.is_none() {
        return Vec::new();
    }
    vec![robots(facts), queue(facts), fetch(facts), index(facts)]
}

fn is_forbidden(facts: &Facts) -> bool {
    facts.fetch.as_ref().is_some_and(|fetch| fetch.outcome == FetchOutcome::Disallowed)
}

fn robots(facts: &Facts) -> InspectionStep {
    let host = facts.url.host_key_str();
    let answer = facts.answer.as_ref();
    let verdict = answer.and_then(|answer| answer.status.is_allowed);
    let last = facts.fetch.as_ref().filter(|_| is_forbidden(facts));
    match (verdict, last) {
        (Some(false), _) => {
            let sentence = format!("robots.txt of {host} forbids the URL.");
            let at = answer.map_or(facts.now, |answer| answer.at);
            InspectionStep::new(Robots, Stuck, sentence)
                .at(at)
                .advice("Only the site's owner can allow it.")
        }
        (None, Some(fetch)) => {
            let sentence = format!("The site's robots rules forbid the URL ({}).", fetch.detail);
            InspectionStep::new(Robots, Stuck, sentence)
                .at(fetch.at)
                .advice("Only the site's owner can allow it.")
        }
        (Some(true), _) => {
            let sentence = format!("robots.txt of {host} allows the URL.");
            let at = answer.map_or(facts.now, |answer| answer.at);
            InspectionStep::new(Robots, Done, sentence).at(at)
        }
        (None, None) if answer.is_some() => InspectionStep::new(
            Robots,
            Open,
            format!("The agent has not read robots.txt of {host} yet, or not lately."),
        ),
        (None, None) => InspectionStep::new(Robots, Open, "Only the agent knows robots.txt."),
    }
}

fn queue(facts: &Facts) -> InspectionStep {
    let Some(agent) = &facts.agent else {
        return match facts.place {
            Some(_) => InspectionStep::new(Queue, Open, "The URL waits at the coordinator."),
            None => InspectionStep::new(Queue, Open, "The host has no agent yet."),
        };
    };
    let name = &agent.name;
    match (facts.place, &facts.answer) {
        (Some(UrlPlace::Pending), _) => InspectionStep::new(
            Queue,
            Waiting,
            format!("The URL waits at the coordinator for a place among {name}'s next URLs."),
        ),
        (Some(UrlPlace::Route), _) => {
            InspectionStep::new(Queue, Waiting, format!("The URL is on its way to {name}."))
        }
        (None, Some(answer)) => at_agent(facts, name, answer),
        (None, None) if facts.is_reachable() => InspectionStep::new(
            Queue,
            Open,
            format!("{name} has been asked and answers with its next heartbeat."),
        ),
        (None, None) => InspectionStep::new(
            Queue,
            Open,
            format!("{name} cannot be asked now; it answers when it sends heartbeats again."),
        ),
    }
}

fn at_agent(facts: &Facts, name: &str, answer: &Answer) -> InspectionStep {
    let Answer { status: UrlStatus { is_known, host, .. }, at } = answer;
    if !is_known && host.waits_for == WaitsFor::Nobody {
        let sentence = format!("{name} has not received the host yet.");
        return InspectionStep::new(Queue, Waiting, sentence).at(*at);
    }
    if !is_known {
        // A page of the index may have come from an earlier agent.
        let sentence = format!("{name} has never been given this URL.");
        let state = if facts.indexed.is_some() { Done } else { Stuck };
        return InspectionStep::new(Queue, state, sentence)
            .at(*at)
            .advice("Add the URL as a seed.")
            .link("/seeds");
    }
    if let Some(fetch) = &facts.fetch {
        let sentence = format!("{name} has fetched the URL. {}", host_sentence(host));
        return InspectionStep::new(Queue, Done, sentence).at(fetch.at);
    }
    let state = match host.waits_for {
        WaitsFor::Url | WaitsFor::Revisit => Done,
        _ if facts.indexed.is_some() => Done,
        _ => Waiting,
    };
    let sentence = format!("{name} has the URL. {}", host_sentence(host));
    InspectionStep::new(Queue, state, sentence).at(*at)
}

/// What the host waits for.
fn host_sentence(host: &HostStatus) -> String {
    let until = host.until.map(|until| format!(" until {}", Timestamp(until).to_second()));
    let until = until.unwrap_or_default();
    let reason = &host.reason;
    match host.waits_for {
        WaitsFor::Nobody => format!("Its host is not the agent's: {reason}."),
        WaitsFor::Agent => format!("Its host waits: {reason}."),
        WaitsFor::Answer => "A request to its host is running.".to_owned(),
        WaitsFor::Address => format!("Its host waits for its address: {reason}."),
        WaitsFor::Retry => format!("Its host pauses{until}: {reason}."),
        WaitsFor::Delay => format!("Its host pauses{until} between two requests."),
        WaitsFor::Slot => "Its host is due and waits for other hosts.".to_owned(),
        WaitsFor::Revisit => format!("Its host waits for the next revisit{until}."),
        WaitsFor::Url => "All URLs of its host have been fetched.".to_owned(),
    }
}

fn fetch(facts: &Facts) -> InspectionStep {
    let link = host_link(facts);
    let Some(fetch) = &facts.fetch else {
        let sentence = match (facts.indexed, has_fetches(facts)) {
            (Some(_), _) => "The last fetch of the URL is not among the last ones of its host.",
            (None, true) => "The URL is not among the last fetches of its host.",
            (None, false) => "Nothing has been fetched from the host yet.",
        };
        return InspectionStep::new(Fetch, Open, sentence).link(link);
    };
    let (state, sentence) = match fetch.outcome {
        FetchOutcome::Page => (Done, "The last fetch brought a page.".to_owned()),
        FetchOutcome::Unchanged => (Done, "The last fetch found the same page.".to_owned()),
        FetchOutcome::Redirect => {
            (Done, format!("The last fetch was answered with a redirect: {}.", fetch.detail))
        }
        FetchOutcome::NotText => {
            (Done, format!("The last fetch brought no text to index: {}.", fetch.detail))
        }
        FetchOutcome::Disallowed => {
            (Done, format!("It was not to be fetched or indexed: forbidden {}.", fetch.detail))
        }
        FetchOutcome::HttpError | FetchOutcome::Failed => {
            let state = if is_gone(&fetch.detail) { Stuck } else { Waiting };
            (state, format!("The last fetch failed: {}.", fetch.detail))
        }
    };
    let step = InspectionStep::new(Fetch, state, sentence).at(fetch.at).link(link);
    match state {
        Stuck => step.advice("The site says that there is no such page, so that it has ended."),
        Waiting => step.advice(
            "The agent tries a new URL three times, and visits one that failed again after the \
             revisit period of the policy.",
        ),
        _ => step,
    }
}

/// Whether the answer ends a page for good. The type of its content may follow the status.
fn is_gone(detail: &str) -> bool {
    let status = detail.split_once(',').map_or(detail, |(status, _)| status);
    matches!(status, "HTTP 404" | "HTTP 410")
}

fn has_fetches(facts: &Facts) -> bool {
    facts.host.as_ref().is_some_and(|host| host.fetches > 0)
}

/// The page of the host.
fn host_link(facts: &Facts) -> String {
    facts.host.as_ref().map(|host| format!("/hosts/{}", host.id)).unwrap_or_default()
}

/// Since when the host has been silent, if searches leave its pages out.
fn silent_since(facts: &Facts) -> Option<UnixMillis> {
    let fetched = facts.host.as_ref()?.fetched.as_ref()?;
    fetched.unanswered_since.filter(|_| fetched.is_silent)
}

fn index(facts: &Facts) -> InspectionStep {
    if let Some(Hidden { target, reason, hidden_by, hidden_at, .. }) = &facts.hidden {
        let sentence = format!("{hidden_by} has hidden {target} from the search: {reason}.");
        return InspectionStep::new(Index, Stuck, sentence)
            .at(*hidden_at)
            .advice("Searches find the page again once the entry is removed.")
            .link("/hidden");
    }
    if let Some(since) = silent_since(facts).filter(|_| facts.indexed.is_some()) {
        let host = facts.url.host_key_str();
        let since = Timestamp(since).to_second();
        let sentence = format!("{host} has not answered since {since}: searches leave it out.");
        return InspectionStep::new(Index, Stuck, sentence)
            .advice("Searches find the page again once its host answers.")
            .link(host_link(facts));
    }
    if let Some(fetched_at) = facts.indexed {
        let query = format!("site:{}", facts.url.host_key().authority());
        return InspectionStep::new(Index, Done, "Searches find the page.")
            .at(fetched_at)
            .link(format!("/?q={query}"));
    }
    let Some(fetch) = &facts.fetch else {
        return InspectionStep::new(Index, Open, "The page is not in the index.");
    };
    match fetch.outcome {
        FetchOutcome::Page | FetchOutcome::Unchanged => InspectionStep::new(
            Index,
            Waiting,
            "The page has been fetched and is not in this coordinator's index yet.",
        ),
        _ => InspectionStep::new(Index, Open, "There is no page to index at this URL."),
    }
}

#[cfg(test)]
mod tests;
