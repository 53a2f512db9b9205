//! How far the reports of agents can be believed.

use std::net::IpAddr;

use model::{AgentId, UnixMillis};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sqlx::postgres::PgRow;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::agents;
use crate::columns::ReadColumn as _;
use crate::commit::commit;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// What is stored of one agent.
#[derive(Debug, Clone, PartialEq)]
pub struct AgentTrust {
    pub agent: AgentId,
    /// The sequential tests on its reports; null when an admin has reset them.
    pub tests: Value,
    /// Its newest contradicted reports, the newest last.
    pub evidence: Vec<Contradiction>,
    /// When the coordinator paused it because of its reports, and why.
    pub paused: Option<(UnixMillis, String)>,
}

/// A report that others contradict.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The address that was measured; none where the report is implausible by itself.
    pub target: Option<IpAddr>,
    /// Round trip that was reported, in microseconds.
    pub reported_us: u32,
    /// Least plausible round trip, in microseconds.
    pub least_us: u32,
    /// The agent whose measurement shows it, and that measurement in microseconds.
    pub witness: Option<(AgentId, u32)>,
    /// Round trip between the two agents that the bound is based on, in microseconds.
    pub apart_us: Option<u32>,
    /// When it was judged.
    pub judged_at: UnixMillis,
}

/// Contradicted reports that are kept of an agent.
const MOST_EVIDENCE: usize = 20;

impl FromRow<'_, PgRow> for AgentTrust {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        Ok(Self {
            agent: row.read("agent")?,
            tests: row.try_get::<Json<_>, _>("tests")?.0,
            evidence: row.try_get::<Json<_>, _>("evidence")?.0,
            paused: row.read::<Option<_>>("paused_at")?.zip(row.try_get("finding")?),
        })
    }
}

/// Reads the tests on the reports of all agents, without the evidence.
pub async fn tests(store: &Store) -> Result<Vec<(AgentId, Value)>, StoreError> {
    let rows: Vec<(i64, Json<Value>)> = sqlx::query_as("SELECT agent, tests FROM agent_trust")
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the tests on the reports of agents"))?;
    Ok(rows.into_iter().map(|(agent, tests)| (AgentId::new(agent), tests.0)).collect())
}

/// Reads the trust in these agents; agents without judged reports are left out.
pub async fn find(store: &Store, agents: &[AgentId]) -> Result<Vec<AgentTrust>, StoreError> {
    sqlx::query_as("SELECT * FROM agent_trust WHERE agent = ANY($1)")
        .bind(agents.iter().map(|agent| agent.get()).collect::<Vec<_>>())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the trust in agents"))
}

/// The agents that are paused because of their reports.
pub async fn paused_agents(store: &Store) -> Result<Vec<AgentId>, StoreError> {
    let agents: Vec<i64> = sqlx::query_scalar(
        "SELECT a.id FROM agents a JOIN agent_trust t ON t.agent = a.id
         WHERE a.state = 'paused' AND t.paused_at IS NOT NULL ORDER BY a.id",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the agents that are paused because of their reports"))?;
    Ok(agents.into_iter().map(AgentId::new).collect())
}

/// Counts judged reports of an agent. `update` computes the new tests from the stored ones, which
/// no other transaction changes meanwhile; `contradictions` are added to the evidence.
pub async fn record<E: From<StoreError>>(
    store: &Store,
    agent: AgentId,
    contradictions: &[Contradiction],
    update: impl FnOnce(Option<Value>) -> Result<Value, E>,
) -> Result<(), E> {
    let doing = StoreError::doing("store judgements of reports");
    let mut tx = store.begin().await.map_err(doing)?;
    let Some(known) = lock(&mut tx, agent).await? else { return Ok(()) };
    let mut evidence = known.evidence;
    evidence.extend_from_slice(contradictions);
    evidence.drain(..evidence.len().saturating_sub(MOST_EVIDENCE));
    let tests = update(known.tests)?;
    sqlx::query(include_str!("trust/record.sql"))
        .bind(agent.get())
        .bind(Json(tests))
        .bind(Json(evidence))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    commit(tx).await.map_err(doing)?;
    Ok(())
}

/// What is known of an agent before new reports count.
#[derive(Default)]
struct KnownTrust {
    tests: Option<Value>,
    evidence: Vec<Contradiction>,
}

/// Locks the agent until the transaction ends. `None` when there is no such agent.
async fn lock(db: &mut PgConnection, agent: AgentId) -> Result<Option<KnownTrust>, StoreError> {
    let doing = StoreError::doing("lock the trust in an agent");
    // The row of the agent is the lock, because the first judgement has no row of its own.
    if agents::lock(db, agent).await?.is_none() {
        return Ok(None);
    }
    let found: Option<AgentTrust> = sqlx::query_as("SELECT * FROM agent_trust WHERE agent = $1")
        .bind(agent.get())
        .fetch_optional(db)
        .await
        .map_err(doing)?;
    let known = found.map(|it| KnownTrust { tests: Some(it.tests), evidence: it.evidence });
    Ok(Some(known.unwrap_or_default()))
}

/// Pauses an approved agent because of its reports, with an entry in the audit log. Returns whether
/// it was approved.
pub async fn pause(
    store: &Store,
    agent: AgentId,
    (finding, evidence): (&str, &[Contradiction]),
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let paused = sqlx::query(include_str!("trust/pause.sql"))
        .bind(agent.get())
        .bind(agent.to_string())
        .bind(finding)
        .bind(Moment(now))
        .bind(Json(&evidence[evidence.len().saturating_sub(MOST_EVIDENCE)..]))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("pause an agent because of its reports"))?;
    Ok(paused.rows_affected() == 1)
}
