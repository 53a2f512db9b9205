//! `nearcrawl-registry`: writes synthetic full-size registry dumps and times the loader on them.

use std::path::PathBuf;

use anyhow::Context;
use clap::{Parser, Subcommand};
use tests::registry::{make, time};

/// Made-up registry dumps in full size, and how long the loader takes for them.
#[derive(Debug, Parser)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Write the dumps; about 0.5 GB at full size.
    Make {
        /// Where to; made when it is not there.
        dir: PathBuf,
        /// Size, of today's.
        #[arg(long, default_value_t = 1.0)]
        scale: f64,
        /// The same seed makes the same files.
        #[arg(long, default_value_t = 7)]
        seed: u64,
    },
    /// Read them, beside `zcat | wc -c` of the same files.
    Time {
        /// Where they are.
        dir: PathBuf,
        /// Load them into a Postgres of its own in this new directory, too, beside `psql \copy`; it
        /// is removed again.
        #[arg(long)]
        database: Option<PathBuf>,
    },
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Make { dir, scale, seed } => {
            std::fs::create_dir_all(&dir)
                .with_context(|| format!("cannot make {}", dir.display()))?;
            let made = make(&dir, scale, seed)?;
            println!("{} ranges, {} organisations", made.nets, made.organisations);
        }
        Command::Time { dir, database } => print!("{}", time(&dir, database.as_deref())?),
    }
    Ok(())
}
