//! A database that was restored from a backup: numbers that agents know of must not be used again.

use model::UnixMillis;
use serde_json::json;

use crate::audit::{self, Entry};
use crate::commit::commit;
use crate::{Store, StoreError, settings};

/// Setting with the time of the last restore, in milliseconds.
const CONTENTS_LOST_BEFORE: &str = "contents_lost_before";

/// Sequences whose numbers agents remember: routes, orders about hosts, probes, regions, and
/// agents. An agent that joined since the backup is refused as unknown, not for another agent's
/// key.
const SKIP: [&str; 6] = [
    "UPDATE routes SET seq = seq + $1",
    "UPDATE agents SET next_route = next_route + $1",
    "SELECT setval(pg_get_serial_sequence('handovers', 'id'),
                   nextval(pg_get_serial_sequence('handovers', 'id')) + $1)",
    "SELECT setval(pg_get_serial_sequence('probes', 'id'),
                   nextval(pg_get_serial_sequence('probes', 'id')) + $1)",
    "SELECT setval(pg_get_serial_sequence('regions', 'id'),
                   nextval(pg_get_serial_sequence('regions', 'id')) + $1)",
    "SELECT setval(pg_get_serial_sequence('agents', 'id'),
                   nextval(pg_get_serial_sequence('agents', 'id')) + $1)",
];

/// Positions of packages are used again, so that an index would take new packages for those that it
/// has. Each coordinator refuses to start with an index of another ledger.
const RENEW_LEDGER: &str = "UPDATE package_ledger SET instance = gen_random_uuid()";

/// Leaves out so many numbers of each kind, with an entry in the audit log. Agents have stored
/// routes that the backup does not know of: they would confirm others with these numbers, unseen,
/// and take new orders for executed ones. Packages since the backup may be lost as well, so that
/// agents are to send the pages of before `sent_before` once more, and each index is made anew.
pub async fn skip_numbers(
    store: &Store,
    by: u32,
    sent_before: UnixMillis,
    actor: &str,
    now: UnixMillis,
) -> Result<(), StoreError> {
    let doing = StoreError::doing("leave out numbers that agents may know");
    let mut tx = store.begin().await.map_err(doing)?;
    for statement in SKIP {
        sqlx::query(statement).bind(i64::from(by)).execute(&mut *tx).await.map_err(doing)?;
    }
    sqlx::query(RENEW_LEDGER).execute(&mut *tx).await.map_err(doing)?;
    sqlx::query(include_str!("settings/set.sql"))
        .bind(CONTENTS_LOST_BEFORE)
        .bind(json!(sent_before.0))
        .execute(&mut *tx)
        .await
        .map_err(doing)?;
    let entry = Entry::new(actor, "database.restored", "database", json!({ "numbers": by }));
    audit::write_in(&mut tx, &entry, now).await?;
    commit(tx).await.map_err(doing)
}

/// What agents sent before this moment may be lost, by [`skip_numbers`]; none if nothing is.
pub async fn contents_lost_before(store: &Store) -> Result<Option<UnixMillis>, StoreError> {
    let value = settings::get(store, CONTENTS_LOST_BEFORE).await?;
    Ok(value.and_then(|value| value.as_i64()).map(UnixMillis))
}
