//! A search with every probe of it, for the explanation of a delegation.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, Phase, ProbeId, ProbeMethod, ProbeState, SearchId, Strategy, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, Row as _};

use crate::columns::{ReadColumn as _, range, read_word};
use crate::probes::ExpectedAnswer;
use crate::{Store, StoreError};

#[derive(Debug, Clone, PartialEq)]
pub struct SearchTrail {
    /// Primary key of the row.
    pub id: SearchId,
    /// The address that was probed.
    pub target: IpAddr,
    /// Authority of the web host at the target.
    pub host: String,
    /// How it chooses the next agent to ask.
    pub strategy: Strategy,
    /// Threshold when it was opened, in microseconds.
    pub threshold_us: u32,
    /// Whether it still goes on.
    pub open: bool,
    /// When it was opened.
    pub opened_at: UnixMillis,
    /// When it ended; none while it goes on.
    pub decided_at: Option<UnixMillis>,
    /// A word of `searches.finding` and its sentence; none when there was nothing odd.
    pub finding: Option<(String, String)>,
    /// Every probe, in order.
    pub probes: Vec<TrailProbe>,
}

/// One probe of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct TrailProbe {
    /// Primary key of the row.
    pub id: ProbeId,
    /// Position in the search, from 1.
    pub step: u32,
    /// Who was asked.
    pub agent: AgentId,
    /// That agent's name.
    pub agent_name: String,
    /// Why it was a candidate.
    pub phase: Phase,
    /// Inside of which subnet it was found; the subnet itself in phase company.
    pub level: Range,
    /// What was expected of the agent when it was asked; none where nothing was predicted.
    pub expected: Option<ExpectedAnswer>,
    /// Outcome of the probe.
    pub state: ProbeState,
    /// How it was measured.
    pub method: Option<ProbeMethod>,
    /// The round trip, in microseconds.
    pub rtt_us: Option<u32>,
    /// Samples that came back.
    pub samples: Option<u16>,
    /// Why there is no time.
    pub reason: Option<String>,
    /// When it was asked.
    pub asked_at: UnixMillis,
    /// When it was answered or given up.
    pub answered_at: Option<UnixMillis>,
}

/// The probes are read by a statement of their own.
impl FromRow<'_, PgRow> for SearchTrail {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        Ok(Self {
            id: SearchId::new(id),
            target: row.try_get("target")?,
            host: row.try_get("target_host")?,
            strategy: read_word("searches", "strategy", id, row.try_get("strategy")?)?,
            threshold_us: row.read("threshold_us")?,
            open: row.try_get("open")?,
            opened_at: row.read("opened_at")?,
            decided_at: row.read("decided_at")?,
            finding: row.try_get::<Option<_>, _>("finding")?.zip(row.try_get("finding_detail")?),
            probes: Vec::new(),
        })
    }
}

impl FromRow<'_, PgRow> for TrailProbe {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let id: i64 = row.try_get("id")?;
        let method = row.try_get::<Option<_>, _>("method")?;
        let expected = row.read::<Option<_>>("expected_us")?;
        let expected = expected.zip(row.read("deviation_us")?).zip(row.try_get("chance")?);
        Ok(Self {
            id: ProbeId::new(id),
            step: row.read("step")?,
            agent: row.read("agent")?,
            agent_name: row.try_get("agent_name")?,
            phase: read_word("probes", "phase", id, row.try_get("phase")?)?,
            level: range(row.try_get("level_first")?, row.try_get("level_last")?)?,
            expected: expected.map(|((rtt_us, deviation_us), chance)| ExpectedAnswer {
                rtt_us,
                deviation_us,
                chance,
            }),
            state: read_word("probes", "state", id, row.try_get("state")?)?,
            method: method.map(|word| read_word("probes", "method", id, word)).transpose()?,
            rtt_us: row.read("rtt_us")?,
            samples: row.read("samples")?,
            reason: row.try_get("reason")?,
            asked_at: row.read("asked_at")?,
            answered_at: row.read("answered_at")?,
        })
    }
}

/// A search with every probe of it, in order.
pub async fn trail(store: &Store, search: SearchId) -> Result<Option<SearchTrail>, StoreError> {
    let mut found: Option<SearchTrail> = sqlx::query_as(include_str!("trail.sql"))
        .bind(search.get())
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("read a search"))?;
    if let Some(trail) = &mut found {
        trail.probes = probes(store, search).await?;
    }
    Ok(found)
}

async fn probes(store: &Store, search: SearchId) -> Result<Vec<TrailProbe>, StoreError> {
    sqlx::query_as(include_str!("trail_probes.sql"))
        .bind(search.get())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the probes of a search"))
}
