//! Probes: round-trip measurements from an agent to an address (IPMicra section II).

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How a round trip was, or shall be, measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProbeMethod {
    /// ICMP echo (RFC 792, RFC 4443).
    Icmp,
    /// Time until a TCP connection is established (SYN to SYN-ACK).
    Tcp,
    /// Time from sending an HTTP HEAD on an open connection to the first byte of the answer.
    Head,
}

/// What has become of a probe order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProbeState {
    /// The agent has not reported yet.
    Asked,
    /// The agent reported a round trip.
    Measured,
    /// The agent got no answer from the address.
    Unreachable,
    /// The rules of the agent's owner forbid the probe.
    Refused,
    /// The agent did not report in time. A late report may still replace this state.
    Expired,
}

/// What a probe meant for its search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum ProbeVerdict {
    /// Not reported yet.
    Pending,
    /// Measured under the threshold.
    Satisfies,
    /// Measured at or above the threshold.
    TooSlow,
    /// Measured for a predictive search, which has no threshold.
    Measured,
    /// The agent could not reach the address, or its owner's rules forbid the probe.
    Unreachable,
    /// The agent did not report in time.
    Expired,
}

spelling!(ProbeMethod, ProbeState, ProbeVerdict);
