//! Here is the owner's file: what may this agent do? (TOML; see `agent.example.toml` for every key)
//!
//! The file as written ([`raw`]) is turned into a [`Config`] that can only hold valid values
//! ([`check`]). Every mistake is told with its line and column and with what to write instead.
//! Unknown keys are mistakes.

mod check;
mod location;
mod raw;

use std::{
    net::{IpAddr, SocketAddr},
    path::{Path, PathBuf},
    time::Duration,
};

use model::ProbeMethod;
use protocol::enrol::AgentProfile;
use url::Url;

use crate::{guard::GuardRules, spans::Spans};
use location::Location;

/// The owner's rules. Nothing that a coordinator sends changes them.
#[derive(Debug, Clone)]
pub struct Config {
    /// Base URL of the coordinator.
    pub coordinator: Url,
    /// What the owner says about the machine.
    pub profile: AgentProfile,
    /// When the agent may work.
    pub spans: Spans,
    /// Where the agent keeps its key, frontier and packages; none leaves it to the program.
    pub data_dir: Option<PathBuf>,
    /// Source address of everything that is sent.
    pub bind: Option<IpAddr>,
    /// Name servers; none means those of the system.
    pub resolver: Vec<SocketAddr>,
    /// What may be reached.
    pub guard: GuardRules,
    /// How round trips may be measured.
    pub probe: ProbeRules,
    /// How much may be taken.
    pub limits: Limits,
    /// How results travel.
    pub ship: ShipRules,
}

/// How round trips may be measured.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeRules {
    /// Methods that the owner allows.
    pub methods: Vec<ProbeMethod>,
    /// How long one sample may take.
    pub timeout: Duration,
    /// Addresses, not probed before, that may be probed in a minute, so that an agent can't become
    /// a scanner.
    pub new_targets_per_minute: u32,
    /// Measurements at the same time.
    pub concurrency: usize,
}

/// How much may be taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Least time between the end of one request to a host and the start of the next.
    pub host_delay: Duration,
    /// Fetches at the same time.
    pub concurrency: usize,
    /// Until a connection stands, TLS included.
    pub connect: Duration,
    /// From sending a request to the first byte of the answer.
    pub first_byte: Duration,
    /// For a whole fetch.
    pub fetch: Duration,
    /// Pause after a first failure of a host; it doubles with each further one.
    pub retry: Duration,
    /// Bytes of a body as they come over the wire.
    pub wire_bytes: u64,
    /// Bytes of a body once inflated.
    pub plain_bytes: u64,
    /// Bytes that the data directory may take.
    pub disk_bytes: u64,
    /// Bytes of the disk that stay free.
    pub disk_floor_bytes: u64,
    /// Days that the journal is kept.
    pub journal_days: u32,
}

/// How results travel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShipRules {
    /// A package is closed when its oldest result is this old.
    pub age: Duration,
    /// A package is closed when its results have this size before compression, in bytes.
    pub bytes: u64,
}

/// A configuration that can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file can't be read.
    #[error("the configuration {path} can't be read")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// Something in the file is not as it should be.
    #[error("{location}: {what}")]
    Content {
        /// Where.
        location: Location,
        /// What is wrong, and what to write instead.
        what: String,
    },
}

impl Config {
    /// The configuration in this file.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let read = |source| ConfigError::Read { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(read)?;
        Self::parse(&text, path)
    }

    /// The configuration in `text`, which came from `path`. Relative paths in it start at that
    /// file's folder.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let at = |span| Location::new(path, text, span);
        let raw: raw::Config = toml::from_str(text).map_err(|e| ConfigError::Content {
            location: at(e.span()),
            what: e.message().lines().collect::<Vec<_>>().join(" "),
        })?;
        check::Check { path, text }.config(raw)
    }

    /// How the agent presents itself to web servers.
    pub fn user_agent(&self) -> String {
        format!("nearcrawl/{} (+{})", self.profile.version, self.profile.contact)
    }
}

#[cfg(test)]
mod tests;
