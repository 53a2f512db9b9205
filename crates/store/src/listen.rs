//! Notifications between processes on the same database (NOTIFY).

use sqlx::PgExecutor;
use sqlx::postgres::PgListener;

use crate::{Store, StoreError};

/// Receiver of one channel, with a connection of its own.
#[derive(Debug)]
pub struct Listener {
    listener: PgListener,
}

impl Listener {
    /// Listens on a channel.
    pub async fn open(store: &Store, channel: &str) -> Result<Self, StoreError> {
        let doing = StoreError::doing("listen to the database");
        let mut listener = PgListener::connect_with(store.pool()).await.map_err(doing)?;
        listener.listen(channel).await.map_err(doing)?;
        Ok(Self { listener })
    }

    /// Waits for the next message; none when the connection was interrupted, so that messages may
    /// be lost.
    pub async fn receive(&mut self) -> Result<Option<String>, StoreError> {
        let received =
            self.listener.try_recv().await.map_err(StoreError::doing("listen to the database"))?;
        Ok(received.map(|notification| notification.payload().to_owned()))
    }
}

/// Sends a message of fewer than 8,000 bytes to all receivers of a channel, including those of this
/// process.
pub async fn notify(store: &Store, channel: &str, what: &str) -> Result<(), StoreError> {
    notify_in(store.pool(), channel, what)
        .await
        .map_err(StoreError::doing("notify the other coordinators"))
}

/// Sends a message as part of a transaction: it is delivered on commit.
pub(crate) async fn notify_in(
    db: impl PgExecutor<'_>,
    channel: &str,
    what: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(what).execute(db).await.map(drop)
}
