//! Probe orders and their answers.

use std::net::IpAddr;

use hierarchy::Range;
use protocol::{AgentId, ProbeId, ProbeMethod, ProbeOrder, ProbeReport, ProbeResult, SearchId, UnixMillis};

use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// An order to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProbe<'a> {
    /// The search that asks.
    pub search: SearchId,
    /// Position in the search, from 1.
    pub step: u32,
    /// Who is asked.
    pub agent: AgentId,
    /// Why it is a candidate, as `probes.phase` has it.
    pub phase: &'a str,
    /// Inside of which subnet it was found.
    pub level: Range,
}

/// Makes orders. One that exists (same search and step, or same search and agent) is left as it is.
pub async fn ask(store: &Store, probes: &[NewProbe<'_>], now: UnixMillis) -> Result<u64, StoreError> {
    let asked = sqlx::query(
        "INSERT INTO probes (search, step, agent, phase, level_first, level_last, asked_at)
         SELECT search, step, agent, phase, first, last, $7
         FROM unnest($1::bigint[], $2::int[], $3::bigint[], $4::text[], $5::inet[], $6::inet[])
              AS p (search, step, agent, phase, first, last)
         ON CONFLICT DO NOTHING",
    )
    .bind(probes.iter().map(|p| p.search.get()).collect::<Vec<_>>())
    .bind(probes.iter().map(|p| i32::try_from(p.step).unwrap_or(i32::MAX)).collect::<Vec<_>>())
    .bind(probes.iter().map(|p| p.agent.get()).collect::<Vec<_>>())
    .bind(probes.iter().map(|p| p.phase).collect::<Vec<_>>())
    .bind(probes.iter().map(|p| p.level.first()).collect::<Vec<_>>())
    .bind(probes.iter().map(|p| p.level.last()).collect::<Vec<_>>())
    .bind(Moment(now))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("order probes"))?;
    Ok(asked.rows_affected())
}

/// The orders an agent has not answered, but for those it says it has taken.
pub async fn orders(
    store: &Store,
    agent: AgentId,
    taken: &[ProbeId],
    limit: usize,
) -> Result<Vec<ProbeOrder>, StoreError> {
    let rows: Vec<(i64, IpAddr, i32, String)> = sqlx::query_as(
        "SELECT p.id, s.target, s.target_port, s.target_host
         FROM probes p JOIN searches s ON s.id = p.search
         WHERE p.agent = $1 AND p.state = 'asked' AND p.id <> ALL($2)
         ORDER BY p.id LIMIT $3",
    )
    .bind(agent.get())
    .bind(taken.iter().map(|probe| probe.get()).collect::<Vec<_>>())
    .bind(i64::try_from(limit).unwrap_or(i64::MAX))
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read an agent's probe orders"))?;
    Ok(rows.into_iter().map(order).collect())
}

fn order((id, address, port, host): (i64, IpAddr, i32, String)) -> ProbeOrder {
    ProbeOrder {
        probe: ProbeId::new(id),
        address,
        port: u16::try_from(port).unwrap_or(80),
        host,
        methods: vec![ProbeMethod::Icmp, ProbeMethod::Tcp, ProbeMethod::Head],
        samples: 3,
    }
}

/// Takes an agent's reports down. Orders of other agents, unknown ones and answered ones are left as they are,
/// so that a report may be repeated; one that comes late counts while the search goes on. Says how many were
/// news.
pub async fn report(
    store: &Store,
    agent: AgentId,
    reports: &[ProbeReport],
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let answers: Vec<Answer> = reports.iter().map(|report| Answer::of(&report.result)).collect();
    let news = sqlx::query(
        "UPDATE probes p SET state = r.state, method = r.method, rtt_us = r.rtt_us, samples = r.samples,
                             reason = r.reason, answered_at = $8
         FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::smallint[], $7::text[])
              AS r (id, state, method, rtt_us, samples, reason)
         WHERE p.id = r.id AND p.agent = $1
           AND (p.state = 'asked' OR p.state = 'expired' AND EXISTS
                (SELECT FROM searches s WHERE s.id = p.search AND s.state = 'open'))",
    )
    .bind(agent.get())
    .bind(reports.iter().map(|report| report.probe.get()).collect::<Vec<_>>())
    .bind(answers.iter().map(|answer| answer.state).collect::<Vec<_>>())
    .bind(answers.iter().map(|answer| answer.method).collect::<Vec<_>>())
    .bind(answers.iter().map(|answer| answer.rtt_us).collect::<Vec<_>>())
    .bind(answers.iter().map(|answer| answer.samples).collect::<Vec<_>>())
    .bind(answers.iter().map(|answer| answer.reason.as_deref()).collect::<Vec<_>>())
    .bind(Moment(now))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("take probe reports down"))?;
    Ok(news.rows_affected())
}

/// A report as the row has it.
struct Answer {
    state: &'static str,
    method: Option<&'static str>,
    rtt_us: Option<i32>,
    samples: Option<i16>,
    reason: Option<String>,
}

impl Answer {
    fn of(result: &ProbeResult) -> Self {
        match result {
            ProbeResult::Measured { method, rtt_us, samples } => Self {
                state: "measured",
                method: Some(method.as_str()),
                rtt_us: Some(i32::try_from(*rtt_us).unwrap_or(i32::MAX).max(1)),
                samples: Some(i16::from(*samples)),
                reason: None,
            },
            ProbeResult::Unreachable { reason } => Self::without_time("unreachable", reason),
            ProbeResult::Refused { reason } => Self::without_time("refused", reason),
        }
    }

    fn without_time(state: &'static str, reason: &str) -> Self {
        Self { state, method: None, rtt_us: None, samples: None, reason: Some(one_line(reason)) }
    }
}

/// Takes orders back from agents that sleep or are paused; they may be asked again another time. Says how many.
pub async fn withdraw(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let withdrawn = sqlx::query(
        "DELETE FROM probes p USING agents a
         WHERE p.agent = a.id AND p.state = 'asked' AND (a.state = 'paused' OR a.asleep_until > $1)",
    )
    .bind(Moment(now))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("take probe orders back"))?;
    Ok(withdrawn.rows_affected())
}

/// Ends the patience with orders made until `asked_before`, and with those of agents not heard of since
/// `heard_since`. Says how many.
pub async fn expire(
    store: &Store,
    asked_before: UnixMillis,
    heard_since: UnixMillis,
    now: UnixMillis,
) -> Result<u64, StoreError> {
    let expired = sqlx::query(
        "UPDATE probes p SET state = 'expired', answered_at = $3,
                reason = CASE WHEN a.last_beat_at < $2 THEN 'the agent was not heard of' ELSE 'no answer in time' END
         FROM agents a
         WHERE p.agent = a.id AND p.state = 'asked' AND (p.asked_at <= $1 OR a.last_beat_at < $2)",
    )
    .bind(Moment(asked_before))
    .bind(Moment(heard_since))
    .bind(Moment(now))
    .execute(store.pool())
    .await
    .map_err(StoreError::doing("expire probe orders"))?;
    Ok(expired.rows_affected())
}
