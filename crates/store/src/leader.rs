//! Leader election: of all coordinators on a database, the one that holds an advisory lock is the
//! leader.
//!
//! The lock lives as long as a connection of its own. Each election raises the term. A leader that
//! lost its connection without noticing can still write; what it writes is fenced by the state of
//! the search and the generation of the delegation (see [`crate::delegations`]).

use std::time::Duration;

use sqlx::{Connection as _, PgConnection};
use tokio::time::timeout;

use crate::{Store, StoreError};

/// The server ends the session of a leader that is silent for this time, since it has died or
/// hangs; another coordinator can then take the lock.
const SILENCE: &str = "15s";

/// How long the connection may take to answer.
const ANSWER: Duration = Duration::from_secs(5);

/// Key of the lock; any number that nobody else uses on the database.
const KEY: i64 = 0x6e65_6172_6372_6177;

/// Proof of leadership, valid while its connection lives.
#[derive(Debug)]
pub struct Leadership {
    connection: PgConnection,
    term: i64,
}

impl Leadership {
    /// Takes the lock if no coordinator holds it.
    pub async fn elect(store: &Store) -> Result<Option<Self>, StoreError> {
        // One that died without a word would be waited for until TCP gives it up.
        let elected = timeout(ANSWER, Self::try_lock(store)).await;
        elected.unwrap_or_else(|_| Err(silent(store)))
    }

    async fn try_lock(store: &Store) -> Result<Option<Self>, StoreError> {
        let doing = StoreError::doing("ask for the right to decide");
        // The lock must outlive every statement, so it gets a connection outside of the pool.
        let mut connection = PgConnection::connect_with(&store.address().options())
            .await
            .map_err(|source| StoreError::Connect { place: store.address().to_string(), source })?;
        sqlx::query("SELECT set_config('idle_session_timeout', $1, false)")
            .bind(SILENCE)
            .execute(&mut connection)
            .await
            .map_err(doing)?;
        let elected: bool = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)")
            .bind(KEY)
            .fetch_one(&mut connection)
            .await
            .map_err(doing)?;
        if !elected {
            connection.close().await.map_err(doing)?;
            return Ok(None);
        }
        let term = next_term(&mut connection).await?;
        Ok(Some(Self { connection, term }))
    }

    /// Number of this election on this database, from 1.
    pub fn term(&self) -> i64 {
        self.term
    }

    /// An error unless the right is still held: the connection answers, and with it the lock lives.
    /// To be asked every few seconds: a connection that is silent for 15 s loses the right.
    pub async fn check(&mut self, store: &Store) -> Result<(), StoreError> {
        let answered = timeout(ANSWER, self.connection.ping()).await;
        answered.map_or_else(
            |_| Err(silent(store)),
            |ping| ping.map_err(StoreError::doing("keep the right to decide")),
        )
    }

    /// Gives the right up, so that another can take it at once.
    pub async fn resign(mut self) {
        let resigning = async {
            let unlock = sqlx::query("SELECT pg_advisory_unlock($1)").bind(KEY);
            let _ = unlock.execute(&mut self.connection).await;
            let _ = self.connection.close().await;
        };
        // When this fails the server frees the lock as soon as it notices the dead connection.
        let _ = timeout(ANSWER, resigning).await;
    }
}

fn silent(store: &Store) -> StoreError {
    StoreError::Silent { place: store.address().to_string() }
}

async fn next_term(db: &mut PgConnection) -> Result<i64, StoreError> {
    sqlx::query_scalar(
        "INSERT INTO settings (name, value) VALUES ('decider_term', '1')
         ON CONFLICT (name) DO UPDATE SET value = to_jsonb(settings.value::bigint + 1)
         RETURNING value::bigint",
    )
    .fetch_one(db)
    .await
    .map_err(StoreError::doing("count the terms of deciders"))
}
