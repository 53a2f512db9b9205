//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hierarchy::Registry;
use rir_loader::fetch::Mirror;
use rir_loader::read::Options;
use rir_loader::settle::CutLeaves;

/// Loads the registries' records of who holds which addresses.
///
/// Five regional Internet registries hand out the world's IP addresses:
/// AFRINIC (Africa), APNIC (Asia and Pacific), ARIN (North America), LACNIC
/// (Latin America) and RIPE NCC (Europe, Middle East). Each publishes a file
/// every day that lists every range of addresses with the company that holds
/// it. nearcrawl needs all five to know which addresses belong together.
///
/// Usually two commands are enough:
///
///     rir-loader fetch --dir registries
///     rir-loader load registries
///
/// Those files are open to everybody, and they say which ranges each company was given. Operators who have the
/// registries' WHOIS dumps as well (RIPE, APNIC, AFRINIC; by agreement ARIN and LACNIC) put them into the same directory:
/// they say how the companies divide their ranges among their customers. What each file is, is told by its content; it may
/// be plain, packed with gzip or zip, or come from standard input as `-`.
#[derive(Debug, Parser)]
#[command(name = "rir-loader", version, verbatim_doc_comment, max_term_width = 100, after_long_help = EXIT_CODES)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    done
  1    something else went wrong
  2    the command line could not be understood
  3    nothing is loaded, or there is no such company
  65   a file is malformed, cut short or damaged; the message says where
  66   a file or directory is not there
  69   Postgres or a registry cannot be reached, or Postgres is not installed
  130  stopped by Ctrl-C

Whatever goes wrong, the generation that was in use stays in use.";

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load registry files into Postgres, for the coordinator to use at once.
    ///
    /// Reads the files, builds the tree of address ranges, writes it to Postgres as a new generation and puts it to use. A running
    /// coordinator takes it over by itself.
    ///
    /// Either everything is loaded or nothing: a file that was cut short, or of which more than one in a hundred objects is
    /// malformed, is refused, with the file, the line and what is wrong, and the generation in use stays as it is. A few malformed
    /// objects are passed over and reported.
    Load(LoadArgs),
    /// Download today's files from the registries.
    ///
    /// Downloads the newest file of each registry, checks it against the MD5 sum that the registry publishes, and keeps it in DIR
    /// as `delegated-REGISTRY-extended-latest`.
    ///
    /// A file that is up to date is not downloaded again. A download that broke off is kept and goes on where it stopped, in the
    /// same run or in a later one.
    Fetch(FetchArgs),
    /// Count what is in registry files, or in the generation in use.
    ///
    /// Reads the files, builds the tree of address ranges in memory and counts what is in it; that needs no database. Without files it
    /// counts the generation that is in use.
    Stats(StatsArgs),
    /// Show who holds an address, or what a company holds.
    ///
    /// Prints the ranges around an address, from all addresses down to the smallest range that holds it, or the ranges of a
    /// company. With files it needs no database; without files it looks into the generation that is in use.
    Inspect(InspectArgs),
    /// Show what changed from one set of files to another.
    ///
    /// Compares what is held in two files or directories: ranges that are gone, new or resized, and those of which the company, the
    /// country or the registry changed. The word `loaded` stands for the generation that is in use.
    Diff(DiffArgs),
    /// Print the manual page (for `man -l -`).
    #[command(hide = true)]
    Man,
}

/// Where the database is.
#[derive(Debug, Args)]
pub(crate) struct DatabaseArgs {
    /// Where the private database lives when no database URL is given; the coordinator's directory.
    #[arg(long, value_name = "DIR", env = "NEARCRAWL_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// A Postgres to use instead of the private one, as postgres://user:password@host/database.
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
}

/// How files are read.
#[derive(Debug, Args)]
pub(crate) struct ReadingArgs {
    /// Use files, too, of which more than one in a hundred objects is malformed, without those objects; and load data, too,
    /// that have far fewer records of a registry than what is in use.
    #[arg(long)]
    pub(crate) force: bool,
    /// Cut IPv4 ranges larger than /ABOVE in which nothing smaller is recorded into subnets of /INTO, for example 16/22.
    #[arg(long, value_name = "ABOVE/INTO")]
    pub(crate) cut_v4: Option<CutLeaves>,
    /// The same for IPv6, for example 32/40.
    #[arg(long, value_name = "ABOVE/INTO")]
    pub(crate) cut_v6: Option<CutLeaves>,
}

impl ReadingArgs {
    /// As the library wants it.
    pub(crate) fn options(&self) -> Options {
        Options { force: self.force, cut_v4: self.cut_v4, cut_v6: self.cut_v6, ..Options::default() }
    }
}

/// Flags of `load`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input. Of delegated files at most one
    /// a registry; of dumps as many as there are.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `fetch`.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// Where to keep the files; made when it is not there.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Only this registry: afrinic, apnic, arin, lacnic or ripencc. May be given several times; all five without it.
    #[arg(long = "registry", value_name = "REGISTRY")]
    pub(crate) registries: Vec<Registry>,
    /// Take a registry's file from another place: the URL of the directory that holds the file and its `.md5`. May be given
    /// several times.
    #[arg(long = "base-url", value_name = "REGISTRY=URL", value_parser = Mirror::parse)]
    pub(crate) base_urls: Vec<Mirror>,
    /// Print what was done as a JSON list.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input; the generation in use without
    /// any.
    #[arg(value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// An address (193.0.6.139), a prefix (193.0.0.0/21), a range ("193.0.0.0 - 193.0.7.255"), IPv4 or IPv6, or the name or handle of
    /// a company.
    #[arg(value_name = "IP|CIDR|COMPANY")]
    pub(crate) what: String,
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input; the generation in use without
    /// any.
    #[arg(value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print a JSON list, outermost range first.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A registry file or a directory with such files, or `loaded`: what was before.
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// The same for what is now.
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Use files, too, of which more than one in a hundred objects is malformed, without those objects; and load data, too,
    /// that have far fewer records of a registry than what is in use.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
