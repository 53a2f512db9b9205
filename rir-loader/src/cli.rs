//! Arguments of the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;
use hierarchy::{InvalidContact, Registry, SplitLeaves, check_contact};
use rir_loader::fetch::Mirror;
use rir_loader::read::Options;
use rir_loader::settle::SplitPolicy;

/// Loads the registries' records of who holds which addresses.
///
/// Five regional Internet registries give out the world's IP addresses: AFRINIC
/// (Africa), APNIC (Asia and Pacific), ARIN (North America), LACNIC (Latin America)
/// and RIPE NCC (Europe, Middle East). From their records nearcrawl builds a hierarchy
/// of address ranges, which shows which addresses belong together.
///
/// The records come in two kinds of files:
///
///   delegated files  Which ranges each registry gave to which company. Open to
///                    everybody, 30 MB in all, new every day.
///   WHOIS dumps      The registries' databases: also how companies divide their
///                    ranges among their customers. AFRINIC, APNIC and RIPE NCC
///                    publish them, ARIN and LACNIC give them by agreement; each
///                    registry has its own terms.
///
/// Delegated files are enough to begin with, and two commands:
///
///     rir-loader fetch --dir registries
///     rir-loader load registries
///
/// WHOIS dumps go into the same directory; `fetch --whois` downloads those that are
/// published. The format of a file is recognised by its content. It may be plain,
/// packed with gzip or zip, or come from standard input as `-`.
///
/// Each load makes a generation. The newest one is in use. `stats`, `inspect` and
/// `diff` look at it, or at files without any database.
#[derive(Debug, Parser)]
#[command(
    name = "rir-loader",
    version,
    verbatim_doc_comment,
    max_term_width = 100,
    after_long_help = EXIT_CODES
)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub(crate) command: Command,
}

const EXIT_CODES: &str = "\
Exit codes:
  0    success
  1    another error
  2    invalid command line
  3    nothing is loaded, or there is no such company
  65   a file is malformed, cut short or damaged; the message says where
  66   a file or directory does not exist
  69   Postgres or a registry cannot be reached, or Postgres is not installed
  130  stopped by Ctrl-C

After any error, the generation that was in use stays in use.";

/// Subcommands of the program.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Load registry files into Postgres, for the coordinator to use at once.
    ///
    /// Reads the files, builds the hierarchy of address ranges, writes it to Postgres as a new
    /// generation and puts it to use. A running coordinator takes it over by itself.
    ///
    /// Either everything is loaded or nothing: a file that was cut short, or of which more than one
    /// object in a hundred is malformed, is refused, with the file, the line and what is wrong, and
    /// the generation in use stays as it is. A few malformed objects are skipped and reported.
    ///
    /// A running coordinator moves delegations, searches and pins to where their ranges are in the
    /// new generation. With --dry-run nothing is loaded, and you see what would move.
    Load(LoadArgs),
    /// Split subnets whose addresses are in different places.
    ///
    /// Adds virtual subnets to the generation in use, as a new generation, where the agents'
    /// measurements showed that one subnet is in several places; the coordinator calls it by
    /// itself. Virtual subnets that cross what the registries record are left out.
    Split(CommonArgs),
    /// Download today's files from the registries.
    ///
    /// Downloads the newest delegated file of each registry, checks it against the MD5 sum that the
    /// registry publishes, and keeps it in DIR as `delegated-REGISTRY-extended-latest`. With
    /// --whois it downloads the published WHOIS dumps, too, and says how to obtain the others.
    ///
    /// A file that is up to date is not downloaded again. An interrupted download is kept and
    /// continued, in the same run or in a later one. Each server is asked for one file at a time.
    Fetch(FetchArgs),
    /// Count what is in registry files, or in the generation in use.
    ///
    /// Reads the files, builds the hierarchy in memory and counts what is in it, without a
    /// database. Without files it counts the generation in use.
    Stats(FilesArgs),
    /// Show who holds an address, or what a company holds.
    ///
    /// Prints the ranges around an address, from all addresses down to the smallest range that
    /// contains it, or the ranges of a company. With files it needs no database; without files it
    /// looks into the generation in use.
    Inspect(InspectArgs),
    /// Show what changed from one set of files to another.
    ///
    /// Compares what is held in two files or directories: ranges that are gone, new or resized, and
    /// those of which the company, the country or the registry changed. The word `loaded` stands
    /// for the generation in use.
    Diff(DiffArgs),
    /// Print the completions of a shell, for its directory of completions.
    Completions {
        /// The shell, for example bash.
        shell: Shell,
    },
    /// Print the manual; read it with `rir-loader man | man -l -`.
    Man,
}

/// Location of the database, and the kind of output.
#[derive(Debug, Args)]
pub(crate) struct CommonArgs {
    /// The coordinator's data directory, whose private database is used where no database URL is
    /// given; by default /var/lib/nearcrawl for root and ~/.local/share/nearcrawl for others.
    #[arg(long, value_name = "DIR", env = "NEARCRAWL_DATA_DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// A Postgres to use instead of the private one, as postgres://user:password@host/database.
    #[arg(long, value_name = "URL", env = "DATABASE_URL", hide_env_values = true)]
    pub(crate) database_url: Option<String>,
    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Files to look at.
#[derive(Debug, Args)]
pub(crate) struct FilesArgs {
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input;
    /// the generation in use without any.
    #[arg(value_name = "FILE")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// How files are read.
#[derive(Debug, Args)]
pub(crate) struct ReadArgs {
    /// Accept what would be refused: a file of which more than one object in a hundred is malformed
    /// (without those objects), and data with over a fifth fewer records of a registry than what is
    /// in use.
    #[arg(long)]
    pub(crate) force: bool,
    /// Keep records of special-purpose space, such as 127.0.0.0/8, 10.0.0.0/8 and fc00::/7. The
    /// coordinator then delegates and crawls hosts there: only for tests and closed networks.
    #[arg(long)]
    pub(crate) special_purpose: bool,
    /// Split IPv4 ranges larger than /ABOVE in which nothing smaller is recorded into virtual
    /// subnets of /INTO, for example 16/22, so that different agents can get them.
    #[arg(long, value_name = "ABOVE/INTO", value_parser = SplitLeaves::parse_v4)]
    pub(crate) split_v4: Option<SplitLeaves>,
    /// The same for IPv6, for example 32/40.
    #[arg(long, value_name = "ABOVE/INTO", value_parser = SplitLeaves::parse_v6)]
    pub(crate) split_v6: Option<SplitLeaves>,
}

impl ReadArgs {
    pub(crate) fn options(&self) -> Options {
        let split = SplitPolicy { v4: self.split_v4, v6: self.split_v6 };
        let special_purpose = self.special_purpose;
        Options { force: self.force, special_purpose, split, ..Options::default() }
    }
}

/// Flags of `load`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input.
    /// At most one delegated file for each registry; any number of dumps.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadArgs,
    /// Change nothing: print what the load would change for the delegations, open searches, pins
    /// and exclusions of the generation in use.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}

/// Flags of `fetch`.
#[derive(Debug, Args)]
pub(crate) struct FetchArgs {
    /// Directory for the files; created when it does not exist.
    #[arg(long, value_name = "DIR")]
    pub(crate) dir: PathBuf,
    /// Only this registry: afrinic, apnic, arin, lacnic or ripencc. May be given several times; all
    /// five without it.
    #[arg(long = "registry", value_name = "REGISTRY")]
    pub(crate) registries: Vec<Registry>,
    /// Download the published WHOIS dumps, too (AFRINIC, APNIC, RIPE; several hundred megabytes).
    /// Their terms are shown; by downloading you accept them.
    #[arg(long)]
    pub(crate) whois: bool,
    /// Take a registry's delegated file from another server: the URL of the directory with the file
    /// and its `.md5`. May be given several times.
    #[arg(long = "base-url", value_name = "REGISTRY=URL", value_parser = Mirror::parse)]
    pub(crate) base_urls: Vec<Mirror>,
    /// The same for a registry's WHOIS dumps.
    #[arg(
        long = "whois-base-url",
        value_name = "REGISTRY=URL",
        value_parser = Mirror::parse,
        requires = "whois"
    )]
    pub(crate) whois_base_urls: Vec<Mirror>,
    /// A mail address or URL at which the registries can reach you; sent to their servers in
    /// `User-Agent`.
    #[arg(long, value_name = "CONTACT", env = "NEARCRAWL_CONTACT", value_parser = parse_contact)]
    pub(crate) contact: Option<String>,
    /// Print the results as a JSON list.
    #[arg(long)]
    pub(crate) json: bool,
}

fn parse_contact(text: &str) -> Result<String, InvalidContact> {
    check_contact(text).map(|()| text.to_owned())
}

/// Flags of `inspect`.
#[derive(Debug, Args)]
pub(crate) struct InspectArgs {
    /// An address (193.0.6.139), a prefix (193.0.0.0/21), a range ("193.0.0.0 - 193.0.7.255"), IPv4
    /// or IPv6, or the name or handle of a company.
    #[arg(value_name = "IP|CIDR|COMPANY")]
    pub(crate) query: String,
    #[command(flatten)]
    pub(crate) files: FilesArgs,
}

/// Flags of `diff`.
#[derive(Debug, Args)]
pub(crate) struct DiffArgs {
    /// A registry file or a directory with such files, or `loaded`: the older data.
    #[arg(value_name = "A")]
    pub(crate) before: PathBuf,
    /// The same for the newer data.
    #[arg(value_name = "B")]
    pub(crate) after: PathBuf,
    /// Accept a file of which more than one object in a hundred is malformed, without those
    /// objects.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) common: CommonArgs,
}
