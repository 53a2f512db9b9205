//! Notifications between processes on the same database (NOTIFY).

use std::io;
use std::time::Duration;

use sqlx::PgExecutor;
use sqlx::postgres::PgListener;
use tokio::time::timeout;

use crate::{Store, StoreError};

/// Silence after which the connection is checked.
const SILENCE: Duration = Duration::from_secs(30);
/// How long the server may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Receiver of one channel, with a connection of its own.
#[derive(Debug)]
pub struct Listener {
    store: Store,
    channel: String,
    connection: PgListener,
}

impl Listener {
    /// Listens on a channel.
    pub async fn open(store: &Store, channel: &str) -> Result<Self, StoreError> {
        let doing = StoreError::doing("listen to the database");
        let mut connection = PgListener::connect_with(&store.pool()).await.map_err(doing)?;
        // Otherwise the listener would reconnect itself. If it is cancelled meanwhile, because the
        // server is given up, the new connection would return to the pool and still listen there.
        connection.eager_reconnect(false);
        connection.listen(channel).await.map_err(doing)?;
        Ok(Self { store: store.clone(), channel: channel.to_owned(), connection })
    }

    /// Waits for the next message; none when the connection was interrupted, so that messages may
    /// be lost.
    pub async fn receive(&mut self) -> Result<Option<String>, StoreError> {
        let doing = StoreError::doing("listen to the database");
        loop {
            let Ok(received) = timeout(SILENCE, self.connection.try_recv()).await else {
                self.ping().await.map_err(doing)?;
                continue;
            };
            if let Some(notification) = received.map_err(doing)? {
                return Ok(Some(notification.payload().to_owned()));
            }
            *self = Self::open(&self.store, &self.channel).await?;
            return Ok(None);
        }
    }

    /// Otherwise this would listen for ever to a server that is gone without closing the
    /// connection.
    async fn ping(&mut self) -> Result<(), sqlx::Error> {
        let pinged = timeout(ANSWER, sqlx::query("SELECT 1").execute(&mut self.connection)).await;
        let silent = || sqlx::Error::Io(io::Error::from(io::ErrorKind::TimedOut));
        pinged.unwrap_or_else(|_| Err(silent())).map(drop)
    }
}

/// Sends a message of fewer than 8,000 bytes to all receivers of a channel, including those of this
/// process.
pub async fn notify(store: &Store, channel: &str, what: &str) -> Result<(), StoreError> {
    notify_in(&store.pool(), channel, what)
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
