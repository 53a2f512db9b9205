//! Routes: URLs on their way to agents.

use std::collections::{HashMap, HashSet};

use model::AgentId;
use protocol::Route;
use sqlx::PgConnection;

use crate::columns::bigint;
use crate::commit::commit;
use crate::{Store, StoreError};

/// The routes that an agent has not confirmed, by rising number.
pub async fn after(
    store: &Store,
    agent: AgentId,
    after: u64,
    limit: usize,
) -> Result<Vec<Route>, StoreError> {
    let rows: Vec<(i64, String, i16)> = sqlx::query_as(include_str!("routes/after.sql"))
        .bind(agent.get())
        .bind(bigint(after))
        .bind(bigint(limit))
        .fetch_all(&store.pool())
        .await
        .map_err(StoreError::doing("read an agent's routes"))?;
    Ok(rows
        .into_iter()
        .map(|(seq, url, redirects)| Route {
            seq: seq.unsigned_abs(),
            url,
            redirects: u8::try_from(redirects).unwrap_or(u8::MAX),
        })
        .collect())
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoutedUrl {
    /// The agent that gets the URL.
    pub agent: AgentId,
    /// The URL that it gets.
    pub url: String,
}

/// Routes up to `batch` waiting URLs to the agents of their hosts, numbered without gaps, in one
/// transaction. An agent gets at most `ahead` unconfirmed routes; only approved agents get any.
/// Hosts that another transaction is changing are skipped until the next run.
pub async fn route(store: &Store, batch: u32, ahead: u32) -> Result<Vec<RoutedUrl>, StoreError> {
    let doing = StoreError::doing("route URLs");
    let mut tx = store.begin().await.map_err(doing)?;
    let mut allowances = allowances(&mut tx, ahead).await?;
    let waiting = waiting(&mut tx, &allowances, batch).await?;
    let chosen: Vec<ChosenRoute> =
        waiting.into_iter().filter_map(|url| allowances.get_mut(&url.1)?.take(url)).collect();
    if !chosen.is_empty() {
        write(&mut tx, &chosen).await?;
        let served: HashSet<i64> = chosen.iter().map(|chosen| chosen.agent).collect();
        allowances.retain(|agent, _| served.contains(agent));
        advance(&mut tx, &allowances).await?;
        commit(tx).await.map_err(doing)?;
    }
    Ok(chosen.into_iter().map(|c| RoutedUrl { agent: AgentId::new(c.agent), url: c.url }).collect())
}

/// The routes that an agent can take: the next number, and how many more.
struct Allowance {
    next: i64,
    left: i64,
}

struct ChosenRoute {
    pending: i64,
    agent: i64,
    seq: i64,
    url: String,
    redirects: i16,
}

impl Allowance {
    fn take(&mut self, (pending, agent, url, redirects): WaitingRow) -> Option<ChosenRoute> {
        if self.left <= 0 {
            return None;
        }
        let seq = self.next;
        self.next += 1;
        self.left -= 1;
        Some(ChosenRoute { pending, agent, seq, url, redirects })
    }
}

/// URLs of one agent that a batch reads at least.
const LEAST_OF_EACH: usize = 50;

/// Pending URL, agent, URL, redirects.
type WaitingRow = (i64, i64, String, i16);

/// Locks the agents that may get routes, so that none is revoked or routed to concurrently.
async fn allowances(
    db: &mut PgConnection,
    ahead: u32,
) -> Result<HashMap<i64, Allowance>, StoreError> {
    let rows: Vec<(i64, i64, i64)> = sqlx::query_as(include_str!("routes/allowances.sql"))
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("see which agents take routes"))?;
    let list =
        |(agent, next, underway)| (agent, Allowance { next, left: i64::from(ahead) - underway });
    Ok(rows.into_iter().map(list).filter(|(_, list)| list.left > 0).collect())
}

async fn waiting(
    db: &mut PgConnection,
    allowances: &HashMap<i64, Allowance>,
    batch: u32,
) -> Result<Vec<WaitingRow>, StoreError> {
    // The URLs of each agent are in order; those of all are sorted, so that each gives a part.
    let each = (batch as usize / allowances.len().max(1)).max(LEAST_OF_EACH);
    sqlx::query_as(include_str!("routes/waiting.sql"))
        .bind(allowances.keys().copied().collect::<Vec<_>>())
        .bind(i64::from(batch))
        .bind(bigint(each))
        .fetch_all(db)
        .await
        .map_err(StoreError::doing("list the URLs that can be routed"))
}

async fn write(db: &mut PgConnection, chosen: &[ChosenRoute]) -> Result<(), StoreError> {
    sqlx::query(
        "WITH moved AS (DELETE FROM pending_urls WHERE id = ANY($1))
         INSERT INTO routes (agent, seq, url, redirects)
         SELECT * FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::smallint[])",
    )
    .bind(chosen.iter().map(|c| c.pending).collect::<Vec<_>>())
    .bind(chosen.iter().map(|c| c.agent).collect::<Vec<_>>())
    .bind(chosen.iter().map(|c| c.seq).collect::<Vec<_>>())
    .bind(chosen.iter().map(|c| c.url.as_str()).collect::<Vec<_>>())
    .bind(chosen.iter().map(|c| c.redirects).collect::<Vec<_>>())
    .execute(db)
    .await
    .map_err(StoreError::doing("route URLs"))?;
    Ok(())
}

async fn advance(
    db: &mut PgConnection,
    allowances: &HashMap<i64, Allowance>,
) -> Result<(), StoreError> {
    let (agents, next): (Vec<i64>, Vec<i64>) =
        allowances.iter().map(|(agent, list)| (agent, list.next)).unzip();
    sqlx::query(
        "UPDATE agents a SET next_route = n.next
         FROM unnest($1::bigint[], $2::bigint[]) AS n (id, next) WHERE a.id = n.id",
    )
    .bind(agents)
    .bind(next)
    .execute(db)
    .await
    .map_err(StoreError::doing("number routes"))?;
    Ok(())
}
