//! The same hierarchy in Postgres: the time of the load beside a bare `\copy` of the same rows.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use cluster::{Cluster, Options};
use rir_loader::load::load;
use rir_loader::read::RegistryData;
use store::Address;

/// What was measured.
#[derive(Debug, Clone, Copy)]
pub struct InPostgres {
    /// From the hierarchy in memory to the commit of its generation.
    pub load: Duration,
    /// `psql \copy` of the same rows into tables with the same keys, in one transaction, from files
    /// that were written before.
    pub copy: Duration,
}

/// The same rows again, as files and back.
const EXPORT: [&str; 2] =
    [r"\copy subnets TO 'subnets.copy'", r"\copy companies TO 'companies.copy'"];
const IMPORT: &str = r"\set ON_ERROR_STOP on
BEGIN;
CREATE TABLE subnets_again (LIKE subnets INCLUDING ALL);
CREATE TABLE companies_again (LIKE companies INCLUDING ALL);
\copy companies_again FROM 'companies.copy'
\copy subnets_again FROM 'subnets.copy'
COMMIT;
";

/// Loads a hierarchy into a private Postgres in `dir`, which must not be there yet and is removed
/// again.
pub fn in_postgres(dir: &Path, data: &RegistryData) -> anyhow::Result<InPostgres> {
    std::fs::create_dir(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let measured = runtime.block_on(async {
        let cluster = Cluster::start(Options::new(dir)).await?;
        let measured = measure(&cluster, dir, data).await;
        cluster.stop().await;
        measured
    });
    std::fs::remove_dir_all(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    measured
}

async fn measure(cluster: &Cluster, dir: &Path, data: &RegistryData) -> anyhow::Result<InPostgres> {
    let store = store::open_with(&Address::private(cluster.socket_dir()), 3).await?;
    let begun = Instant::now();
    load(&store, data, true, begun, &|_| {}).await?;
    let load = begun.elapsed();
    store.close().await;
    let psql = Psql { socket_dir: cluster.socket_dir(), dir };
    for statement in EXPORT {
        psql.run(statement)?;
    }
    let begun = Instant::now();
    psql.run_file(IMPORT)?;
    let copy = begun.elapsed();
    Ok(InPostgres { load, copy })
}

/// The client of the cluster.
struct Psql<'c> {
    socket_dir: &'c Path,
    dir: &'c Path,
}

impl Psql<'_> {
    fn run(&self, statement: &str) -> anyhow::Result<()> {
        self.with(&["-c", statement])
    }

    fn run_file(&self, text: &str) -> anyhow::Result<()> {
        std::fs::write(self.dir.join("statements.sql"), text)?;
        self.with(&["-f", "statements.sql"])
    }

    fn with(&self, arguments: &[&str]) -> anyhow::Result<()> {
        let mut psql = Command::new("psql");
        psql.arg("-h").arg(self.socket_dir);
        psql.args(["-U", cluster::USER, "-d", "nearcrawl", "-X", "-q"]);
        let output =
            psql.args(arguments).current_dir(self.dir).output().context("cannot run psql")?;
        if !output.status.success() {
            bail!("psql: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(())
    }
}
