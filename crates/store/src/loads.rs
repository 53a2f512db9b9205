//! Loads of subnets and agents in pages a day, and the last probes of subnets.
//!
//! Every fetch counts as a page, whatever its outcome: it costs the agent the same.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, Phase, ProbeState, UnixMillis};
use sqlx::PgConnection;

use crate::columns::{range, read_word};
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Days whose fetches make up a load: long enough to have every weekday, short enough to follow.
const DAYS: i32 = 7;

/// Counts the fetches of a package under the day of its ingestion.
pub(crate) async fn count(
    db: &mut PgConnection,
    hosts: &[HostTally],
    now: UnixMillis,
) -> Result<(), StoreError> {
    let fetches = |host: &HostTally| i64::try_from(host.fetches).unwrap_or(i64::MAX);
    sqlx::query(
        "INSERT INTO host_days (host, day, fetches)
         SELECT h.id, ($4 AT TIME ZONE 'UTC')::date, t.fetches
         FROM unnest($1::text[], $2::text[], $3::bigint[]) AS t (scheme, authority, fetches)
         JOIN hosts h ON h.scheme = t.scheme AND h.authority = t.authority
         WHERE t.fetches > 0
         ON CONFLICT (host, day) DO UPDATE SET fetches = host_days.fetches + excluded.fetches",
    )
    .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
    .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
    .bind(hosts.iter().map(fetches).collect::<Vec<_>>())
    .bind(Moment(now))
    .execute(db)
    .await
    .map_err(StoreError::doing("count the fetches of a day"))?;
    Ok(())
}

/// Deletes the counts of days that no load includes any more. Returns their number.
pub async fn forget(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let gone = sqlx::query("DELETE FROM host_days WHERE day <= ($1 AT TIME ZONE 'UTC')::date - $2")
        .bind(Moment(now))
        .bind(DAYS)
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("forget the fetches of old days"))?;
    Ok(gone.rows_affected())
}

/// Pages a day of each subnet that has any: the mean of the last seven days, or of as many as it is
/// known.
pub async fn subnets(store: &Store, now: UnixMillis) -> Result<HashMap<Range, u64>, StoreError> {
    let rows: Vec<(IpAddr, IpAddr, i64, i32)> = sqlx::query_as(include_str!("loads/subnets.sql"))
        .bind(Moment(now))
        .bind(DAYS)
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("measure the load of subnets"))?;
    rows.into_iter()
        .map(|(first, last, fetches, days)| {
            let days = u64::from(days.max(1).unsigned_abs());
            Ok((range(first, last)?, fetches.unsigned_abs().div_ceil(days)))
        })
        .collect()
}

/// Capacity and recent work of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    /// The agent that it is about.
    pub agent: AgentId,
    /// Name given by its owner.
    pub name: String,
    /// Whether it may be given subnets: approved, neither paused nor revoked.
    pub approved: bool,
    /// Pages a day that its owner offers.
    pub offered: u64,
    /// Fetches in the packages of the last 24 hours.
    pub fetched: u64,
    /// When its first package was ingested.
    pub since: Option<UnixMillis>,
    /// URLs that it knew and had not fetched at its last heartbeat.
    pub queued: u64,
}

type WorkRow = (i64, String, bool, i32, i64, Option<Moment>, i64);

/// All agents that were not revoked.
pub async fn agents(store: &Store, now: UnixMillis) -> Result<Vec<Work>, StoreError> {
    let rows: Vec<WorkRow> = sqlx::query_as(include_str!("loads/agents.sql"))
        .bind(Moment(now.plus_ms(-24 * 3_600_000)))
        .fetch_all(store.pool())
        .await
        .map_err(StoreError::doing("measure the work of agents"))?;
    let work = |(id, name, approved, offered, fetched, since, queued): WorkRow| Work {
        agent: AgentId::new(id),
        name,
        approved,
        offered: u64::from(offered.unsigned_abs()),
        fetched: fetched.unsigned_abs(),
        since: since.map(|at| at.0),
        queued: queued.unsigned_abs(),
    };
    Ok(rows.into_iter().map(work).collect())
}

/// The last answer of an agent about a subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The subnet that it is about.
    pub subnet: Range,
    /// Who was asked.
    pub agent: AgentId,
    /// Why it was asked.
    pub phase: Phase,
    /// What came of it.
    pub state: ProbeState,
    /// The round trip in microseconds; none unless the state is measured.
    pub rtt_us: Option<u32>,
}

type AnswerRow = (IpAddr, IpAddr, i64, i64, String, String, Option<i32>);

/// The last answers of agents about these subnets in searches; unanswered orders count only where
/// there is no answer.
pub async fn answers(store: &Store, subnets: &[Range]) -> Result<Vec<Answer>, StoreError> {
    let rows: Vec<AnswerRow> = sqlx::query_as(
        "SELECT DISTINCT ON (s.first, s.last, p.agent) s.first, s.last, p.id, p.agent, p.phase,
                p.state, p.rtt_us
         FROM unnest($1::inet[], $2::inet[]) AS w (first, last)
         JOIN searches s ON s.first = w.first AND s.last = w.last
         JOIN probes p ON p.search = s.id
         ORDER BY s.first, s.last, p.agent, p.state = 'asked', p.answered_at DESC",
    )
    .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
    .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
    .fetch_all(store.pool())
    .await
    .map_err(StoreError::doing("read what was measured of subnets"))?;
    rows.into_iter()
        .map(|(first, last, probe, agent, phase, state, rtt_us)| {
            Ok(Answer {
                subnet: range(first, last)?,
                agent: AgentId::new(agent),
                phase: read_word("probes", "phase", probe, &phase)?,
                state: read_word("probes", "state", probe, &state)?,
                rtt_us: rtt_us.map(i32::unsigned_abs),
            })
        })
        .collect()
}

/// Orders one more probe of a subnet at the end of its last search, before a move to an agent that
/// was only predicted to be near. An agent that was asked in that search is not asked again.
/// Returns whether there is a new order.
pub async fn confirm(
    store: &Store,
    subnet: &Range,
    agent: AgentId,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let asked = sqlx::query(include_str!("loads/confirm.sql"))
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(agent.get())
        .bind(Moment(now))
        .execute(store.pool())
        .await
        .map_err(StoreError::doing("order a probe before a move"))?;
    Ok(asked.rows_affected() == 1)
}
