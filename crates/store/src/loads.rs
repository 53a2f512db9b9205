//! Loads of subnets and agents in pages a day, and the last probes of subnets.
//!
//! Every fetch counts as a page regardless of its outcome, because it costs the agent the same.
//! Sums by host, subnet and agent are kept as packages are ingested. Where a subnet is delegated to
//! another agent, a trigger takes its sums along.

use std::collections::HashMap;
use std::net::IpAddr;

use hierarchy::Range;
use model::{AgentId, DAY_MS, HostId, Phase, ProbeState, UnixMillis};
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::columns::{ReadColumn as _, bigint, range, read_word};
use crate::host_tally::HostTally;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Days whose fetches make up a load: long enough to have every weekday, short enough to follow.
const DAYS: i32 = 7;
/// Days for which the sums are kept: those of a load, and the one that is not over.
pub(crate) const KEPT_DAYS: i32 = DAYS + 1;

/// Counts the fetches of a package of `agent` under the day and the hour in which it was
/// received.
pub(crate) async fn count(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
    received_at: UnixMillis,
) -> Result<(), StoreError> {
    let fetches = |host: &HostTally| bigint(host.fetches);
    sqlx::query(include_str!("loads/count.sql"))
        .bind(hosts.iter().map(|host| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(|host| host.authority.as_str()).collect::<Vec<_>>())
        .bind(hosts.iter().map(fetches).collect::<Vec<_>>())
        .bind(Moment(received_at))
        .execute(&mut *db)
        .await
        .map_err(StoreError::doing("count the fetches of a day"))?;
    sqlx::query(
        "INSERT INTO agent_hours AS h (agent, hour, fetches)
         VALUES ($1, date_trunc('hour', $2::timestamptz, 'UTC'), $3)
         ON CONFLICT (agent, hour) DO UPDATE SET fetches = h.fetches + excluded.fetches",
    )
    .bind(agent.get())
    .bind(Moment(received_at))
    .bind(hosts.iter().map(fetches).fold(0, i64::saturating_add))
    .execute(db)
    .await
    .map_err(StoreError::doing("count what an agent delivers"))?;
    Ok(())
}

/// Lets the loads of hosts follow them to their new subnets, before the rows of the hosts change.
pub(crate) async fn move_hosts(
    db: &mut PgConnection,
    places: &[(HostId, Range)],
) -> Result<(), StoreError> {
    sqlx::query(include_str!("loads/move_hosts.sql"))
        .bind(places.iter().map(|(id, _)| id.get()).collect::<Vec<_>>())
        .bind(places.iter().map(|(_, subnet)| subnet.first()).collect::<Vec<_>>())
        .bind(places.iter().map(|(_, subnet)| subnet.last()).collect::<Vec<_>>())
        .execute(db)
        .await
        .map_err(StoreError::doing("move the loads of hosts"))?;
    Ok(())
}

/// Deletes the sums of agents for days and hours that no load includes any more; those of hosts and
/// subnets go with their partitions ([`crate::partitions`]). Returns the number of rows.
pub async fn forget(store: &Store, now: UnixMillis) -> Result<u64, StoreError> {
    let doing = StoreError::doing("forget the fetches of old days");
    let days =
        sqlx::query("DELETE FROM agent_days WHERE day <= ($1 AT TIME ZONE 'UTC')::date - $2")
            .bind(Moment(now))
            .bind(KEPT_DAYS)
            .execute(&store.pool())
            .await
            .map_err(doing)?;
    // The first hour says since when an agent delivers.
    let hours = sqlx::query(
        "DELETE FROM agent_hours h WHERE hour < $1
         AND EXISTS (SELECT FROM agent_hours e WHERE e.agent = h.agent AND e.hour < h.hour)",
    )
    .bind(Moment(now.plus_ms(-i64::from(KEPT_DAYS) * DAY_MS)))
    .execute(&store.pool())
    .await
    .map_err(doing)?;
    Ok(days.rows_affected() + hours.rows_affected())
}

/// Fetches of a subnet or an agent.
struct Sums {
    /// In the last seven days before today.
    before: i64,
    /// Today, which is not over.
    today: i64,
    /// For how many days before today the subnet or agent is known, up to seven.
    days: i32,
}

impl Sums {
    /// Fetches a day. Today counts only while fewer than seven days are known, and only where it
    /// adds to their mean: agents crawl in certain hours, so that the beginning of a day says
    /// little, and the first day began in its middle.
    fn a_day(&self) -> u64 {
        let [before, today] = [self.before, self.today].map(|sum| u64::try_from(sum).unwrap_or(0));
        let days = u64::try_from(self.days).unwrap_or(0);
        let whole_days = before.div_ceil(days.max(1));
        if self.days >= DAYS {
            whole_days
        } else {
            whole_days.max((before + today).div_ceil(days + 1))
        }
    }
}

type LoadRow = (IpAddr, IpAddr, i64, i64, i32);

/// Pages a day of each subnet that has any: the mean of the last seven days, or of as many as it is
/// known. Reads as many rows as there are subnets.
pub async fn subnets(store: &Store, now: UnixMillis) -> Result<HashMap<Range, u64>, StoreError> {
    let rows: Vec<LoadRow> = sqlx::query_as(concat!(
        "WITH days AS (SELECT * FROM subnet_days)",
        include_str!("loads/by_subnet.sql")
    ))
    .bind(Moment(now))
    .bind(DAYS)
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("measure the load of subnets"))?;
    rows.into_iter().map(load).collect()
}

/// Pages a day of those of these subnets that have any.
pub async fn of_subnets(
    store: &Store,
    subnets: &[Range],
    now: UnixMillis,
) -> Result<HashMap<Range, u64>, StoreError> {
    let rows: Vec<LoadRow> = sqlx::query_as(concat!(
        include_str!("loads/of_subnets.sql"),
        include_str!("loads/by_subnet.sql")
    ))
    .bind(Moment(now))
    .bind(DAYS)
    .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
    .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("measure the load of some subnets"))?;
    rows.into_iter().map(load).collect()
}

fn load((first, last, before, today, days): LoadRow) -> Result<(Range, u64), StoreError> {
    Ok((range(first, last)?, Sums { before, today, days }.a_day()))
}

/// Capacity, load and recent work of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Work {
    pub agent: AgentId,
    /// Name given by its owner.
    pub name: String,
    /// Whether it may be given subnets: approved, neither paused nor revoked.
    pub approved: bool,
    /// Pages a day that its owner offers.
    pub offered: u64,
    /// Fetches a day in its packages: the mean of the last seven days, or of as many as it has
    /// delivered.
    pub fetched: u64,
    /// Start of the hour in which its first package was ingested.
    pub since: Option<UnixMillis>,
    /// URLs that it knew and had not fetched at its last heartbeat.
    pub queued: u64,
    /// Fetches a day from the subnets that it holds now: the mean of the last seven days, or of as
    /// many as it has delivered or there were any. Less than their loads where they are new.
    pub held: u64,
    /// The mean since the first fetch from them in these days. More than their loads after a rest.
    pub held_at_most: u64,
}

impl FromRow<'_, PgRow> for Work {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let fetched = Sums {
            before: row.try_get("fetched_before")?,
            today: row.try_get("fetched_today")?,
            days: row.try_get("fetched_days")?,
        };
        let before = row.try_get("held_before")?;
        let today = row.try_get("held_today")?;
        let held = |days| Sums { before, today, days }.a_day();
        Ok(Self {
            agent: row.read("agent")?,
            name: row.try_get("name")?,
            approved: row.try_get("approved")?,
            offered: row.read::<u32>("offered")?.into(),
            fetched: fetched.a_day(),
            since: row.read("since")?,
            queued: row.read("queued")?,
            held: held(row.try_get("held_days")?),
            held_at_most: held(row.try_get("fetched_from_days")?),
        })
    }
}

/// All agents that were not revoked.
pub async fn agents(store: &Store, now: UnixMillis) -> Result<Vec<Work>, StoreError> {
    sqlx::query_as(include_str!("loads/agents.sql"))
        .bind(Moment(now))
        .bind(DAYS)
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("measure the work of agents"))
}

/// The last answer of an agent about a subnet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    pub subnet: Range,
    /// Who was asked.
    pub agent: AgentId,
    /// Why it was asked.
    pub phase: Phase,
    /// Outcome of the probe.
    pub state: ProbeState,
    /// The round trip in microseconds; none unless the state is measured.
    pub rtt_us: Option<u32>,
}

type AnswerRow = (IpAddr, IpAddr, i64, i64, String, String, Option<i32>);

/// The last answers of agents about these subnets in searches. Orders that are open or expired
/// count only where there is no answer, and those that expired only for a day.
pub async fn answers(
    store: &Store,
    subnets: &[Range],
    now: UnixMillis,
) -> Result<Vec<Answer>, StoreError> {
    let rows: Vec<AnswerRow> = sqlx::query_as(include_str!("loads/answers.sql"))
        .bind(subnets.iter().map(Range::first).collect::<Vec<_>>())
        .bind(subnets.iter().map(Range::last).collect::<Vec<_>>())
        .bind(Moment(now.plus_ms(-DAY_MS)))
        .fetch_all(&store.pool())
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
/// was only predicted to be near. An agent that was asked in that search is asked again only a day
/// after the order expired. Returns whether there is a new order.
pub async fn confirm(
    store: &Store,
    subnet: &Range,
    agent: AgentId,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    sqlx::query_scalar(include_str!("loads/confirm.sql"))
        .bind(subnet.first())
        .bind(subnet.last())
        .bind(agent.get())
        .bind(Moment(now))
        .bind(Moment(now.plus_ms(-DAY_MS)))
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("order a probe before a move"))
}
