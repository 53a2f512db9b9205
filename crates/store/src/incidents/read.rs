//! Reads incidents for calibration, lists and pages.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DelegationId, IncidentState, ProbeId, SearchId};
use sqlx::FromRow;

use super::{CurrentDelegation, Incident, IncidentProbe, Moments, Outcome};
use crate::columns::{range, read_word};
use crate::moment::Moment;
use crate::probes::Target;
use crate::{Store, StoreError};

#[derive(FromRow)]
struct Row {
    id: i64,
    first: IpAddr,
    last: IpAddr,
    agent: i64,
    delegation: i64,
    original_us: Option<i32>,
    ratio: f64,
    path_ratio: Option<f64>,
    controls: i16,
    state: String,
    control_probe: Option<i64>,
    before_us: Option<i32>,
    probe: Option<i64>,
    probe_agent: Option<i64>,
    probe_state: Option<String>,
    probe_us: Option<i32>,
    search: Option<i64>,
    search_open: Option<bool>,
    next_agent: Option<i64>,
    failback: Option<serde_json::Value>,
    holds: Option<i64>,
    holds_agent: Option<i64>,
    holds_search: Option<i64>,
    holds_us: Option<i32>,
    target: Option<IpAddr>,
    target_host: Option<String>,
    target_port: Option<i32>,
}

/// Every open incident, oldest first.
pub async fn list_open(store: &Store) -> Result<Vec<Incident>, StoreError> {
    let rows: Vec<Row> = sqlx::query_as(include_str!("list_open.sql"))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the incidents"))?;
    rows.into_iter().map(Row::read).collect()
}

impl Row {
    fn read(self) -> Result<Incident, StoreError> {
        let state = read_word("incidents", "state", self.id, &self.state)?;
        Ok(Incident {
            id: self.id,
            subnet: range(self.first, self.last)?,
            agent: AgentId::new(self.agent),
            delegation: DelegationId::new(self.delegation),
            before_us: self.original_us.map(i32::unsigned_abs),
            ratio: self.ratio,
            path_ratio: self.path_ratio,
            controls: self.controls.unsigned_abs().into(),
            state,
            control_probe: self
                .control_probe
                .map(AgentId::new)
                .zip(self.before_us.map(i32::unsigned_abs)),
            probe: self.probe.zip(self.probe_agent).map(|(probe, agent)| IncidentProbe {
                probe: ProbeId::new(probe),
                agent: AgentId::new(agent),
                outcome: match (self.probe_state.as_deref(), self.probe_us) {
                    (Some("asked"), _) => Outcome::Pending,
                    (Some("measured"), Some(us)) => Outcome::Measured(us.unsigned_abs()),
                    (Some("expired"), _) => Outcome::Expired,
                    _ => Outcome::Failed,
                },
            }),
            search: self.search.map(SearchId::new).zip(self.search_open),
            next_agent: self.next_agent.map(AgentId::new),
            failback: self.failback,
            holds: self.holds.zip(self.holds_agent).map(|(delegation, agent)| CurrentDelegation {
                delegation: DelegationId::new(delegation),
                agent: AgentId::new(agent),
                search: self.holds_search.map(SearchId::new),
                rtt_us: self.holds_us.map(i32::unsigned_abs),
            }),
            target: self.target.zip(self.target_host).zip(self.target_port).map(
                |((address, host), port)| Target {
                    address,
                    host,
                    port: u16::try_from(port).unwrap_or(80),
                },
            ),
        })
    }
}

/// What agents measured in the search that led to a delegation, in microseconds. Times of agents
/// that moved since say nothing.
pub async fn measured(
    store: &Store,
    delegation: DelegationId,
) -> Result<Vec<(AgentId, u32)>, StoreError> {
    let rows: Vec<(i64, i32)> = sqlx::query_as(
        "SELECT p.agent, p.rtt_us FROM delegations d JOIN probes p ON p.search = d.search
         JOIN agents a ON a.id = p.agent
         WHERE d.id = $1 AND p.state = 'measured' AND p.rtt_us IS NOT NULL
           AND p.answered_at >= coalesce(a.home_since, '-infinity')
         ORDER BY p.rtt_us, p.id",
    )
    .bind(delegation.get())
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read what agents measured when a subnet was delegated"))?;
    Ok(rows.into_iter().map(|(agent, us)| (AgentId::new(agent), us.unsigned_abs())).collect())
}

/// An incident with the names of its agents, for lists and pages.
#[derive(Debug, Clone, PartialEq)]
pub struct IncidentSummary {
    /// Primary key of the row.
    pub id: i64,
    pub subnet: Range,
    /// Who reported slower pages, with its name.
    pub agent: (AgentId, String),
    /// Recent time over usual time, of the path or of the page reported last.
    pub ratio: f64,
    /// URL of that page; none when the path became slower.
    pub url: Option<String>,
    /// How far it has come.
    pub state: IncidentState,
    /// When it was opened, moved, returned and closed.
    pub moments: Moments,
    /// The control agent, with its name.
    pub control_probe: Option<(AgentId, String)>,
    /// What the control probe measured when all was well, in microseconds.
    pub before_us: Option<u32>,
    /// What it measured now, in microseconds.
    pub now_us: Option<u32>,
    /// Who got the subnet, with its name.
    pub next_agent: Option<(AgentId, String)>,
}

#[derive(FromRow)]
struct SummaryRow {
    id: i64,
    first: IpAddr,
    last: IpAddr,
    agent: i64,
    agent_name: String,
    ratio: f64,
    url: Option<String>,
    state: String,
    opened_at: Moment,
    moved_at: Option<Moment>,
    returned_at: Option<Moment>,
    ended_at: Option<Moment>,
    control_probe: Option<i64>,
    control_agent_name: Option<String>,
    before_us: Option<i32>,
    now_us: Option<i32>,
    next_agent: Option<i64>,
    next_agent_name: Option<String>,
}

/// Incidents with a number below `before`, the newest first.
pub async fn list(
    store: &Store,
    before: i64,
    limit: i64,
) -> Result<Vec<IncidentSummary>, StoreError> {
    let rows: Vec<SummaryRow> =
        sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("list.sql")))
            .bind(before)
            .bind(limit)
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list the incidents"))?;
    rows.into_iter().map(SummaryRow::read).collect()
}

/// The incident that opened a search, if one did; only the last search of each incident is known.
pub async fn of_search(
    store: &Store,
    search: SearchId,
) -> Result<Option<IncidentSummary>, StoreError> {
    let row: Option<SummaryRow> =
        sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("of_search.sql")))
            .bind(search.get())
            .fetch_optional(&store.pool())
            .await
            .map_err(StoreError::doing("look up the incident of a search"))?;
    row.map(SummaryRow::read).transpose()
}

impl SummaryRow {
    fn read(self) -> Result<IncidentSummary, StoreError> {
        let state = read_word("incidents", "state", self.id, &self.state)?;
        let named = |id: Option<i64>, name: Option<String>| id.map(AgentId::new).zip(name);
        Ok(IncidentSummary {
            id: self.id,
            subnet: range(self.first, self.last)?,
            agent: (AgentId::new(self.agent), self.agent_name),
            ratio: self.ratio,
            url: self.url,
            state,
            moments: Moments {
                opened: self.opened_at.0,
                moved: self.moved_at.map(|at| at.0),
                returned: self.returned_at.map(|at| at.0),
                ended: self.ended_at.map(|at| at.0),
            },
            control_probe: named(self.control_probe, self.control_agent_name),
            before_us: self.before_us.map(i32::unsigned_abs),
            now_us: self.now_us.map(i32::unsigned_abs),
            next_agent: named(self.next_agent, self.next_agent_name),
        })
    }
}
