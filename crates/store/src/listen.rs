//! Hears what other processes tell the database (NOTIFY).

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

    /// Waits until something was said, or may have been said while the connection was lost and made again.
    pub async fn heard(&mut self) -> Result<(), StoreError> {
        self.listener.try_recv().await.map(drop).map_err(StoreError::doing("listen to the database"))
    }
}
