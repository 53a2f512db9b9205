//! The tables of a database, by the migrations that were applied to it.

use std::sync::LazyLock;

use sqlx::migrate::{AppliedMigration, Migrate as _, Migration, MigrationType, Migrator};
use sqlx::postgres::PgPool;
use sqlx::{PgConnection, SqlStr};

use crate::{Address, StoreError};

/// Version, description and SQL of every migration. A test compares the list with the directory.
const FILES: [(i64, &str, &str); 15] = [
    (1, "settings and policy", include_str!("../../../migrations/0001_settings_and_policy.sql")),
    (2, "registry", include_str!("../../../migrations/0002_registry.sql")),
    (3, "people", include_str!("../../../migrations/0003_people.sql")),
    (4, "agents", include_str!("../../../migrations/0004_agents.sql")),
    (5, "joining", include_str!("../../../migrations/0005_joining.sql")),
    (6, "hosts", include_str!("../../../migrations/0006_hosts.sql")),
    (7, "urls and handovers", include_str!("../../../migrations/0007_urls_and_handovers.sql")),
    (8, "searches and probes", include_str!("../../../migrations/0008_searches_and_probes.sql")),
    (9, "delegations", include_str!("../../../migrations/0009_delegations.sql")),
    (10, "calibration", include_str!("../../../migrations/0010_calibration.sql")),
    (11, "packages", include_str!("../../../migrations/0011_packages.sql")),
    (12, "loads", include_str!("../../../migrations/0012_loads.sql")),
    (13, "fetches", include_str!("../../../migrations/0013_fetches.sql")),
    (14, "activity", include_str!("../../../migrations/0014_activity.sql")),
    (15, "counts", include_str!("../../../migrations/0015_counts.sql")),
];

/// Every migration, in the binary.
pub(crate) static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| {
    let migrations = FILES.map(|(version, description, sql)| {
        let sql = SqlStr::from_static(sql);
        Migration::new(version, description.into(), MigrationType::Simple, sql, false)
    });
    Migrator::with_migrations(migrations.into())
});

/// The table of the applied migrations, as sqlx calls it.
const APPLIED: &str = "_sqlx_migrations";

/// What a program that opens a database may do to its schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaChange {
    /// Create it, or migrate that of an older version: a coordinator starts.
    CreateOrMigrate,
    /// Create it in an empty database. That of an older version is an error, because coordinators
    /// of that version may run.
    Create,
    /// Migrate that of an older version, because no coordinator runs. A database without one is an
    /// error.
    Migrate,
    /// Nothing: both are errors.
    None,
}

impl SchemaChange {
    fn may_create(self) -> bool {
        matches!(self, Self::CreateOrMigrate | Self::Create)
    }

    fn may_migrate(self) -> bool {
        matches!(self, Self::CreateOrMigrate | Self::Migrate)
    }
}

/// The schema of a database, compared with that of this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Schema {
    Missing,
    /// With this many of the migrations.
    Older(usize),
    Current,
}

/// Makes the schema that of this program, or says why it is not.
pub(crate) async fn prepare(
    address: &Address,
    pool: &PgPool,
    change: SchemaChange,
) -> Result<(), StoreError> {
    match compare(&applied(address, pool).await?)? {
        Schema::Current => Ok(()),
        Schema::Missing if !change.may_create() => Err(StoreError::NoSchema {
            place: address.to_string(),
            database: address.database().to_owned(),
        }),
        Schema::Older(applied) if !change.may_migrate() => Err(StoreError::Older {
            place: address.to_string(),
            applied,
            known: MIGRATIONS.iter().count(),
        }),
        Schema::Missing | Schema::Older(_) => migrate(pool).await,
    }
}

/// Applies the migrations that are missing.
pub(crate) async fn migrate(pool: &PgPool) -> Result<(), StoreError> {
    MIGRATIONS.run(pool).await.map_err(StoreError::Migrate)
}

/// The migrations that were applied. None in an empty database; one with tables of others only is
/// an error. Waits for a program that applies some.
async fn applied(address: &Address, pool: &PgPool) -> Result<Vec<AppliedMigration>, StoreError> {
    let acquired = pool.acquire().await;
    let mut connection = acquired.map_err(StoreError::doing("read the applied migrations"))?;
    connection.lock().await.map_err(StoreError::Migrate)?;
    let read = read(address, &mut connection).await;
    connection.unlock().await.map_err(StoreError::Migrate)?;
    read
}

async fn read(
    address: &Address,
    connection: &mut PgConnection,
) -> Result<Vec<AppliedMigration>, StoreError> {
    let applied = list(connection).await?;
    if applied.is_empty() {
        refuse_foreign_tables(address, connection).await?;
    }
    Ok(applied)
}

async fn list(connection: &mut PgConnection) -> Result<Vec<AppliedMigration>, StoreError> {
    let is_there: bool = sqlx::query_scalar("SELECT to_regclass($1) IS NOT NULL")
        .bind(APPLIED)
        .fetch_one(&mut *connection)
        .await
        .map_err(StoreError::doing("look for the applied migrations"))?;
    if !is_there {
        return Ok(Vec::new());
    }
    connection.list_applied_migrations(APPLIED).await.map_err(StoreError::Migrate)
}

/// Refuses a schema with tables, other than those of extensions: whoever mistypes a URL must not
/// get tables in the database of another program.
async fn refuse_foreign_tables(
    address: &Address,
    connection: &mut PgConnection,
) -> Result<(), StoreError> {
    let mut tables: Vec<String> = sqlx::query_scalar(
        "SELECT c.relname::text FROM pg_class c
         WHERE c.relkind IN ('r', 'p', 'f') AND c.relname <> $1
           AND c.relnamespace = quote_ident(current_schema())::regnamespace
           AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.classid = 'pg_class'::regclass
                           AND d.objid = c.oid AND d.deptype = 'e')
         ORDER BY 1 LIMIT 4",
    )
    .bind(APPLIED)
    .fetch_all(connection)
    .await
    .map_err(StoreError::doing("look for tables of other programs"))?;
    if tables.is_empty() {
        return Ok(());
    }
    if let Some(fourth) = tables.get_mut(3) {
        "…".clone_into(fourth);
    }
    Err(StoreError::ForeignTables {
        place: address.to_string(),
        database: address.database().to_owned(),
        tables: tables.join(", "),
    })
}

/// Released migrations never change, so that those of an older or newer version begin alike.
fn compare(applied: &[AppliedMigration]) -> Result<Schema, StoreError> {
    let known = MIGRATIONS.iter().as_slice();
    let mut both = applied.iter().zip(known);
    if both.any(|(one, other)| (one.version, &one.checksum) != (other.version, &other.checksum)) {
        return Err(StoreError::Unreleased);
    }
    if let Some(later) = applied.get(known.len()) {
        return Err(StoreError::Newer { version: later.version });
    }
    Ok(match applied.len() {
        0 => Schema::Missing,
        count if count < known.len() => Schema::Older(count),
        _ => Schema::Current,
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[tokio::test]
    async fn every_file_of_the_directory_is_embedded_as_it_is() {
        let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../migrations"));
        let expected = Migrator::new(directory).await.unwrap();
        let facts = |one: &Migration| {
            let text = (one.description.to_string(), one.sql.as_str().to_owned());
            (one.version, text, one.migration_type, one.checksum.to_vec(), one.no_tx)
        };
        let embedded: Vec<_> = MIGRATIONS.iter().map(facts).collect();
        assert_eq!(embedded, expected.iter().map(facts).collect::<Vec<_>>());
    }
}
