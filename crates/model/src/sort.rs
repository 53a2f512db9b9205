//! Orders of long lists. Each has an index, so that a page takes as long with five million rows as
//! with fifty.

use serde::{Deserialize, Serialize};

/// Order of a list of hosts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum HostSort {
    /// The newest first.
    #[default]
    Newest,
    /// Most errors first, without hosts that have none.
    Errors,
    /// The slowest first, without hosts that were never fetched from.
    Slowest,
    /// Most bytes first, without hosts that were never fetched from.
    Bytes,
    /// Most URLs that robots rules forbid first, without hosts that have none.
    Disallowed,
}

/// Order of a list of delegations.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum DelegationSort {
    /// The newest first.
    #[default]
    Newest,
    /// The longest round trip first, without delegations that have none.
    Slowest,
}
