//! Typed identifiers. In memory and in Postgres they are 64-bit integers. In JSON and URLs they are
//! opaque strings with a prefix for the kind, so that one can never be taken for another.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

/// A text that is not an identifier of the wanted kind.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is not an identifier of the form {prefix}_NUMBER")]
pub struct ParseIdError {
    prefix: &'static str,
    text: String,
}

macro_rules! id {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(i64);

        impl $name {
            /// The identifier with this number, from a column of Postgres.
            pub const fn new(number: i64) -> Self {
                Self(number)
            }

            /// The number, for a column of Postgres.
            pub const fn get(self) -> i64 {
                self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "_{}"), self.0)
            }
        }

        impl FromStr for $name {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<Self, ParseIdError> {
                text.strip_prefix(concat!($prefix, "_"))
                    .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
                    .and_then(|digits| digits.parse().ok())
                    .map(Self)
                    .ok_or_else(|| ParseIdError {
                        prefix: $prefix,
                        text: text.chars().take(64).collect(),
                    })
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                text.parse().map_err(D::Error::custom)
            }
        }
    };
}

id! {
    /// A crawler at a partner.
    AgentId, "agt"
}
id! {
    /// An account of a person who may sign in.
    AccountId, "acc"
}
id! {
    /// A wish of a partner to host an agent.
    JoinRequestId, "jrq"
}
id! {
    /// A one-time token with which an agent enrols.
    JoinTokenId, "tok"
}
id! {
    /// A token with which scripts use the API.
    ApiTokenId, "apt"
}
id! {
    /// One order to measure a round trip, and its answer.
    ProbeId, "prb"
}
id! {
    /// A search for the agent that will crawl a subnet.
    SearchId, "sch"
}
id! {
    /// A decision that an agent crawls a subnet.
    DelegationId, "dlg"
}
id! {
    /// Place of a package in the ledger: 1, 2, 3 and so on in the order of arrival, without gaps.
    LedgerPosition, "pkg"
}
id! {
    /// A web host: scheme and authority.
    HostId, "hst"
}
id! {
    /// A constraint: one agent crawls a part of the hierarchy.
    PinId, "pin"
}
id! {
    /// A constraint: one agent never crawls a part of the hierarchy.
    ExclusionId, "exc"
}
id! {
    /// A site or page that is hidden from the search.
    HiddenId, "hid"
}
id! {
    /// A subnet that balance gave to another agent.
    MoveId, "mov"
}
id! {
    /// Agents that share hosts among themselves.
    RegionId, "rgn"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_form_has_the_prefix_of_the_kind() {
        assert_eq!(AgentId::new(12).to_string(), "agt_12");
        assert_eq!("agt_12".parse(), Ok(AgentId::new(12)));
        assert_eq!(serde_json::to_string(&ProbeId::new(7)).unwrap(), "\"prb_7\"");
    }

    #[test]
    fn other_kinds_and_other_texts_are_refused() {
        for text in ["prb_1", "agt_", "agt_-1", "agt_+1", "12", "", "agt_99999999999999999999"] {
            assert!(text.parse::<AgentId>().is_err(), "{text}");
        }
    }
}
