//! Leader election: of all coordinators on a database, the one that holds an advisory lock is the
//! leader.
//!
//! The lock lives as long as a connection of its own. Each election raises the term. A leader that
//! lost its connection without noticing can still write; what it writes is fenced by the state of
//! the search and the fencing number of the delegation (see [`crate::delegations`]), or by its term
//! (see [`crate::regions`]).
//!
//! Candidates keep their connections, too. Their queries every few seconds are the first to show
//! that the server is gone without closing its connections, see [`crate::silence`].

use std::fmt;
use std::time::Duration;

use sqlx::{Connection as _, PgConnection, Postgres, Transaction};
use tokio::time::timeout;

use crate::silence::Silence;
use crate::{Store, StoreError};

/// The server ends the session of a coordinator that is silent for this time, since it has died or
/// hangs; another coordinator can then take the lock.
const SILENCE: &str = "15s";

/// How long the connection may take to answer.
const ANSWER: Duration = Duration::from_secs(5);
/// How long it may take to connect, with the lookup of the server's name.
const CONNECT: Duration = Duration::from_secs(20);
/// How long a commit may take, for which the server may wait for another one.
const COMMIT: Duration = Duration::from_secs(30);

/// Key of the lock: a number that no other program uses on the database.
const KEY: i64 = 0x6e65_6172_6372_6177;

/// Number of an election on a database, from 1. A term ends when the next one begins.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Term(i64);

impl Term {
    /// The term of the last election; 0 before the first.
    pub async fn latest(store: &Store) -> Result<Self, StoreError> {
        let term: Option<i64> =
            sqlx::query_scalar("SELECT value::bigint FROM settings WHERE name = 'leader_term'")
                .fetch_optional(&store.pool())
                .await
                .map_err(StoreError::doing("read the term of the leader"))?;
        Ok(Self(term.unwrap_or(0)))
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Begins a transaction of the leader of this term; [`StoreError::Deposed`] if a later one began.
/// The next election waits for the end of the transaction.
pub(crate) async fn begin_in(
    store: &Store,
    term: Term,
) -> Result<Transaction<'static, Postgres>, StoreError> {
    let doing = StoreError::doing("check the term of the leader");
    let mut tx = store.begin().await.map_err(doing)?;
    let latest: Option<i64> = sqlx::query_scalar(
        "SELECT value::bigint FROM settings WHERE name = 'leader_term' FOR SHARE",
    )
    .fetch_optional(&mut *tx)
    .await
    .map_err(doing)?;
    if latest.unwrap_or(0) == term.0 { Ok(tx) } else { Err(StoreError::Deposed) }
}

/// A coordinator that waits for the leadership, with the connection that will carry it.
#[derive(Debug)]
pub struct Candidacy {
    connection: PgConnection,
    store: Store,
}

/// What came of asking for the leadership.
#[derive(Debug)]
pub enum Election {
    /// Nobody else leads.
    Won(Leadership),
    /// Another coordinator leads.
    Waiting(Candidacy),
}

impl Candidacy {
    /// Opens the connection, which must outlive every statement and so is not one of the pool.
    pub async fn begin(store: &Store) -> Result<Self, StoreError> {
        let connecting = async {
            let mut connection = PgConnection::connect_with(&store.address().options()).await?;
            sqlx::query("SELECT set_config('idle_session_timeout', $1, false)")
                .bind(SILENCE)
                .execute(&mut connection)
                .await?;
            Ok(connection)
        };
        let connected = timeout(CONNECT, connecting).await;
        let connection = connected
            .map_err(|_| store.silent())?
            .map_err(|source| StoreError::Connect { place: store.address().to_string(), source })?;
        Ok(Self { connection, store: store.clone() })
    }

    /// Takes the lock if no coordinator holds it. To be asked every few seconds.
    pub async fn ask(mut self) -> Result<Election, StoreError> {
        let query = sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(KEY);
        let answered = timeout(ANSWER, query.fetch_one(&mut self.connection)).await;
        let is_elected: bool = match answered {
            Ok(Ok(is_elected)) => is_elected,
            Ok(Err(source)) => return Err(broken(&self.store, source)),
            Err(_) => return Err(unanswered(&self.store, self.connection)),
        };
        if !is_elected {
            return Ok(Election::Waiting(self));
        }
        match timeout(COMMIT, next_term(&mut self.connection)).await {
            Ok(Ok(term)) => {
                let Self { connection, store } = self;
                Ok(Election::Won(Leadership { connection, store, term }))
            }
            Ok(Err(source)) => Err(broken(&self.store, source)),
            Err(_) => Err(unanswered(&self.store, self.connection)),
        }
    }
}

/// Proof of leadership, valid while its connection lives.
#[derive(Debug)]
pub struct Leadership {
    connection: PgConnection,
    store: Store,
    term: Term,
}

impl Leadership {
    /// The term that the election began.
    pub fn term(&self) -> Term {
        self.term
    }

    /// An error unless the right is still held: the connection answers, and with it the lock lives.
    /// To be asked every few seconds: a connection that is silent for 15 s loses the right.
    pub async fn check(mut self) -> Result<Self, StoreError> {
        match timeout(ANSWER, self.connection.ping()).await {
            Ok(Ok(())) => Ok(self),
            Ok(Err(source)) => Err(broken(&self.store, source)),
            Err(_) => Err(unanswered(&self.store, self.connection)),
        }
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

/// The connection is broken, and others may be without having noticed. An error that the server
/// itself reports says nothing of the others, and a server on this machine is never gone without a
/// word: where it ends a session, writing to the socket fails.
fn broken(store: &Store, source: sqlx::Error) -> StoreError {
    if matches!(source, sqlx::Error::Io(_)) && !store.address().is_private() {
        store.note_silence();
    }
    StoreError::doing("keep the connection for the right to decide")(source)
}

/// A server that answers late after all was only busy, also where it answers that the session was
/// idle for too long.
fn unanswered(store: &Store, mut connection: PgConnection) -> StoreError {
    let error = store.silent();
    let silence = store.note_silence();
    tokio::spawn(async move {
        let answer = timeout(Silence::LIMIT, connection.ping()).await;
        if matches!(answer, Ok(Ok(()) | Err(sqlx::Error::Database(_)))) {
            silence.was_short();
        }
    });
    error
}

async fn next_term(db: &mut PgConnection) -> Result<Term, sqlx::Error> {
    sqlx::query_scalar(
        "INSERT INTO settings (name, value) VALUES ('leader_term', '1')
         ON CONFLICT (name) DO UPDATE SET value = to_jsonb(settings.value::bigint + 1)
         RETURNING value::bigint",
    )
    .fetch_one(db)
    .await
    .map(Term)
}
