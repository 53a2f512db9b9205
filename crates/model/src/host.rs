//! Hosts: scheme and authority, the unit that agents own and hand over.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr, VariantArray};

/// Where a host stands on its way to an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HostState {
    /// Has no address yet.
    Unresolved,
    /// Waits until its subnet has an agent.
    Resolved,
    /// Has an agent.
    Delegated,
    /// Its agent was ordered to release it; nothing more is routed there.
    Moving,
    /// Could not be resolved; given up.
    Failed,
}

/// What an agent must do with a host that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[derive(Serialize, Deserialize, EnumString, IntoStaticStr, VariantArray)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum HostTask {
    /// Finish the request that is in flight, hand back what is queued, forget the host.
    Release,
    /// Forget how fast its pages used to be.
    Settle,
}

spelling!(HostState, HostTask);
