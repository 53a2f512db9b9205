//! Reads incidents for calibration, lists and pages.

use hierarchy::Range;
use model::{AgentId, DelegationId, IncidentState, ProbeId, SearchId};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use super::{CurrentDelegation, Incident, IncidentProbe, Moments, Outcome};
use crate::columns::{ReadColumn as _, range, read_word};
use crate::probes::Target;
use crate::{Store, StoreError};

/// Every open incident, oldest first.
pub async fn list_open(store: &Store) -> Result<Vec<Incident>, StoreError> {
    sqlx::query_as(include_str!("list_open.sql"))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the incidents"))
}

impl FromRow<'_, PgRow> for Incident {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id,
            subnet: range(row.try_get("first")?, row.try_get("last")?)?,
            agent: row.read("agent")?,
            delegation: row.read("delegation")?,
            before_us: row.read("original_us")?,
            ratio: row.try_get("ratio")?,
            path_ratio: row.try_get("path_ratio")?,
            controls: row.read::<u16>("controls")?.into(),
            state: read_word("incidents", "state", id, row.try_get("state")?)?,
            control_probe: row.read::<Option<_>>("control_probe")?.zip(row.read("before_us")?),
            probe: read_probe(row)?,
            search: row.read::<Option<_>>("search")?.zip(row.try_get("search_open")?),
            next_agent: row.read("next_agent")?,
            failback: row.try_get("failback")?,
            holds: read_current(row)?,
            target: read_target(row)?,
        })
    }
}

fn read_probe(row: &PgRow) -> sqlx::Result<Option<IncidentProbe>> {
    let Some(probe) = row.try_get("probe")? else { return Ok(None) };
    Ok(Some(IncidentProbe {
        probe: ProbeId::new(probe),
        agent: row.read("probe_agent")?,
        outcome: match (row.try_get("probe_state")?, row.read("probe_us")?) {
            ("asked", _) => Outcome::Pending,
            ("measured", Some(us)) => Outcome::Measured(us),
            ("expired", _) => Outcome::Expired,
            _ => Outcome::Failed,
        },
    }))
}

fn read_current(row: &PgRow) -> sqlx::Result<Option<CurrentDelegation>> {
    let Some(delegation) = row.read("holds")? else { return Ok(None) };
    Ok(Some(CurrentDelegation {
        delegation,
        agent: row.read("holds_agent")?,
        search: row.read("holds_search")?,
        rtt_us: row.read("holds_us")?,
    }))
}

fn read_target(row: &PgRow) -> sqlx::Result<Option<Target>> {
    let Some(address) = row.try_get("target")? else { return Ok(None) };
    let port: i32 = row.try_get("target_port")?;
    Ok(Some(Target {
        address,
        host: row.try_get("target_host")?,
        port: u16::try_from(port).unwrap_or(80),
    }))
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

impl FromRow<'_, PgRow> for IncidentSummary {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        let control_probe = row.read::<Option<_>>("control_probe")?;
        let next_agent = row.read::<Option<_>>("next_agent")?;
        Ok(Self {
            id,
            subnet: range(row.try_get("first")?, row.try_get("last")?)?,
            agent: (row.read("agent")?, row.try_get("agent_name")?),
            ratio: row.try_get("ratio")?,
            url: row.try_get("url")?,
            state: read_word("incidents", "state", id, row.try_get("state")?)?,
            moments: Moments {
                opened: row.read("opened_at")?,
                moved: row.read("moved_at")?,
                returned: row.read("returned_at")?,
                ended: row.read("ended_at")?,
            },
            control_probe: control_probe.zip(row.try_get("control_agent_name")?),
            before_us: row.read("before_us")?,
            now_us: row.read("now_us")?,
            next_agent: next_agent.zip(row.try_get("next_agent_name")?),
        })
    }
}

/// Incidents with a number below `before`, the newest first.
pub async fn list(
    store: &Store,
    before: i64,
    limit: i64,
) -> Result<Vec<IncidentSummary>, StoreError> {
    sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("list.sql")))
        .bind(before)
        .bind(limit)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("list the incidents"))
}

/// The incident that opened a search, if one did; only the last search of each incident is known.
pub async fn of_search(
    store: &Store,
    search: SearchId,
) -> Result<Option<IncidentSummary>, StoreError> {
    sqlx::query_as(concat!(include_str!("summary_columns.sql"), include_str!("of_search.sql")))
        .bind(search.get())
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("look up the incident of a search"))
}
