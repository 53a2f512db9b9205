//! The audit log as the API shows it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::audit;
use utoipa::{IntoParams, ToSchema};

use crate::http::admin::dto::lists::BoundedCount;
use crate::http::timestamp::Timestamp;

/// Which entries to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Name of the person, or `coordinator`.
    #[param(max_length = 200)]
    pub actor: Option<String>,
    /// What was done, such as `agent.approve`; a noun such as `agent` means all that was done to
    /// agents.
    #[param(max_length = 200)]
    pub action: Option<String>,
    /// What was changed, such as `agt_12`.
    #[param(max_length = 200)]
    pub subject: Option<String>,
    /// Only entries from this time on (RFC 3339).
    #[param(format = "date-time")]
    pub from: Option<String>,
    /// Only entries before this time (RFC 3339).
    #[param(format = "date-time")]
    pub until: Option<String>,
    /// `true`: with counts.
    pub counts: Option<bool>,
}

/// A page of the audit log.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditLog {
    /// The entries, the newest first.
    pub items: Vec<AuditEntry>,
    /// Give it as `cursor` to get the next page; null on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
    /// Counts of the entries that fit; null unless the request asks for them.
    #[schema(required = true)]
    pub counts: Option<AuditCounts>,
}

/// How many entries fit a filter, of the newest 10,000 of them.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditCounts {
    /// All that fit.
    pub total: BoundedCount,
    /// Entries by action, most first.
    pub actions: Vec<AuditActionCount>,
}

/// Entries of one action.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditActionCount {
    /// What was done, as noun and verb.
    #[schema(example = "agent.approve")]
    pub action: String,
    /// Number of entries.
    pub entries: u64,
}

/// An entry of the audit log: one change.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct AuditEntry {
    /// Number of the entry; rises with time.
    pub id: u64,
    /// Time of the change.
    pub at: Timestamp,
    /// Name of the person, or `coordinator`.
    pub actor: String,
    /// What was done, as noun and verb.
    #[schema(example = "agent.approve")]
    pub action: String,
    /// What was changed.
    #[schema(example = "agt_12")]
    pub subject: String,
    /// Before and after, where it matters; its fields depend on the action.
    #[schema(value_type = Object)]
    pub detail: Value,
}

impl From<audit::AuditEntry> for AuditEntry {
    fn from(entry: audit::AuditEntry) -> Self {
        Self {
            id: entry.id.unsigned_abs(),
            at: entry.at.into(),
            actor: entry.actor,
            action: entry.action,
            subject: entry.subject,
            detail: entry.detail,
        }
    }
}
