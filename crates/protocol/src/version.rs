//! Versions of the protocol.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Version of the protocol: one number, raised with each change that an older side would
/// misunderstand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ProtocolVersion(pub u16);

/// Version of this build.
pub const CURRENT: ProtocolVersion = ProtocolVersion(11);

/// Oldest version that this build understands.
pub const OLDEST: ProtocolVersion = ProtocolVersion(11);

/// The other side speaks a version that this one does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum VersionError {
    /// The agent is newer than this coordinator.
    #[error(
        "the agent speaks protocol {0}, this coordinator up to {CURRENT}: update the coordinator"
    )]
    Newer(ProtocolVersion),
    /// The agent is older than this coordinator supports.
    #[error(
        "the agent speaks protocol {0}, this coordinator needs at least {OLDEST}: update the agent"
    )]
    Older(ProtocolVersion),
}

impl ProtocolVersion {
    /// Checks that a coordinator of this build can serve an agent of this version.
    pub fn supported(self) -> Result<(), VersionError> {
        match self {
            v if v > CURRENT => Err(VersionError::Newer(v)),
            v if v < OLDEST => Err(VersionError::Older(v)),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ends_are_refused_with_the_remedy() {
        assert_eq!(CURRENT.supported(), Ok(()));
        let newer = ProtocolVersion(CURRENT.0 + 1).supported().unwrap_err();
        assert!(newer.to_string().contains("update the coordinator"));
        let older = ProtocolVersion(OLDEST.0 - 1).supported().unwrap_err();
        assert!(older.to_string().contains("update the agent"));
    }
}
