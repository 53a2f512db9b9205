//! Registry data: refresh, reload, remap to a new generation, virtual subnets.

pub mod generation_listener;
pub mod refresh;
pub mod refresh_registries;
pub mod reload_hierarchy;
pub mod remap;
pub mod remap_hosts;
pub mod snapshots;
pub mod split_subnets;
