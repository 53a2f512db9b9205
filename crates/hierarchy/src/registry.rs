//! The five regional Internet registries.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A regional Internet registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    Afrinic,
    /// Asia and the Pacific.
    Apnic,
    Arin,
    /// Latin America and the Caribbean.
    Lacnic,
    /// Europe, the Middle East and Central Asia.
    RipeNcc,
}

/// Error for text that names none of the five registries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a registry; the five are afrinic, apnic, arin, lacnic and ripencc")]
pub struct UnknownRegistry(pub String);

impl Registry {
    /// The registries in the order of their names.
    pub const ALL: [Self; 5] =
        [Self::Afrinic, Self::Apnic, Self::Arin, Self::Lacnic, Self::RipeNcc];

    /// The lower-case name of the statistics exchange format.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Afrinic => "afrinic",
            Self::Apnic => "apnic",
            Self::Arin => "arin",
            Self::Lacnic => "lacnic",
            Self::RipeNcc => "ripencc",
        }
    }
}

impl fmt::Display for Registry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Accepts the name of the exchange format in any letter case.
impl FromStr for Registry {
    type Err = UnknownRegistry;

    fn from_str(text: &str) -> Result<Self, UnknownRegistry> {
        let found = Self::ALL.into_iter().find(|r| r.as_str().eq_ignore_ascii_case(text));
        found.ok_or_else(|| UnknownRegistry(text.to_owned()))
    }
}
