//! What agents answer to orders.

use model::{AgentId, ProbeState, UnixMillis};
use protocol::{ProbeReport, ProbeResult};
use sqlx::FromRow;

use crate::line::one_line;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// How many reports were news, by the purpose of their orders.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, FromRow)]
pub struct News {
    /// Steps of searches.
    pub search: i64,
    /// Measurements of landmarks.
    pub landmark: i64,
    /// Checks of single addresses.
    pub check: i64,
}

/// Takes an agent's reports down. Orders of other agents, unknown ones and answered ones are left
/// as they are, so that a report may be repeated; one that comes late counts while its search goes
/// on, and always where there is no search. In the same statement the times of landmarks are
/// renewed, and an address that answered is silent no more.
pub async fn report(
    store: &Store,
    agent: AgentId,
    reports: &[ProbeReport],
    now: UnixMillis,
) -> Result<News, StoreError> {
    let answers: Vec<Answer> = reports.iter().map(|report| Answer::of(&report.result)).collect();
    sqlx::query_as(REPORT)
        .bind(agent.get())
        .bind(reports.iter().map(|report| report.probe.get()).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.state.as_str()).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.method).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.rtt_us).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.samples).collect::<Vec<_>>())
        .bind(answers.iter().map(|answer| answer.reason.as_deref()).collect::<Vec<_>>())
        .bind(Moment(now))
        .fetch_one(store.pool())
        .await
        .map_err(StoreError::doing("take probe reports down"))
}

const REPORT: &str = "
    WITH news AS (
        UPDATE probes p SET state = r.state, method = r.method, rtt_us = r.rtt_us, samples = r.samples,
                            reason = r.reason, answered_at = $8
        FROM unnest($2::bigint[], $3::text[], $4::text[], $5::int[], $6::smallint[], $7::text[])
             AS r (id, state, method, rtt_us, samples, reason)
        WHERE p.id = r.id AND p.agent = $1
          AND (p.state = 'asked' OR p.state = 'expired' AND (p.search IS NULL OR EXISTS
               (SELECT FROM searches s WHERE s.id = p.search AND s.state = 'open')))
        RETURNING p.id, p.purpose, p.landmark, p.search, p.target, p.state, p.rtt_us
    ), times AS (
        INSERT INTO landmark_times AS t (landmark, agent, home, outcome, rtt_us, measured_at)
        SELECT DISTINCT ON (n.landmark) n.landmark, a.id, a.home, n.state, n.rtt_us, $8
        FROM news n JOIN agents a ON a.id = $1
        WHERE n.purpose = 'landmark' ORDER BY n.landmark, n.id DESC
        ON CONFLICT (landmark, agent) DO UPDATE
        SET outcome = excluded.outcome, rtt_us = excluded.rtt_us, home = excluded.home,
            measured_at = excluded.measured_at,
            before_us = CASE WHEN t.home = excluded.home THEN coalesce(t.rtt_us, t.before_us) END
    ), heard AS (
        DELETE FROM silent_addresses WHERE address IN (
            SELECT coalesce(n.target, s.target) FROM news n LEFT JOIN searches s ON s.id = n.search
            WHERE n.state = 'measured')
    )
    SELECT count(*) FILTER (WHERE purpose = 'search') AS search,
           count(*) FILTER (WHERE purpose = 'landmark') AS landmark,
           count(*) FILTER (WHERE purpose = 'check') AS check
    FROM news";

/// A report as the row has it.
struct Answer {
    state: ProbeState,
    method: Option<&'static str>,
    rtt_us: Option<i32>,
    samples: Option<i16>,
    reason: Option<String>,
}

impl Answer {
    fn of(result: &ProbeResult) -> Self {
        match result {
            ProbeResult::Measured { method, rtt_us, samples } => Self {
                state: ProbeState::Measured,
                method: Some(method.as_str()),
                rtt_us: Some(i32::try_from(*rtt_us).unwrap_or(i32::MAX).max(1)),
                samples: Some(i16::from(*samples)),
                reason: None,
            },
            ProbeResult::Unreachable { reason } => {
                Self::without_time(ProbeState::Unreachable, reason)
            }
            ProbeResult::Refused { reason } => Self::without_time(ProbeState::Refused, reason),
        }
    }

    fn without_time(state: ProbeState, reason: &str) -> Self {
        Self { state, method: None, rtt_us: None, samples: None, reason: Some(one_line(reason)) }
    }
}
