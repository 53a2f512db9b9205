//! Silent hosts: no fetch has brought an answer for thirty days. Searches leave their pages out
//! until they answer again.

use crate::columns::bigint;
use crate::moment::Moment;
use crate::{Store, StoreError};

/// Hosts that one statement reads: there may be millions.
const PART: usize = 10_000;

/// When a host has fallen silent, its number, and its key if it has pages.
type Row = (Moment, i64, Option<String>);

/// The silent hosts with pages, each as in `https://example.org:8443`: at most `limit`, those that
/// are silent for longest.
pub async fn list(store: &Store, limit: u32) -> Result<Vec<String>, StoreError> {
    let limit = limit as usize;
    let mut silent = Vec::new();
    let mut after: Option<(Moment, i64)> = None;
    while silent.len() < limit {
        let rows: Vec<Row> = sqlx::query_as(include_str!("silent_hosts/list.sql"))
            .bind(after.map(|(since, _)| since))
            .bind(after.map(|(_, host)| host))
            .bind(bigint(PART))
            .fetch_all(&store.pool())
            .await
            .map_err(StoreError::doing("list the hosts that have not answered for long"))?;
        let is_last = rows.len() < PART;
        after = rows.last().map(|(since, host, _)| (*since, *host));
        silent.extend(rows.into_iter().filter_map(|(.., key)| key));
        if is_last {
            break;
        }
    }
    silent.truncate(limit);
    Ok(silent)
}
