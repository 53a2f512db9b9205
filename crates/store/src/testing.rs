//! One database per test, copied from a template, in the throwaway cluster of the test run.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use model::UnixMillis;
use sqlx::{AssertSqlSafe, Connection, PgConnection, Postgres, Transaction};

use crate::commit::commit;
use crate::open::{create, maintenance, open_with, quoted};
use crate::schema::{MIGRATIONS, migrate};
use crate::urls::{NewUrl, queue_in};
use crate::{Address, Store, StoreError};

/// The advisory lock under which the template is made.
const TEMPLATE_LOCK: i64 = 0x7465_6d70;

/// Tells apart the databases of one process.
static COUNT: AtomicU32 = AtomicU32::new(0);

/// An empty database with today's schema; dropped with the value.
#[derive(Debug)]
pub struct TestDatabase {
    store: Store,
    socket_dir: PathBuf,
    name: String,
}

impl TestDatabase {
    /// Makes one; the first call of a test run starts the cluster.
    pub async fn new() -> Result<Self, StoreError> {
        let started = tokio::task::spawn_blocking(cluster::testing::socket_dir).await;
        let socket_dir = match started {
            Ok(outcome) => outcome.map_err(StoreError::TestCluster)?,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        let name = format!("test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let template = template(&socket_dir).await?;
        let address = Address::private_database(&socket_dir, &name);
        let mut db = maintenance(&address).await?;
        create(&mut db, &name, Some(&template)).await?;
        let store = open_with(&address, 5).await?;
        Ok(Self { store, socket_dir, name })
    }

    /// The open database.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Its URL, for a process under test.
    pub fn url(&self) -> String {
        let socket = self.socket_dir.display().to_string().replace('/', "%2F");
        format!("postgres://nearcrawl@{socket}/{}", self.name)
    }
}

/// Runs a statement of a test's own, for a state that no function of this crate leads to. Says how
/// many rows it touched.
pub async fn execute(store: &Store, statement: &'static str) -> Result<u64, StoreError> {
    let done = sqlx::query(statement).execute(&store.pool()).await;
    done.map(|done| done.rows_affected()).map_err(StoreError::doing("run a statement of a test"))
}

/// Begins a transaction with a statement of a test's own, for one that others have to wait for.
pub async fn begin(
    store: &Store,
    statement: &'static str,
) -> Result<Transaction<'static, Postgres>, StoreError> {
    let doing = StoreError::doing("begin a transaction of a test");
    let mut transaction = store.begin().await.map_err(doing)?;
    sqlx::query(statement).execute(&mut *transaction).await.map_err(doing)?;
    Ok(transaction)
}

/// Queues URLs for routing, as packages of no agent in particular bring them. Returns how many were
/// not queued yet.
pub async fn queue(store: &Store, urls: &[NewUrl], now: UnixMillis) -> Result<u64, StoreError> {
    let doing = StoreError::doing("queue URLs");
    let mut tx = store.begin().await.map_err(doing)?;
    let queued = queue_in(&mut tx, urls, None, now).await?;
    commit(tx).await.map_err(doing)?;
    Ok(queued)
}

/// Most ingestions of one package; an audit expects 1, or 0 without packages.
pub async fn most_ingestions(store: &Store) -> Result<i64, StoreError> {
    sqlx::query_scalar("SELECT coalesce(max(ingestions), 0)::bigint FROM packages")
        .fetch_one(&store.pool())
        .await
        .map_err(StoreError::doing("audit the ledger of packages"))
}

/// When the session that carries the leadership was last heard of; none without a leader.
pub async fn leader_heard_at(store: &Store) -> Result<Option<String>, StoreError> {
    sqlx::query_scalar(
        "SELECT s.state_change::text FROM pg_locks l JOIN pg_stat_activity s USING (pid)
         WHERE l.locktype = 'advisory' AND l.granted AND s.datname = current_database()",
    )
    .fetch_optional(&store.pool())
    .await
    .map_err(StoreError::doing("ask when the leader was heard of"))
}

/// Tables that grow with the crawl, as their comments say, and partitions of such tables, as far as
/// they have this number of rows.
pub async fn growing_tables(store: &Store, rows: u32) -> Result<Vec<String>, StoreError> {
    sqlx::query_scalar(
        "SELECT c.relname::text FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
         WHERE c.relkind IN ('r', 'p') AND c.relnamespace = 'public'::regnamespace
           AND coalesce(obj_description(c.oid, 'pg_class'),
                        obj_description(i.inhparent, 'pg_class')) LIKE '%Grows with%'
           AND greatest(c.reltuples, 0) >= $1 ORDER BY 1",
    )
    .bind(f64::from(rows))
    .fetch_all(&store.pool())
    .await
    .map_err(StoreError::doing("list the tables that grow"))
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let socket_dir = self.socket_dir.clone();
        let name = self.name.clone();
        // Runs on a thread of its own, because a runtime may be running on this one. A failure
        // costs only disk space, and the cluster goes with the test run.
        let dropping = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.map(|runtime| runtime.block_on(drop_database(&socket_dir, &name)))
        });
        if !matches!(dropping.join(), Ok(Ok(Ok(())))) {
            tracing::warn!(database = self.name, "a test database could not be dropped");
        }
    }
}

async fn drop_database(socket_dir: &Path, name: &str) -> Result<(), StoreError> {
    let mut db = maintenance(&Address::private(socket_dir)).await?;
    let statement = format!("DROP DATABASE {} WITH (FORCE)", quoted(name));
    let dropped = sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut db).await;
    dropped.map(drop).map_err(StoreError::doing("drop a test database"))
}

/// The name of the template with today's schema; made by whichever test comes first.
async fn template(socket_dir: &Path) -> Result<String, StoreError> {
    let name = template_name();
    let mut db = maintenance(&Address::private(socket_dir)).await?;
    let doing = StoreError::doing("make the template of the test databases");
    sqlx::query("SELECT pg_advisory_lock($1)")
        .bind(TEMPLATE_LOCK)
        .execute(&mut db)
        .await
        .map_err(doing)?;
    let exists: bool =
        sqlx::query_scalar("SELECT EXISTS (SELECT FROM pg_database WHERE datname = $1)")
            .bind(&name)
            .fetch_one(&mut db)
            .await
            .map_err(doing)?;
    if !exists {
        make_template(&mut db, socket_dir, &name).await?;
    }
    db.close().await.map_err(doing)?;
    Ok(name)
}

/// Migrated under another name first: what bears the template's name is complete.
async fn make_template(
    db: &mut PgConnection,
    socket_dir: &Path,
    name: &str,
) -> Result<(), StoreError> {
    let unfinished = format!("{name}_unfinished");
    create(db, &unfinished, None).await?;
    let address = Address::private_database(socket_dir, &unfinished);
    let pool = sqlx::postgres::PgPoolOptions::new()
        .max_connections(1)
        .connect_with(address.options())
        .await
        .map_err(|source| StoreError::Connect { place: address.to_string(), source })?;
    migrate(&pool).await?;
    pool.close().await;
    let statement = format!("ALTER DATABASE {} RENAME TO {}", quoted(&unfinished), quoted(name));
    let renamed = sqlx::raw_sql(AssertSqlSafe(statement)).execute(db).await;
    renamed.map(drop).map_err(StoreError::doing("make the template of the test databases"))
}

/// Changes with every migration.
fn template_name() -> String {
    let sums = MIGRATIONS.iter().flat_map(|migration| migration.checksum.iter());
    let folded = sums.fold(0_u64, |all, byte| all.rotate_left(7) ^ u64::from(*byte));
    format!("template_{folded:016x}")
}
