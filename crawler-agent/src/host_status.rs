//! Host status: what a host waits for, for people who ask.

use std::{fmt::Write as _, time::Duration};

use model::{CrawlUrl, UnixMillis};
use protocol::host_status::{HostStatus, WaitsFor};

use crate::{
    clock,
    frontier::{HostSnapshot, RobotsState},
    schedule::HostActivity,
};

/// What is known of a host.
#[derive(Clone)]
pub struct Facts {
    /// Scheme and authority.
    pub host: String,
    /// Why the agent fetches nothing; none when it does.
    pub agent_idle: Option<String>,
    /// What the frontier knows; none when it is not a host of the agent.
    pub snapshot: Option<HostSnapshot>,
    /// What the schedule knows.
    pub activity: HostActivity,
    /// How long after their revisit bases pages are visited again; none when they are not.
    pub revisit: Option<Duration>,
}

/// The status that follows from the facts at the time `now`.
pub fn status_of(facts: Facts, now: UnixMillis) -> HostStatus {
    let Facts { host, agent_idle, snapshot, activity, revisit } = facts;
    let Some(snapshot) = snapshot else {
        let reason = "the coordinator has not given it to this agent".to_owned();
        return unknown(host, reason);
    };
    let due = Some(snapshot.record.due).filter(|due| !clock::is_wrong(*due, now)).unwrap_or(now);
    let failures = snapshot.record.failures;
    let (waits_for, until, reason) = match activity {
        HostActivity::Running => (WaitsFor::Answer, None, "a request is running".to_owned()),
        _ if agent_idle.is_some() => {
            let reason = format!("the agent does not fetch: {}", agent_idle.unwrap_or_default());
            (WaitsFor::Agent, None, reason)
        }
        _ if snapshot.next.is_none() && !has_due_page(&snapshot, revisit, now) => {
            nothing_queued(&snapshot, revisit, due)
        }
        HostActivity::QueuesForAddress => {
            let reason = "another host with the same address is being asked".to_owned();
            (WaitsFor::Address, None, reason)
        }
        _ if due > now && failures > 0 => {
            (WaitsFor::Retry, Some(due), format!("it failed {failures} times in a row"))
        }
        _ if due > now => (WaitsFor::Delay, Some(due), "the delay between two requests".to_owned()),
        HostActivity::Resolving => {
            (WaitsFor::Slot, None, "it is due; its name is being looked up".to_owned())
        }
        HostActivity::Waiting | HostActivity::None => {
            (WaitsFor::Slot, None, "it is due; other hosts are before it".to_owned())
        }
    };
    let item = snapshot.next.as_ref().or(snapshot.next_page.as_ref());
    HostStatus {
        host,
        waits_for,
        until,
        reason,
        next: item.map(|item| item.url.to_string()),
        is_allowed: item.and_then(|item| allowed(&snapshot, &item.url)),
        accepted: snapshot.record.accepted,
        failures,
    }
}

fn unknown(host: String, reason: String) -> HostStatus {
    HostStatus {
        host,
        waits_for: WaitsFor::Nobody,
        until: None,
        reason,
        next: None,
        is_allowed: None,
        accepted: 0,
        failures: 0,
    }
}

/// When the first page is to be visited again.
fn next_revisit(snapshot: &HostSnapshot, revisit: Option<Duration>) -> Option<UnixMillis> {
    let base = snapshot.next_page.as_ref()?.known.as_ref()?.revisit_base;
    Some(base.plus(revisit?))
}

fn has_due_page(snapshot: &HostSnapshot, revisit: Option<Duration>, now: UnixMillis) -> bool {
    next_revisit(snapshot, revisit).is_some_and(|at| at <= now)
}

fn nothing_queued(
    snapshot: &HostSnapshot,
    revisit: Option<Duration>,
    due: UnixMillis,
) -> (WaitsFor, Option<UnixMillis>, String) {
    match next_revisit(snapshot, revisit) {
        Some(at) => {
            let reason = "its queue is empty; a page is visited again".to_owned();
            (WaitsFor::Revisit, Some(at.max(due)), reason)
        }
        None => (WaitsFor::Url, None, "all its URLs have been fetched".to_owned()),
    }
}

/// Whether robots.txt of the host allows a URL; none when its rules are not known.
pub fn allowed(snapshot: &HostSnapshot, url: &CrawlUrl) -> Option<bool> {
    match snapshot.robots.as_deref()? {
        RobotsState::Known { robots, .. } => Some(robots.allows(url.path_and_query())),
        RobotsState::Moved { .. } => None,
    }
}

/// The status in a few lines, for the owner's commands.
pub fn text_of(status: &HostStatus) -> String {
    let HostStatus { host, waits_for, until, reason, next, is_allowed, accepted, failures } =
        status;
    let waits_for = match waits_for {
        WaitsFor::Nobody => "is not a host of this agent",
        WaitsFor::Agent => "waits for the agent",
        WaitsFor::Answer => "waits for an answer",
        WaitsFor::Address => "waits for its address",
        WaitsFor::Retry => "pauses after failures",
        WaitsFor::Delay => "pauses between requests",
        WaitsFor::Slot => "waits for a request slot",
        WaitsFor::Revisit => "waits for a revisit",
        WaitsFor::Url => "has nothing to fetch",
    };
    let until = until.map(|until| format!(" until {}", clock::timestamp(until)));
    let mut text = format!("{host} {waits_for}{}: {reason}", until.unwrap_or_default());
    if let Some(next) = next {
        let verdict = match is_allowed {
            Some(true) => "allowed by robots.txt",
            Some(false) => "forbidden by robots.txt",
            None => "robots.txt comes first",
        };
        // Writing to a String cannot fail.
        let _ = write!(text, "\nnext:     {next} ({verdict})");
        let _ = write!(text, "\naccepted: {accepted} URLs so far\nfailures: {failures} in a row");
    }
    text
}

#[cfg(test)]
mod tests {
    use model::CrawlUrl;

    use super::*;
    use crate::frontier::{HostNumber, HostRecord, KnownPage, PageRecord, QueueItem};

    const NOW: UnixMillis = UnixMillis(1_000_000);

    fn item(known: Option<KnownPage>) -> QueueItem {
        let url = CrawlUrl::parse("http://a.org/page").unwrap();
        let known = known.map(Box::new);
        QueueItem { host: HostNumber(1), depth: 0, order: 1, url, redirects: 0, attempts: 0, known }
    }

    fn facts(due: i64, failures: u32) -> Facts {
        let key = "http://a.org".to_owned();
        let record = HostRecord { key, due: UnixMillis(due), accepted: 3, ended: 0, failures };
        let next = Some(item(None));
        let snapshot = HostSnapshot { record, robots: None, next, next_page: None };
        Facts {
            host: "http://a.org".into(),
            agent_idle: None,
            snapshot: Some(snapshot),
            activity: HostActivity::Waiting,
            revisit: None,
        }
    }

    fn waits(facts: Facts) -> (WaitsFor, Option<i64>) {
        let status = status_of(facts, NOW);
        (status.waits_for, status.until.map(|until| until.0))
    }

    #[test]
    fn every_wait_is_named() {
        let later = NOW.0 + 500;
        assert_eq!(waits(facts(0, 0)), (WaitsFor::Slot, None));
        assert_eq!(waits(facts(later, 0)), (WaitsFor::Delay, Some(later)));
        assert_eq!(waits(facts(later, 2)), (WaitsFor::Retry, Some(later)));
        let running = Facts { activity: HostActivity::Running, ..facts(later, 0) };
        assert_eq!(waits(running), (WaitsFor::Answer, None));
        let queues = Facts { activity: HostActivity::QueuesForAddress, ..facts(0, 0) };
        assert_eq!(waits(queues), (WaitsFor::Address, None));
        let idle = Facts { agent_idle: Some("paused by its owner".into()), ..facts(0, 0) };
        assert_eq!(waits(idle), (WaitsFor::Agent, None));
        assert_eq!(waits(Facts { snapshot: None, ..facts(0, 0) }), (WaitsFor::Nobody, None));
    }

    #[test]
    fn without_urls_it_waits_for_the_page_that_is_visited_first() {
        let record = PageRecord::without_content("/page".into(), 0);
        let page = item(Some(KnownPage { revisit_base: UnixMillis(NOW.0 - 1_000), record }));
        let empty = |next_page: Option<QueueItem>, revisit| {
            let mut facts = Facts { revisit, ..facts(0, 0) };
            if let Some(snapshot) = &mut facts.snapshot {
                snapshot.next = None;
                snapshot.next_page = next_page;
            }
            facts
        };
        let period = Some(Duration::from_secs(60));
        assert_eq!(waits(empty(Some(page.clone()), period)), (WaitsFor::Revisit, Some(1_059_000)));
        assert_eq!(waits(empty(Some(page.clone()), None)), (WaitsFor::Url, None));
        let mut rests = empty(Some(page), Some(Duration::from_millis(1)));
        assert_eq!(waits(rests.clone()), (WaitsFor::Slot, None), "the revisit is due");
        let later = UnixMillis(NOW.0 + 500);
        if let Some(snapshot) = &mut rests.snapshot {
            snapshot.record.due = later;
            snapshot.record.failures = 10;
        }
        assert_eq!(waits(rests), (WaitsFor::Retry, Some(later.0)));
        assert_eq!(waits(empty(None, period)), (WaitsFor::Url, None));
    }

    #[test]
    fn the_text_says_what_comes_next() {
        let text = text_of(&status_of(facts(NOW.0 + 500, 2), NOW));
        for part in [
            "http://a.org pauses after failures until 1970-01-01T00:16:40.5Z",
            "2 times",
            "\nnext:     http://a.org/page (robots.txt comes first)",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
