//! Locks of hosts.
//!
//! Every transaction that changes several hosts locks them by rising number before it changes one.
//! Ingestion locks the hosts of a package and those to which its pages link; a subnet that is
//! delegated locks all its hosts. In different orders they would wait for each other.

use sqlx::PgConnection;

use crate::StoreError;

/// Locks these hosts.
pub(crate) async fn lock_hosts(db: &mut PgConnection, hosts: &[i64]) -> Result<(), StoreError> {
    sqlx::query("SELECT FROM hosts WHERE id = ANY($1) ORDER BY id FOR UPDATE")
        .bind(hosts)
        .execute(db)
        .await
        .map_err(StoreError::doing("lock hosts"))?;
    Ok(())
}

/// The numbers of those of these hosts that are known.
pub(crate) async fn numbers<'a>(
    db: &mut PgConnection,
    hosts: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<Vec<i64>, StoreError> {
    let (schemes, authorities): (Vec<&str>, Vec<&str>) = hosts.unzip();
    sqlx::query_scalar(
        "SELECT h.id FROM hosts h
         JOIN unnest($1::text[], $2::text[]) AS n (scheme, authority) USING (scheme, authority)",
    )
    .bind(schemes)
    .bind(authorities)
    .fetch_all(db)
    .await
    .map_err(StoreError::doing("look hosts up"))
}

/// Locks those of these hosts that are known.
pub(crate) async fn lock_known<'a>(
    db: &mut PgConnection,
    hosts: impl Iterator<Item = (&'a str, &'a str)>,
) -> Result<(), StoreError> {
    let (schemes, authorities): (Vec<&str>, Vec<&str>) = hosts.unzip();
    sqlx::query(
        "SELECT FROM hosts h
         JOIN unnest($1::text[], $2::text[]) AS n (scheme, authority) USING (scheme, authority)
         ORDER BY h.id FOR NO KEY UPDATE OF h",
    )
    .bind(schemes)
    .bind(authorities)
    .execute(db)
    .await
    .map_err(StoreError::doing("lock known hosts"))?;
    Ok(())
}
