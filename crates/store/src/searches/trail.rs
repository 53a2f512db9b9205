//! A search with every probe of it, for the explanation of a delegation.

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, Phase, ProbeId, ProbeMethod, ProbeState, SearchId, Strategy, UnixMillis};
use sqlx::FromRow;

use crate::columns::{range, read_word};
use crate::moment::Moment;
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

#[derive(FromRow)]
struct SearchRow {
    target: IpAddr,
    target_host: String,
    strategy: String,
    threshold_us: i32,
    open: bool,
    opened_at: Moment,
    decided_at: Option<Moment>,
    finding: Option<String>,
    finding_detail: Option<String>,
}

#[derive(FromRow)]
struct ProbeRow {
    id: i64,
    step: i32,
    agent: i64,
    agent_name: String,
    phase: String,
    level_first: IpAddr,
    level_last: IpAddr,
    expected_us: Option<i32>,
    deviation_us: Option<i32>,
    chance: Option<f32>,
    state: String,
    method: Option<String>,
    rtt_us: Option<i32>,
    samples: Option<i16>,
    reason: Option<String>,
    asked_at: Moment,
    answered_at: Option<Moment>,
}

/// A search with every probe of it, in order.
pub async fn trail(store: &Store, search: SearchId) -> Result<Option<SearchTrail>, StoreError> {
    let row: Option<SearchRow> = sqlx::query_as(include_str!("trail.sql"))
        .bind(search.get())
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("read a search"))?;
    let Some(row) = row else { return Ok(None) };
    Ok(Some(SearchTrail {
        id: search,
        target: row.target,
        host: row.target_host,
        strategy: read_word("searches", "strategy", search, &row.strategy)?,
        threshold_us: row.threshold_us.unsigned_abs(),
        open: row.open,
        opened_at: row.opened_at.0,
        decided_at: row.decided_at.map(|at| at.0),
        finding: row.finding.zip(row.finding_detail),
        probes: probes(store, search).await?,
    }))
}

async fn probes(store: &Store, search: SearchId) -> Result<Vec<TrailProbe>, StoreError> {
    let rows: Vec<ProbeRow> = sqlx::query_as(include_str!("trail_probes.sql"))
        .bind(search.get())
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read the probes of a search"))?;
    rows.into_iter().map(ProbeRow::read).collect()
}

impl ProbeRow {
    fn expected(&self) -> Option<ExpectedAnswer> {
        Some(ExpectedAnswer {
            rtt_us: self.expected_us?.unsigned_abs(),
            deviation_us: self.deviation_us?.unsigned_abs(),
            chance: self.chance?,
        })
    }

    fn read(self) -> Result<TrailProbe, StoreError> {
        let expected = self.expected();
        let method = self.method.as_deref();
        let method = method.map(|word| read_word("probes", "method", self.id, word)).transpose()?;
        Ok(TrailProbe {
            id: ProbeId::new(self.id),
            step: self.step.unsigned_abs(),
            agent: AgentId::new(self.agent),
            agent_name: self.agent_name,
            phase: read_word("probes", "phase", self.id, &self.phase)?,
            level: range(self.level_first, self.level_last)?,
            expected,
            state: read_word("probes", "state", self.id, &self.state)?,
            method,
            rtt_us: self.rtt_us.map(i32::unsigned_abs),
            samples: self.samples.map(i16::unsigned_abs),
            reason: self.reason,
            asked_at: self.asked_at.0,
            answered_at: self.answered_at.map(|at| at.0),
        })
    }
}
