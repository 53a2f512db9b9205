//! Intake: from a seed or a discovered link to a host with an address, a subnet and an agent.

pub mod dns;
pub mod end_leases;
pub mod place_hosts;
pub mod recent_urls;
pub mod resolve_hosts;
pub mod route_urls;
pub mod seeds;
