//! The same hierarchy in Postgres: the time of the load beside a bare `\copy` of the same rows, and
//! of a lookup.

use std::hint::black_box;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use cluster::{Cluster, Options};
use hierarchy::Hierarchy;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
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
    /// One lookup of a random IPv4 address by SQL, inside the server.
    pub lookup: Duration,
    /// One in the hierarchy in memory, just after.
    pub in_memory: Duration,
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
/// A ladder: the last subnet that begins at or before the address, then up by parents, from index
/// to index.
const LADDER: &str =
    "CREATE INDEX ladder ON subnets (generation, first, ordinal) INCLUDE (parent, last)";
const ANALYZE: &str = "VACUUM ANALYZE subnets";
/// Lookups of one statement.
const LOOKUPS: u32 = 20_000;
/// Addresses for memory that are made at a time, few enough to leave the cache to the lookups; the
/// times that they are made in a turn; turns, of which the median counts.
const AT_ONCE: usize = 512;
const TIMES: u32 = 400;
const TURNS: usize = 15;

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
    for statement in [LADDER, ANALYZE] {
        psql.run(statement)?;
    }
    let took = psql.run(&lookups(LOOKUPS))?.trim().parse::<f64>().context("no time came back")?;
    let lookup = Duration::from_secs_f64(took / f64::from(LOOKUPS));
    Ok(InPostgres { load, copy, lookup, in_memory: in_memory(&data.hierarchy) })
}

/// What one of many lookups of random IPv4 addresses takes, each turn with others.
fn in_memory(hierarchy: &Hierarchy) -> Duration {
    let mut chance = ChaCha8Rng::seed_from_u64(1);
    let mut turns: Vec<Duration> = (0..TURNS).map(|_| turn(hierarchy, &mut chance)).collect();
    turns.sort();
    turns[TURNS / 2]
}

fn turn(hierarchy: &Hierarchy, chance: &mut ChaCha8Rng) -> Duration {
    let mut took = Duration::ZERO;
    for _ in 0..TIMES {
        let addresses: Vec<IpAddr> =
            (0..AT_ONCE).map(|_| Ipv4Addr::from(chance.random::<u32>()).into()).collect();
        let begun = Instant::now();
        for address in &addresses {
            black_box(hierarchy.smallest(*black_box(address)));
        }
        took += begun.elapsed();
    }
    took.div_f64(f64::from(TIMES) * AT_ONCE as f64)
}

/// A statement that looks so many random addresses up and says how many seconds that took, made
/// addresses left out.
fn lookups(count: u32) -> String {
    format!(
        "CREATE TEMP TABLE wanted AS
             SELECT '0.0.0.0'::inet + floor(random() * 4294967296)::bigint AS address FROM \
             generate_series(1, {count});
         CREATE TEMP TABLE took (seconds double precision);
         DO $$
         DECLARE begun timestamptz := clock_timestamp(); live integer; one record;
         BEGIN
             SELECT id INTO live FROM generations WHERE state = 'live';
             FOR one IN SELECT address FROM wanted LOOP
                 PERFORM ordinal FROM (
                     WITH RECURSIVE up AS (
                         (SELECT ordinal, parent, last FROM subnets
                          WHERE generation = live AND first <= one.address
                          ORDER BY first DESC, ordinal DESC LIMIT 1)
                         UNION ALL
                         SELECT s.ordinal, s.parent, s.last FROM up
                         JOIN subnets s ON s.generation = live AND s.ordinal = up.parent
                         WHERE up.last < one.address)
                     SELECT ordinal FROM up WHERE last >= one.address) AS smallest;
             END LOOP;
             INSERT INTO took VALUES (extract(epoch FROM clock_timestamp() - begun));
         END $$;
         SELECT seconds FROM took;"
    )
}

/// The client of the cluster.
struct Psql<'c> {
    socket_dir: &'c Path,
    dir: &'c Path,
}

impl Psql<'_> {
    fn run(&self, statement: &str) -> anyhow::Result<String> {
        self.with(&["-c", statement])
    }

    fn run_file(&self, text: &str) -> anyhow::Result<String> {
        std::fs::write(self.dir.join("statements.sql"), text)?;
        self.with(&["-f", "statements.sql"])
    }

    fn with(&self, arguments: &[&str]) -> anyhow::Result<String> {
        let mut psql = Command::new("psql");
        psql.arg("-h").arg(self.socket_dir).args([
            "-U",
            cluster::USER,
            "-d",
            "nearcrawl",
            "-X",
            "-q",
            "-A",
            "-t",
        ]);
        let output =
            psql.args(arguments).current_dir(self.dir).output().context("cannot run psql")?;
        if !output.status.success() {
            bail!("psql: {}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
