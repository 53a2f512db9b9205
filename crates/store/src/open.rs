//! Opens a database, with the schema of this program.

use std::panic;
use std::sync::Arc;
use std::time::Duration;

use model::UnixMillis;
use sqlx::postgres::{PgConnectOptions, PgPool, PgPoolOptions};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Transaction};
use tracing::Instrument;

use crate::moment::Moment;
use crate::schema::{SchemaChange, prepare};
use crate::silence::{ReplacedPool, Silence};
use crate::{Address, LEAST_MAJOR, StoreError};

/// How long a statement waits for a connection. It is short, so that callers learn soon that the
/// server restarts.
const PATIENCE: Duration = Duration::from_secs(5);

/// Default number of connections of a pool.
const CONNECTIONS: u32 = 10;

/// Settings of each connection.
const SETTINGS: [(&str, &str); 5] = [
    // Tables grow from nothing to millions of rows while connections are open: a plan that was
    // cached at the beginning would read whole tables.
    ("plan_cache_mode", "force_custom_plan"),
    // A program that hangs within a transaction, or whose machine is gone, must not keep its locks:
    // the next leader would wait for them.
    ("idle_in_transaction_session_timeout", "30s"),
    ("tcp_keepalives_idle", "10"),
    ("tcp_keepalives_interval", "5"),
    ("tcp_keepalives_count", "3"),
];

/// An open database with today's schema. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Store {
    pool: Arc<ReplacedPool>,
    address: Address,
}

impl Store {
    /// The pool, for the statements of this crate.
    pub(crate) fn pool(&self) -> PgPool {
        self.pool.current()
    }

    /// Notes that the server has not answered in time.
    pub(crate) fn note_silence(&self) -> Arc<Silence> {
        self.pool.note_silence()
    }

    /// Returns when the server falls silent for [`Silence::LIMIT`], not at once where it is
    /// already. It may be gone: what has waited for it since before will wait for long.
    pub async fn lost(&self) -> StoreError {
        self.pool.lost().await;
        self.silent()
    }

    /// The error of a server that does not answer.
    pub(crate) fn silent(&self) -> StoreError {
        StoreError::Silent { place: self.address.to_string() }
    }

    /// Begins a transaction. The connection is used by a task of its own until the transaction has
    /// begun: sqlx does not roll back where its caller is dropped before that, for example because
    /// a browser closed its connection. The next statements on that connection would be part of a
    /// transaction that is never committed.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, sqlx::Error> {
        // The connection is acquired outside the task, so that a caller that is dropped leaves the
        // queue for connections.
        let connection = self.pool().acquire().await?;
        let beginning = Transaction::<Postgres>::begin(connection, None).in_current_span();
        match tokio::spawn(beginning).await {
            Ok(begun) => begun,
            Err(error) => match error.try_into_panic() {
                Ok(panic) => panic::resume_unwind(panic),
                Err(_) => Err(sqlx::Error::WorkerCrashed),
            },
        }
    }

    /// Where it is.
    pub fn address(&self) -> &Address {
        &self.address
    }

    /// Number of open connections, and how many of them are idle.
    pub fn connections(&self) -> (u32, usize) {
        let pool = self.pool();
        (pool.size(), pool.num_idle())
    }

    /// Asks the server for a sign of life.
    pub async fn ping(&self) -> Result<(), StoreError> {
        let asked = sqlx::query("SELECT 1").execute(&self.pool()).await;
        asked.map(drop).map_err(StoreError::doing("reach the database"))
    }

    /// Closes every connection and waits for it.
    pub async fn close(&self) {
        self.pool().close().await;
    }
}

/// A server that answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Version of Postgres.
    pub version: String,
    /// Time by its clock.
    pub time: UnixMillis,
}

/// Asks the server at an address for its version and clock; changes nothing there. One that is too
/// old is an error.
pub async fn server(address: &Address) -> Result<Server, StoreError> {
    let pool = connect(address, 1).await?;
    check_version(address, &pool).await?;
    let answer: Result<(String, Moment), _> =
        sqlx::query_as("SELECT current_setting('server_version'), clock_timestamp()")
            .fetch_one(&pool)
            .await;
    pool.close().await;
    let (version, time) = answer.map_err(StoreError::doing("ask the server for its version"))?;
    Ok(Server { version, time: time.0 })
}

/// Connects (creating the database of a private cluster when it is missing) and brings the schema
/// up to date.
pub async fn open(address: &Address) -> Result<Store, StoreError> {
    open_with(address, CONNECTIONS).await
}

/// [`open`] with at most `connections` connections, from 1.
pub async fn open_with(address: &Address, connections: u32) -> Result<Store, StoreError> {
    open_as(address, connections, SchemaChange::CreateOrMigrate).await
}

/// [`open_with`], with these changes of the schema at most.
pub async fn open_as(
    address: &Address,
    connections: u32,
    change: SchemaChange,
) -> Result<Store, StoreError> {
    if address.is_private() {
        create_if_missing(address).await?;
    }
    let pool = connect(address, connections).await?;
    check_version(address, &pool).await?;
    prepare(address, &pool, change).await?;
    Ok(Store { pool: Arc::new(ReplacedPool::new(pool)), address: address.clone() })
}

pub(crate) async fn connect(address: &Address, connections: u32) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(connections.max(1))
        .acquire_timeout(PATIENCE)
        .connect_with(address.options().options(SETTINGS))
        .await;
    match pool {
        Ok(pool) => Ok(pool),
        Err(error) => {
            let source = reason(address, error).await;
            Err(StoreError::Connect { place: address.to_string(), source })
        }
    }
}

/// A pool tries again and again and then says only that it took too long; what was in the way, a
/// single try tells.
async fn reason(address: &Address, error: sqlx::Error) -> sqlx::Error {
    if !matches!(error, sqlx::Error::PoolTimedOut) {
        return error;
    }
    PgConnection::connect_with(&address.options()).await.err().unwrap_or(error)
}

/// Refuses a server whose errors in the migrations would not name the cause.
async fn check_version(address: &Address, pool: &PgPool) -> Result<(), StoreError> {
    let number: i32 = sqlx::query_scalar("SELECT current_setting('server_version_num')::int")
        .fetch_one(pool)
        .await
        .map_err(StoreError::doing("ask the server for its version"))?;
    supported(number.unsigned_abs(), address)
}

/// `number` is the version as the server counts it: 140,001 for 14.1.
fn supported(number: u32, address: &Address) -> Result<(), StoreError> {
    let found = number / 10_000;
    if found >= LEAST_MAJOR {
        return Ok(());
    }
    Err(StoreError::TooOld { place: address.to_string(), found })
}

async fn create_if_missing(address: &Address) -> Result<(), StoreError> {
    let mut db = maintenance(address).await?;
    let doing = StoreError::doing("create the database");
    let name = address.database();
    let exists: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(name)
            .fetch_one(&mut db)
            .await
            .map_err(doing)?;
    if !exists {
        create(&mut db, name, None).await?;
    }
    db.close().await.map_err(doing)
}

pub(crate) async fn maintenance(address: &Address) -> Result<PgConnection, StoreError> {
    let options: PgConnectOptions = address.maintenance();
    let connected = PgConnection::connect_with(&options).await;
    connected.map_err(|source| StoreError::Connect { place: address.to_string(), source })
}

/// Creates a database. Another process may do the same at the same moment; that is as good.
pub(crate) async fn create(
    db: &mut PgConnection,
    name: &str,
    template: Option<&str>,
) -> Result<(), StoreError> {
    let template = template.unwrap_or("template0");
    let statement = format!("CREATE DATABASE {} TEMPLATE {}", quoted(name), quoted(template));
    // Names cannot be bound; these are our own and quoted.
    match sqlx::raw_sql(AssertSqlSafe(statement)).execute(db).await {
        Ok(_) => Ok(()),
        Err(sqlx::Error::Database(error)) if is_there_already(error.code().as_deref()) => Ok(()),
        Err(source) => Err(StoreError::doing("create the database")(source)),
    }
}

/// 42P04 duplicate_database; 23505 when both got as far as the catalogue (PostgreSQL, appendix A).
fn is_there_already(code: Option<&str>) -> bool {
    matches!(code, Some("42P04" | "23505"))
}

/// `name` as an SQL identifier.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_too_old_is_refused_with_the_remedy() {
        let address = Address::url("postgres://nearcrawl:secret@db.example.org/nearcrawl").unwrap();
        assert!(supported(150_000, &address).is_ok());
        let error = supported(140_011, &address).unwrap_err();
        assert!(!error.is_transient());
        let message = error.to_string();
        for part in ["Postgres 14", "db.example.org", "15 or later", "upgrade"] {
            assert!(message.contains(part), "{message}");
        }
        assert!(!message.contains("secret"), "{message}");
    }

    #[test]
    fn a_private_server_must_be_as_new_as_any_other() {
        assert_eq!(LEAST_MAJOR, cluster::LEAST_MAJOR);
    }
}
