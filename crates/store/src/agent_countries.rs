//! Fetches and probes of agents by the country of the subnet, for maps.
//!
//! Countries come from the hierarchy in memory, so callers name them.

use hierarchy::Country;
use model::AgentId;
use sqlx::postgres::PgRow;
use sqlx::{FromRow, PgConnection, Row as _};

use crate::columns::{ReadColumn as _, bigint, read_word};
use crate::host_tally::HostTally;
use crate::{Store, StoreError};

/// Counts the fetches of a package by the countries of its hosts, after they were counted in
/// `hosts`.
pub(crate) async fn count_fetches(
    db: &mut PgConnection,
    agent: AgentId,
    hosts: &[HostTally],
) -> Result<(), StoreError> {
    let located: Vec<(&HostTally, Country)> =
        hosts.iter().filter_map(|host| Some((host, host.country?))).collect();
    if located.is_empty() {
        return Ok(());
    }
    let column = |value: fn(&HostTally) -> u64| -> Vec<i64> {
        located.iter().map(|(host, _)| bigint(value(host))).collect()
    };
    sqlx::query(include_str!("agent_countries/count_fetches.sql"))
        .bind(agent.get())
        .bind(located.iter().map(|(host, _)| host.scheme.as_str()).collect::<Vec<_>>())
        .bind(located.iter().map(|(host, _)| host.authority.as_str()).collect::<Vec<_>>())
        .bind(located.iter().map(|(_, country)| country.as_str()).collect::<Vec<_>>())
        .bind(column(|host| host.fetches))
        .bind(column(|host| host.timed_fetches))
        .bind(column(|host| host.round_trip_us))
        .execute(db)
        .await
        .map_err(StoreError::doing("count fetches by country"))?;
    Ok(())
}

/// Counts round trips of an agent's probes by country.
pub async fn count_probes(
    store: &Store,
    agent: AgentId,
    round_trips: &[(Country, u32)],
) -> Result<(), StoreError> {
    if round_trips.is_empty() {
        return Ok(());
    }
    sqlx::query(include_str!("agent_countries/count_probes.sql"))
        .bind(agent.get())
        .bind(round_trips.iter().map(|(country, _)| country.as_str()).collect::<Vec<_>>())
        .bind(round_trips.iter().map(|(_, us)| i64::from(*us)).collect::<Vec<_>>())
        .execute(&store.pool())
        .await
        .map_err(StoreError::doing("count probes by country"))?;
    Ok(())
}

/// Fetches and probes between one agent and one country.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentCountry {
    /// The agent that fetched or measured.
    pub agent: AgentId,
    /// Country of the subnets.
    pub country: Country,
    /// Hosts that this agent fetched from before any other.
    pub hosts: u64,
    /// Fetches, whatever their outcome.
    pub fetches: u64,
    /// Fetches whose round trip is known.
    pub timed_fetches: u64,
    /// Sum of their round trips in microseconds.
    pub round_trip_us: u64,
    /// Probes that measured a round trip.
    pub probes: u64,
    /// Sum of their round trips in microseconds.
    pub probe_us: u64,
}

impl FromRow<'_, PgRow> for AgentCountry {
    fn from_row(row: &PgRow) -> sqlx::Result<Self> {
        let agent: i64 = row.try_get("agent")?;
        Ok(Self {
            agent: AgentId::new(agent),
            country: read_word("agent_countries", "country", agent, row.try_get("country")?)?,
            hosts: row.read("hosts")?,
            fetches: row.read("fetches")?,
            timed_fetches: row.read("timed_fetches")?,
            round_trip_us: row.read("round_trip_us")?,
            probes: row.read("probes")?,
            probe_us: row.read("probe_us")?,
        })
    }
}

/// Everything that was counted, by agent and country. Reads the whole table: some dozen rows an
/// agent.
pub async fn list(store: &Store) -> Result<Vec<AgentCountry>, StoreError> {
    sqlx::query_as(
        "SELECT agent, country, hosts, fetches, timed_fetches, round_trip_us, probes, probe_us
         FROM agent_countries ORDER BY agent, country",
    )
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("read fetches by country"))
}
