//! Tells other processes on the database something, and hears what they tell (NOTIFY).

use sqlx::PgExecutor;
use sqlx::postgres::PgListener;

use crate::{Store, StoreError};

/// An ear on one channel, with a connection of its own.
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

    /// Waits until something was said, and gives it; none when the connection was lost and made
    /// again, so that something may have been missed.
    pub async fn receive(&mut self) -> Result<Option<String>, StoreError> {
        let heard =
            self.listener.try_recv().await.map_err(StoreError::doing("listen to the database"))?;
        Ok(heard.map(|notification| notification.payload().to_owned()))
    }
}

/// Says something, of less than 8,000 bytes, to everybody who listens on a channel, the speaker
/// included.
pub async fn notify(store: &Store, channel: &str, what: &str) -> Result<(), StoreError> {
    notify_in(store.pool(), channel, what)
        .await
        .map_err(StoreError::doing("tell the other coordinators"))
}

/// The same; in a transaction it is said when that is committed, and only then.
pub(crate) async fn notify_in(
    db: impl PgExecutor<'_>,
    channel: &str,
    what: &str,
) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT pg_notify($1, $2)").bind(channel).bind(what).execute(db).await.map(drop)
}
