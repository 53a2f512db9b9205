//! Probe orders and their answers: one step of a search, a home measured, or an address
//! checked.

mod counts;
mod ended;
mod report;

use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, Phase, ProbeId, ProbeMethod, SearchId, UnixMillis};
use protocol::ProbeOrder;

pub use counts::{ProbeCount, count_since};
pub use ended::{expire, withdraw};
pub use report::{AnsweredOrder, NewReports, answers_at, report};

use crate::columns::{bigint, int};
use crate::commit::commit;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// A step of a search, to be ordered.
#[derive(Debug, Clone, PartialEq)]
pub struct NewProbe {
    /// The search that asks.
    pub search: SearchId,
    /// Position in the search, from 1.
    pub step: u32,
    /// Who is asked.
    pub agent: AgentId,
    /// Why it is a candidate.
    pub phase: Phase,
    /// Inside of which subnet it was found.
    pub level: Range,
    /// What is expected of it; none where nothing is predicted.
    pub expected: Option<ExpectedAnswer>,
}

/// What a predictive search expects of an agent when it asks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExpectedAnswer {
    /// The round trip, in microseconds.
    pub rtt_us: u32,
    /// Its standard deviation, in microseconds.
    pub deviation_us: u32,
    /// Probability that the agent is the nearest of all, or nearer than the best so far; 0 to 1.
    pub chance: f32,
}

/// Orders probes for searches. An order for the same search and step, or the same search and agent,
/// is kept. Returns how many are new.
pub async fn ask(store: &Store, probes: &[NewProbe], now: UnixMillis) -> Result<u64, StoreError> {
    let expected = |value: fn(ExpectedAnswer) -> u32| {
        probes.iter().map(|p| p.expected.map(|e| int(value(e)))).collect::<Vec<_>>()
    };
    let doing = StoreError::doing("order probes");
    let mut tx = store.begin().await.map_err(doing)?;
    let asked = sqlx::query(include_str!("ask.sql"))
        .bind(probes.iter().map(|p| p.search.get()).collect::<Vec<_>>())
        .bind(probes.iter().map(|p| int(p.step)).collect::<Vec<_>>())
        .bind(probes.iter().map(|p| p.agent.get()).collect::<Vec<_>>())
        .bind(probes.iter().map(|p| p.phase.as_str()).collect::<Vec<_>>())
        .bind(probes.iter().map(|p| p.level.first()).collect::<Vec<_>>())
        .bind(probes.iter().map(|p| p.level.last()).collect::<Vec<_>>())
        .bind(expected(|expected| expected.rtt_us))
        .bind(expected(|expected| expected.deviation_us))
        .bind(probes.iter().map(|p| p.expected.map(|expected| expected.chance)).collect::<Vec<_>>())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    commit(tx).await.map_err(doing)?;
    Ok(asked.rows_affected())
}

/// Where a probe goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    pub address: IpAddr,
    /// Authority of a web host there, for HEAD.
    pub host: String,
    /// Port of that host.
    pub port: u16,
}

/// Unanswered orders of an agent, except those that it has `taken`; `samples` round trips each (1
/// to 10). Orders of searches come first, since URLs wait for them; homes come last.
pub async fn orders(
    store: &Store,
    agent: AgentId,
    taken: &[ProbeId],
    samples: u8,
    limit: usize,
) -> Result<Vec<ProbeOrder>, StoreError> {
    let rows: Vec<(i64, IpAddr, i32, String)> = sqlx::query_as(
        "SELECT p.id, coalesce(p.target, s.target), coalesce(p.target_port, s.target_port),
                coalesce(p.target_host, s.target_host)
         FROM probes p LEFT JOIN searches s ON s.id = p.search
         WHERE p.agent = $1 AND p.state = 'asked' AND p.id <> ALL($2)
         ORDER BY array_position(ARRAY['search', 'check', 'path', 'home'], p.purpose), p.id
         LIMIT $3",
    )
    .bind(agent.get())
    .bind(taken.iter().map(|probe| probe.get()).collect::<Vec<_>>())
    .bind(bigint(limit))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read an agent's probe orders"))?;
    let order = |(id, address, port, host): (i64, IpAddr, i32, String)| ProbeOrder {
        probe: ProbeId::new(id),
        address,
        port: u16::try_from(port).unwrap_or(80),
        host,
        methods: vec![ProbeMethod::Icmp, ProbeMethod::Tcp, ProbeMethod::Head],
        samples: samples.clamp(1, 10),
    };
    Ok(rows.into_iter().map(order).collect())
}
