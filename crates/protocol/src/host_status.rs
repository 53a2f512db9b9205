//! Host status: what a host waits for, as its agent answers it.

use model::UnixMillis;
use serde::{Deserialize, Serialize};

/// What a host waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitsFor {
    /// It is not a host of the agent.
    Nobody,
    /// The agent fetches nothing now.
    Agent,
    /// A request to it is running.
    Answer,
    /// Another request to its address is running, or ended a moment ago.
    Address,
    /// The pause after failures.
    Retry,
    /// The pause between requests.
    Delay,
    /// A request slot of the agent.
    Slot,
    /// The next visit of a page.
    Revisit,
    /// A URL to fetch.
    Url,
}

/// Answer to the question what a host waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostStatus {
    /// Scheme and authority.
    pub host: String,
    /// What it waits for.
    pub waits_for: WaitsFor,
    /// Until when, where that is known.
    pub until: Option<UnixMillis>,
    /// The reason in one line.
    pub reason: String,
    /// URL of the next request.
    pub next: Option<String>,
    /// Whether robots.txt allows that URL; none when its rules are not known.
    pub is_allowed: Option<bool>,
    /// URLs that were queued so far.
    pub accepted: u32,
    /// Failures in a row.
    pub failures: u32,
}

/// An agent's answer about a URL of the coordinator's questions, and about its host.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlStatus {
    /// The URL as it was asked.
    pub url: String,
    /// Whether robots.txt allows it; none when its rules are not known.
    pub is_allowed: Option<bool>,
    /// Whether it was ever queued at this agent.
    pub is_known: bool,
    /// What its host waits for.
    pub host: HostStatus,
}
