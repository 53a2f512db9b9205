//! Time of the loader beside a program that only unpacks the files.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use crawl_bench::process::usage::Usage;
use rir_loader::read::{Contents, Options, read};

use super::postgres::{InPostgres, in_postgres};

/// What was measured.
#[derive(Debug, Clone)]
pub struct Timing {
    /// `zcat | wc -c` of all files, one after the other.
    pub unpack: Duration,
    /// The loader, from the first byte to a hierarchy that answers.
    pub load: Duration,
    pub bytes: u64,
    /// Ranges that were read.
    pub ranges: u64,
    /// Subnets of the hierarchy.
    pub subnets: u64,
    /// Companies of the hierarchy.
    pub companies: u64,
    /// Bytes of the subnets in memory.
    pub heap: u64,
    /// Most memory that this process had until the hierarchy was there, in bytes.
    pub peak: u64,
    /// The same in Postgres, where asked for.
    pub postgres: Option<InPostgres>,
}

/// Reads every registry file of a directory, first with `zcat`, then with the loader; then loads
/// what was read into a Postgres of its own in the directory `database`, where one is given.
pub fn time(dir: &Path, database: Option<&Path>) -> anyhow::Result<Timing> {
    let files = rir_loader::files::files(&[dir.to_owned()])?;
    let begun = Instant::now();
    let bytes = files.iter().map(unpacked).sum::<anyhow::Result<u64>>()?;
    let unpack = begun.elapsed();
    let begun = Instant::now();
    let nested = read(&files, Options::default(), &|_| {})?;
    let load = begun.elapsed();
    let peak = Usage::read(std::process::id()).peak_bytes;
    let ranges = nested.files.iter().map(|file| match &file.contents {
        Contents::Whois(report) => report.ranges.iter().sum(),
        _ => 0,
    });
    Ok(Timing {
        unpack,
        load,
        bytes,
        ranges: ranges.sum(),
        subnets: nested.hierarchy.len() as u64,
        companies: nested.hierarchy.companies().len() as u64,
        heap: nested.hierarchy.heap_bytes() as u64,
        peak,
        postgres: database.map(|dir| in_postgres(dir, &nested)).transpose()?,
    })
}

/// What `zcat FILE | wc -c` says.
fn unpacked(file: &PathBuf) -> anyhow::Result<u64> {
    let mut zcat =
        Command::new("zcat").arg(file).stdout(Stdio::piped()).spawn().context("cannot run zcat")?;
    let pipe = zcat.stdout.take().context("zcat has no output")?;
    let count = Command::new("wc").arg("-c").stdin(pipe).output().context("cannot run wc")?;
    if !zcat.wait()?.success() {
        bail!("zcat cannot unpack {}", file.display());
    }
    String::from_utf8_lossy(&count.stdout).trim().parse().context("wc printed no number")
}

/// Some lines for a person.
impl fmt::Display for Timing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let load = self.load.as_secs_f64();
        let unpack = self.unpack.as_secs_f64();
        let megabytes = self.bytes as f64 / 1e6;
        writeln!(f, "{} ranges in {megabytes:.0} MB of text", self.ranges)?;
        writeln!(f, "zcat | wc -c: {unpack:.1} s")?;
        writeln!(
            f,
            "loader:       {load:.1} s, {:.2} times as long, {:.0} MB/s",
            load / unpack,
            megabytes / load
        )?;
        let each = self.heap as f64 / self.subnets as f64;
        writeln!(
            f,
            "hierarchy:    {} subnets of {each:.1} bytes, {} companies",
            self.subnets, self.companies
        )?;
        writeln!(f, "peak memory:  {:.0} MB", self.peak as f64 / 1e6)?;
        let Some(postgres) = &self.postgres else { return Ok(()) };
        let load = postgres.load.as_secs_f64();
        let copy = postgres.copy.as_secs_f64();
        writeln!(f, "psql \\copy:   {copy:.1} s")?;
        writeln!(f, "Postgres:     loaded in {load:.1} s, {:.2} times as long", load / copy)
    }
}
