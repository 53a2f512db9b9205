//! Locks of hosts.
//!
//! Transactions that change many hosts lock them by rising number before they change one. Ingestion
//! locks the hosts of a package and those to which its pages link; a subnet that is delegated locks
//! all its hosts. In different orders they would wait for each other. Steps that free, end or
//! abandon some hosts still lock them as they come; where one is ended, it is repeated.

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

/// The numbers of these hosts. Unknown ones have none.
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

/// Locks these hosts. Unknown ones are left out.
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
