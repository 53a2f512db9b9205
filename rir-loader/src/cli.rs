//! What can be said on the command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use hierarchy::Registry;
use rir_loader::fetch::Mirror;
use rir_loader::read::Options;
use rir_loader::settle::CutLeaves;

/// Loads the registries' records of who holds which addresses.
///
/// Five regional Internet registries hand out the world's IP addresses: AFRINIC
/// (Africa), APNIC (Asia and Pacific), ARIN (North America), LACNIC (Latin America)
/// and RIPE NCC (Europe, Middle East). Out of their records nearcrawl builds a tree
/// of address ranges, and from that it knows which addresses belong together.
///
/// The records come in two kinds of files:
///
///   delegated files  Which ranges each registry gave to which company. Open to
///                    everybody, 30 MB in all, new every day.
///   WHOIS dumps      The registries' databases: also how companies divide their
///                    ranges among their customers. AFRINIC, APNIC and RIPE NCC put
///                    them on a server, ARIN and LACNIC give them by agreement;
///                    each registry has its own terms.
///
/// Delegated files are enough to begin with, and two commands:
///
///     rir-loader fetch --dir registries
///     rir-loader load registries
///
/// WHOIS dumps go into the same directory; `fetch --whois` gets those it can. What
/// a file is, its content tells. It may be plain, packed with gzip or zip, or come
/// from standard input as `-`.
///
/// What a load makes is called a generation. The newest one is in use. `stats`,
/// `inspect` and `diff` look at it, or at files without any database.
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
    /// Reads the files, builds the tree of address ranges, writes it to Postgres as a new
    /// generation and puts it to use. A running coordinator takes it over by itself.
    ///
    /// Either everything is loaded or nothing: a file that was cut short, or of which more than one
    /// in a hundred objects is malformed, is refused, with the file, the line and what is wrong,
    /// and the generation in use stays as it is. A few malformed objects are passed over and
    /// reported.
    ///
    /// A running coordinator moves delegations, searches and pins to where their ranges are in the
    /// new generation. With --dry-run nothing is loaded, and you see what would move.
    Load(LoadArgs),
    /// Cut subnets that are not in one place.
    ///
    /// Where the coordinator's searches found that addresses of one range are in different places,
    /// the parts become subnets of their own. Makes a generation out of the one in use and puts it
    /// to use, as `load` does; the coordinator calls it by itself. Parts that cross what the
    /// registries record are left out.
    Cut(CutArgs),
    /// Download today's files from the registries.
    ///
    /// Downloads the newest file of each registry, checks it against the MD5 sum that the registry
    /// publishes, and keeps it in DIR as `delegated-REGISTRY-extended-latest`. With --whois it
    /// downloads the WHOIS dumps, too, of those registries that give them to everybody, and says
    /// how one gets those of the others.
    ///
    /// A file that is up to date is not downloaded again. A download that broke off is kept and
    /// goes on where it stopped, in the same run or in a later one. Each server is asked for one
    /// file at a time.
    Fetch(FetchArgs),
    /// Count what is in registry files, or in the generation in use.
    ///
    /// Reads the files, builds the tree of address ranges in memory and counts what is in it; that
    /// needs no database. Without files it counts the generation that is in use.
    Stats(StatsArgs),
    /// Show who holds an address, or what a company holds.
    ///
    /// Prints the ranges around an address, from all addresses down to the smallest range that
    /// holds it, or the ranges of a company. With files it needs no database; without files it
    /// looks into the generation that is in use.
    Inspect(InspectArgs),
    /// Show what changed from one set of files to another.
    ///
    /// Compares what is held in two files or directories: ranges that are gone, new or resized, and
    /// those of which the company, the country or the registry changed. The word `loaded` stands
    /// for the generation that is in use.
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
    /// Use what would be refused: a file of which more than one in a hundred objects is malformed
    /// (without those objects), and data with over a fifth fewer records of a registry than what is
    /// in use.
    #[arg(long)]
    pub(crate) force: bool,
    /// Cut IPv4 ranges larger than /ABOVE in which nothing smaller is recorded into virtual subnets
    /// of /INTO, for example 16/22, so that their parts can go to different agents.
    #[arg(long, value_name = "ABOVE/INTO")]
    pub(crate) cut_v4: Option<CutLeaves>,
    /// The same for IPv6, for example 32/40.
    #[arg(long, value_name = "ABOVE/INTO")]
    pub(crate) cut_v6: Option<CutLeaves>,
}

impl ReadingArgs {
    /// As the library wants it.
    pub(crate) fn options(&self) -> Options {
        Options {
            force: self.force,
            cut_v4: self.cut_v4,
            cut_v6: self.cut_v6,
            ..Options::default()
        }
    }
}

/// Flags of `load`.
#[derive(Debug, Args)]
pub(crate) struct LoadArgs {
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input.
    /// Of delegated files at most one a registry; of dumps as many as there are.
    #[arg(required = true, value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) reading: ReadingArgs,
    /// Change nothing: print what the load would mean for the delegations, open searches, pins and
    /// exclusions of the generation in use.
    #[arg(long)]
    pub(crate) dry_run: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print the report as one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Flags of `cut`.
#[derive(Debug, Args)]
pub(crate) struct CutArgs {
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
    /// Only this registry: afrinic, apnic, arin, lacnic or ripencc. May be given several times; all
    /// five without it.
    #[arg(long = "registry", value_name = "REGISTRY")]
    pub(crate) registries: Vec<Registry>,
    /// Fetch the WHOIS dumps, too, that registries give to everybody (AFRINIC, APNIC, RIPE; several
    /// hundred megabytes). Their terms are shown; by fetching you accept them.
    #[arg(long)]
    pub(crate) whois: bool,
    /// Take a registry's delegated file from another place: the URL of the directory that holds the
    /// file and its `.md5`. May be given several times.
    #[arg(long = "base-url", value_name = "REGISTRY=URL", value_parser = Mirror::parse)]
    pub(crate) base_urls: Vec<Mirror>,
    /// The same for a registry's WHOIS dumps.
    #[arg(long = "whois-base-url", value_name = "REGISTRY=URL", value_parser = Mirror::parse, requires = "whois")]
    pub(crate) whois_base_urls: Vec<Mirror>,
    /// A mail address or URL at which the registries can reach you; it is told to their servers in
    /// `User-Agent`.
    #[arg(long, value_name = "CONTACT", env = "NEARCRAWL_CONTACT", value_parser = contact)]
    pub(crate) contact: Option<String>,
    /// Print what was done as a JSON list.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What may stand in a header, and in parentheses there.
fn contact(text: &str) -> Result<String, String> {
    let fits = |letter: char| letter.is_ascii_graphic() && !"()\\".contains(letter);
    if !text.is_empty() && text.chars().all(fits) {
        Ok(text.to_owned())
    } else {
        Err("a mail address or a URL is wanted, without blanks and parentheses".to_owned())
    }
}

/// Flags of `stats`.
#[derive(Debug, Args)]
pub(crate) struct StatsArgs {
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input;
    /// the generation in use without any.
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
    /// An address (193.0.6.139), a prefix (193.0.0.0/21), a range ("193.0.0.0 - 193.0.7.255"), IPv4
    /// or IPv6, or the name or handle of a company.
    #[arg(value_name = "IP|CIDR|COMPANY")]
    pub(crate) what: String,
    /// Registry files (plain, gzip or zip), directories with such files, or `-` for standard input;
    /// the generation in use without any.
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
    /// Use a file, too, of which more than one in a hundred objects is malformed, without those
    /// objects.
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    /// Print one JSON object.
    #[arg(long)]
    pub(crate) json: bool,
}
