//! Releases: the agent's programs that an operator offers, signed by a key that is kept off the
//! coordinator. An attacker who breaks into the coordinator can withhold releases, but cannot make
//! one.
//!
//! An agent checks the following, in this order: signature, format, time of signing and expiry,
//! whether it has seen a newer one, version, share of the roll-out, and the program for its
//! processor.

use model::{AgentId, UnixMillis};
use semver::Version;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::key::{KeyError, PublicKey, Purpose, ReleaseKey, Signature};

/// Name of the file beside the programs.
pub const FILE: &str = "release.json";
/// Largest such file, in bytes.
pub const FILE_BYTES: usize = 64 << 10;
/// Largest program, in bytes.
pub const PROGRAM_BYTES: u64 = 256 << 20;
/// Begin of the names of programs.
pub const PROGRAM_PREFIX: &str = "nearcrawl-agent";
/// Version of the document that this program reads.
pub const FORMAT: u32 = 1;
/// Time by which a release may be from the future, in milliseconds: clocks differ.
const AHEAD_MS: i64 = 24 * 3_600_000;

/// What the operator has signed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Release {
    /// Version of the document; see [`FORMAT`].
    pub format: u32,
    /// Version of the programs.
    pub version: Version,
    /// When it was signed. An agent takes no release that is older than one that it has seen.
    pub signed_at: UnixMillis,
    /// When agents stop taking it, so that an old release cannot be offered as the newest for ever.
    pub expires_at: UnixMillis,
    /// Part of the agents that may take it, in per cent.
    pub share_percent: u8,
    /// One program for each target.
    pub programs: Vec<Program>,
}

/// A program of a release.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// Name of its file, below `/downloads/`.
    pub name: String,
    /// Processor that it is for, such as `x86_64` or `aarch64`.
    pub target: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its SHA-256 in hex.
    pub sha256: String,
}

/// The file: the document as text, whose bytes are signed, and the signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignedRelease {
    document: String,
    signature: Signature,
}

/// What every version of the document has.
#[derive(Deserialize)]
struct Format {
    format: u32,
}

/// What an agent knows when it looks at a release.
#[derive(Debug, Clone, Copy)]
pub struct Applicant<'a> {
    /// The agent's identifier.
    pub agent: AgentId,
    /// Version of the program that runs.
    pub version: &'a Version,
    /// Processor of the machine.
    pub target: &'a str,
    /// Versions that failed on this machine.
    pub rejected: &'a [Version],
}

/// Why a release is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The file is no signed document.
    #[error("the release cannot be read: {0}")]
    Unreadable(String),
    /// The release key has not signed this document.
    #[error("the release is not signed by the key in [update]")]
    Signature(#[source] KeyError),
    /// The document is for newer programs.
    #[error("the release has format {0}, which this version cannot read: replace the program")]
    Format(u32),
    /// It was signed at a time that has not come.
    #[error(
        "the release was signed in the future: this machine's clock, or the signer's, is wrong"
    )]
    Future,
    /// It is not valid any more.
    #[error("the release has expired: the operator must sign one anew, or this clock is ahead")]
    Expired,
    /// A newer one was seen before.
    #[error("the release is older than one that this agent has seen")]
    Older,
    /// The running program is of this version or a newer one.
    #[error("version {0} is offered, which is not newer")]
    NotNewer(Version),
    /// The version failed on this machine.
    #[error("version {0} failed here and is not tried again")]
    Rejected(Version),
    /// The roll-out has not reached the agent.
    #[error("version {0} is not for all agents yet, and not for this one")]
    Share(Version),
    /// No program is for this processor.
    #[error("version {version} has no program for {target}")]
    Target {
        /// Version of the release.
        version: Version,
        /// Processor of the machine.
        target: String,
    },
    /// The program has a size, name or hash that cannot be.
    #[error("the entry of {0:?} in the release is invalid, or the program is larger than 256 MiB")]
    Program(String),
}

impl Refusal {
    /// Keyword for programs.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Unreadable(_) => "unreadable",
            Self::Signature(_) => "signature",
            Self::Format(_) => "format",
            Self::Future => "future",
            Self::Expired => "expired",
            Self::Older => "older",
            Self::NotNewer(_) => "not_newer",
            Self::Rejected(_) => "rejected",
            Self::Share(_) => "share",
            Self::Target { .. } => "target",
            Self::Program(_) => "program",
        }
    }
}

impl Release {
    /// The content of the file, signed.
    pub fn sign(&self, key: &ReleaseKey) -> Result<String, serde_json::Error> {
        let document = serde_json::to_string(self)?;
        let signature = key.sign(Purpose::Release, document.as_bytes());
        serde_json::to_string_pretty(&SignedRelease { document, signature })
    }

    /// The release in a file, if `key` has signed it and it has a known format.
    pub fn verify(file: &[u8], key: &PublicKey) -> Result<Self, Refusal> {
        let unreadable = |error: serde_json::Error| Refusal::Unreadable(error.to_string());
        let signed: SignedRelease = serde_json::from_slice(file).map_err(unreadable)?;
        let document = signed.document.as_bytes();
        key.verify(Purpose::Release, document, &signed.signature).map_err(Refusal::Signature)?;
        let Format { format } = serde_json::from_slice(document).map_err(unreadable)?;
        if format != FORMAT {
            return Err(Refusal::Format(format));
        }
        serde_json::from_slice(document).map_err(unreadable)
    }

    /// Checks the times against the clock and against the newest release that was seen.
    pub fn check_time(&self, now: UnixMillis, newest: Option<UnixMillis>) -> Result<(), Refusal> {
        if self.signed_at > now.plus_ms(AHEAD_MS) {
            return Err(Refusal::Future);
        }
        if self.expires_at <= now {
            return Err(Refusal::Expired);
        }
        if newest.is_some_and(|newest| self.signed_at < newest) {
            return Err(Refusal::Older);
        }
        Ok(())
    }

    /// The program that the agent should run instead of its own.
    pub fn program_for(&self, applicant: &Applicant<'_>) -> Result<&Program, Refusal> {
        let version = || self.version.clone();
        if self.version.cmp_precedence(applicant.version).is_le() {
            return Err(Refusal::NotNewer(version()));
        }
        if applicant.rejected.contains(&self.version) {
            return Err(Refusal::Rejected(version()));
        }
        if place_in_roll_out(applicant.agent, &self.version) >= u64::from(self.share_percent) {
            return Err(Refusal::Share(version()));
        }
        self.program(applicant.target)
    }

    /// The program for a processor.
    pub fn program(&self, target: &str) -> Result<&Program, Refusal> {
        let found = self.programs.iter().find(|program| program.target == target);
        let program = found.ok_or_else(|| Refusal::Target {
            version: self.version.clone(),
            target: target.to_owned(),
        })?;
        if program.is_valid() { Ok(program) } else { Err(Refusal::Program(program.name.clone())) }
    }
}

impl Program {
    fn is_valid(&self) -> bool {
        let is_hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
        is_program_name(&self.name)
            && (1..=PROGRAM_BYTES).contains(&self.bytes)
            && self.sha256.len() == 64
            && self.sha256.bytes().all(is_hex)
    }
}

/// Whether a file with this name is one of the agent's programs. Such a name cannot leave its
/// directory.
pub fn is_program_name(name: &str) -> bool {
    name.strip_prefix(PROGRAM_PREFIX)
        .is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b)))
}

/// The share of a roll-out from which on the agent takes part, less one. The order of the agents
/// differs between versions, and a larger share includes a smaller one.
fn place_in_roll_out(agent: AgentId, version: &Version) -> u64 {
    let digest = Sha256::digest(format!("nearcrawl roll-out\0{agent}\0{version}"));
    digest.iter().fold(0, |rest, byte| (rest * 256 + u64::from(*byte)) % 100)
}

#[cfg(test)]
mod tests;
