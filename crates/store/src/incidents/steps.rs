//! Steps of an incident, one transaction each.

use model::{AgentId, IncidentState, Strategy, UnixMillis};
use sqlx::PgConnection;

use super::{CurrentDelegation, Incident, Outcome};
use crate::columns::int;
use crate::moment::Moment;
use crate::probes::Target;
use crate::timing_reports::{self, PendingReports, Summary};
use crate::{Store, StoreError};

/// Why an incident is opened.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IncidentCause<'a> {
    /// Recent time over usual time, of the path or of a page.
    pub ratio: f64,
    /// That page; none when the path became slower.
    pub url: Option<&'a str>,
    /// Recent round trip of the agent over the usual one; none when that is not known.
    pub path_ratio: Option<f64>,
}

/// Stores the summary of reports and opens an incident about them. An open incident stays, unless
/// the subnet is at this agent because of it: then the new agent is slow, too. Subnets of agents
/// that live there and pinned subnets are left alone; an overridden subnet is not.
pub async fn open(
    store: &Store,
    reports: &PendingReports,
    summary: &Summary,
    opening: &IncidentCause<'_>,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("open an incident");
    let mut tx = store.begin().await.map_err(doing)?;
    timing_reports::store_summary_in(&mut tx, reports, summary).await?;
    sqlx::query(include_str!("overtake_away.sql"))
        .bind(reports.subnet.first())
        .bind(reports.subnet.last())
        .bind(reports.agent.get())
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let opened = sqlx::query(include_str!("open_incident.sql"))
        .bind(reports.subnet.first())
        .bind(reports.subnet.last())
        .bind(reports.agent.get())
        .bind(opening.ratio)
        .bind(opening.url)
        .bind(opening.path_ratio)
        .bind(Moment(now))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)?;
    Ok(opened.rows_affected() == 1)
}

/// Orders a probe of `target` from an agent and waits for it. `control_us` is the round trip of a
/// control agent before the incident.
pub async fn check(
    store: &Store,
    incident: &Incident,
    agent: AgentId,
    control_us: Option<u32>,
    target: &Target,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("order a check of slow pages");
    sqlx::query(include_str!("check.sql"))
        .bind(incident.id)
        .bind(incident.state.as_str())
        .bind(incident.probe.map(|awaited| awaited.probe.get()))
        .bind(agent.get())
        .bind(target.address)
        .bind(target.host.as_str())
        .bind(i32::from(target.port))
        .bind(Moment(now))
        .bind(control_us.map(int))
        .execute(&store.pool())
        .await
        .map_err(doing)?;
    Ok(())
}

/// A known measurement that a new search begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed {
    /// The agent that measured.
    pub agent: AgentId,
    /// The round trip, in microseconds.
    pub rtt_us: u32,
}

/// Opens a search for the subnet again, with what was measured already, and waits for it in
/// `state`. `now_us` is what the control agent measured. If a search is open, the incident waits
/// for that one. Returns whether a search was opened.
pub async fn search(
    store: &Store,
    incident: &Incident,
    (state, now_us): (IncidentState, Option<u32>),
    target: &Target,
    seeds: &[Seed],
    (strategy, threshold_us): (Strategy, u32),
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("open a search because of slow pages");
    let mut tx = store.begin().await.map_err(doing)?;
    if !is_in_state(&mut tx, incident).await? {
        return Ok(false);
    }
    let opened: Option<i64> = sqlx::query_scalar(include_str!("open_search.sql"))
        .bind(incident.subnet.first())
        .bind(incident.subnet.last())
        .bind(target.address)
        .bind(target.host.as_str())
        .bind(i32::from(target.port))
        .bind(strategy.as_str())
        .bind(int(threshold_us))
        .bind(Moment(now))
        .fetch_optional(&mut *tx)
        .await
        .map_err(doing)?;
    if let Some(opened) = opened {
        add_seeds(&mut tx, opened, incident, seeds, now).await?;
    }
    sqlx::query(include_str!("wait_for_search.sql"))
        .bind(incident.id)
        .bind(state.as_str())
        .bind(now_us.map(int))
        .bind(Moment(now))
        .bind(incident.subnet.first())
        .bind(incident.subnet.last())
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    tx.commit().await.map_err(doing)?;
    Ok(opened.is_some())
}

/// Enters measurements as the first steps of a search.
async fn add_seeds(
    db: &mut PgConnection,
    search: i64,
    incident: &Incident,
    seeds: &[Seed],
    now: UnixMillis,
) -> Result<(), StoreError> {
    for (step, seed) in (1_i32..).zip(seeds) {
        sqlx::query(include_str!("add_seeds.sql"))
            .bind(search)
            .bind(step)
            .bind(seed.agent.get())
            .bind(incident.subnet.first())
            .bind(incident.subnet.last())
            .bind(Moment(now))
            .bind(int(seed.rtt_us))
            .execute(&mut *db)
            .await
            .map_err(StoreError::doing("begin a search with what is known"))?;
    }
    Ok(())
}

/// Notes that the subnet moved to another agent; `failback` is what is known of the former path.
pub async fn set_away(
    store: &Store,
    incident: &Incident,
    holds: &CurrentDelegation,
    failback: &serde_json::Value,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("set_away.sql"))
        .bind(incident.id)
        .bind(incident.state.as_str())
        .bind(holds.agent.get())
        .bind(failback)
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("write down that a subnet moved because of slow pages"))?;
    Ok(())
}

/// Stores a measurement of the former agent whose path has not recovered yet.
pub async fn set_failback(
    store: &Store,
    incident: &Incident,
    failback: &serde_json::Value,
    now: UnixMillis,
) -> Result<(), StoreError> {
    sqlx::query(include_str!("set_failback.sql"))
        .bind(incident.id)
        .bind(incident.state.as_str())
        .bind(failback)
        .bind(Moment(now))
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("keep what is known of a subnet's way back"))?;
    Ok(())
}

/// Closes an incident. The reports of the subnet start again from the summary `timing_reports`.
/// Where the subnet stays and its pages stay slow, the agent is ordered to forget the usual times
/// of the pages, so that the present times become usual.
pub async fn end(
    store: &Store,
    incident: &Incident,
    (state, now_us): (IncidentState, Option<u32>),
    timing_reports: &serde_json::Value,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("close an incident");
    let mut tx = store.begin().await.map_err(doing)?;
    let is_closed = close(&mut tx, incident, (state, now_us), timing_reports, now).await?;
    if is_closed && matches!(state, IncidentState::Server | IncidentState::Stayed) {
        sqlx::query(include_str!("forget_page_times.sql"))
            .bind(incident.subnet.first())
            .bind(incident.subnet.last())
            .bind(incident.agent.get())
            .bind(Moment(now))
            .execute(&mut *tx)
            .await
            .map_err(doing)?;
    }
    tx.commit().await.map_err(doing)
}

async fn close(
    db: &mut PgConnection,
    incident: &Incident,
    (state, now_us): (IncidentState, Option<u32>),
    timing_reports: &serde_json::Value,
    now: UnixMillis,
) -> Result<bool, StoreError> {
    let doing = StoreError::doing("close an incident");
    let closed = sqlx::query(include_str!("close_incident.sql"))
        .bind(incident.id)
        .bind(incident.state.as_str())
        .bind(state.as_str())
        .bind(now_us.map(int))
        .bind(Moment(now))
        .execute(&mut *db)
        .await
        .map_err(doing)?;
    if closed.rows_affected() == 0 {
        return Ok(false);
    }
    let is_at_next = incident.holds.map(|holds| holds.agent) == incident.next_agent;
    if incident.state == IncidentState::Away && is_at_next {
        // What is known of the path concerns the present agent, about which nothing was decided.
        return Ok(true);
    }
    let keeps_path = match state {
        // Nothing was measured now: the path was known when the incident was opened.
        IncidentState::Server => now_us.is_none(),
        // A report that is lost is no reason to take a slow path for the usual one.
        IncidentState::Undecided => {
            incident.probe.is_some_and(|probe| probe.outcome == Outcome::Expired)
        }
        _ => false,
    };
    sqlx::query(include_str!("close.sql"))
        .bind(incident.subnet.first())
        .bind(incident.subnet.last())
        .bind(timing_reports)
        .bind(keeps_path)
        .execute(db)
        .await
        .map_err(doing)?;
    Ok(true)
}

/// Locks the incident. Returns whether it is still in the state for which the step was computed.
async fn is_in_state(db: &mut PgConnection, incident: &Incident) -> Result<bool, StoreError> {
    let state: Option<String> = sqlx::query_scalar(
        "SELECT state FROM incidents WHERE id = $1 AND ended_at IS NULL FOR UPDATE",
    )
    .bind(incident.id)
    .fetch_optional(db)
    .await
    .map_err(StoreError::doing("lock an incident"))?;
    Ok(state.as_deref() == Some(incident.state.as_str()))
}
