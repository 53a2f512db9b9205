//! Incidents of calibration: subnets whose paths or pages became slower (IPMicra III.F).

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// How far an incident has come. The last six states end it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum IncidentState {
    /// A control probe measures, to separate a slow path from a slow server.
    Checking,
    /// The path is slow; the search was reopened.
    Searching,
    /// Another agent has the subnet, and the former one measures now and then.
    Away,
    /// The path of the former agent has recovered; the search was reopened.
    Returning,
    /// Ended: the server itself is slow.
    Server,
    /// Ended: the search found no nearer agent.
    Stayed,
    /// Ended: the subnet is back at its former agent.
    Returned,
    /// Ended: the subnet stays where it moved, because its former agent has not been clearly nearer
    /// again for long.
    Moved,
    /// Ended: nothing was measured that separates path from server or shows a nearer agent.
    Undecided,
    /// Ended: the delegation changed for another reason, or the former agent may not have the
    /// subnet any more.
    Overtaken,
}

/// Why pages are slower.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum IncidentCause {
    /// The path from this agent: another agent sees no change. A new search may find a nearer
    /// agent.
    Path,
    /// The server: other agents see it too. Moving the subnet would not help.
    Server,
}

spelling!(IncidentState, IncidentCause);
