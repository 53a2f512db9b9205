//! The vocabulary that coordinator, agents and store share.
//!
//! 1. [`id`], [`time`]: identifiers and points in time.
//! 2. [`url`]: the rules by which a text is a URL that may be crawled, host keys, fingerprints.
//! 3. [`agent`], [`admin`], [`host`]: who takes part, and in which state.
//! 4. [`search`], [`probe`], [`delegation`], [`incident`]: how subnets get and keep their agents.
//! 5. [`policy`], [`policy_preset`]: the settings of the operator.
//!
//! A closed set of words is an enum with one spelling for each variant, in snake case, which JSON,
//! tables and pages share: `as_str` gives it, `parse` reads it, `VARIANTS` lists the set.
//! Everything here is data and pure functions: no sockets, no clock, no files.

/// Gives enums that derive `IntoStaticStr` a method for their spelling.
macro_rules! spelling {
    ($($name:ident),+) => {$(
        impl $name {
            /// The spelling in JSON, tables and pages.
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        }
    )+};
}

pub mod admin;
pub mod agent;
pub mod delegation;
pub mod host;
pub mod id;
pub mod incident;
pub mod policy;
pub mod policy_preset;
pub mod probe;
pub mod search;
pub mod time;
pub mod url;

pub use admin::Role;
pub use agent::{AgentState, Presence, SkipReason};
pub use delegation::{BalanceRule, MoveRefusal, Reason};
pub use host::{HandoverEnding, HostState, HostTask};
pub use id::{
    AccountId, AgentId, DelegationId, ExclusionId, HostId, LandmarkId, LedgerPosition, MoveId,
    PinId, ProbeId, RegionId, SearchId,
};
pub use incident::{IncidentCause, IncidentState};
pub use policy::{CrawlPolicy, Policy, Slowdown};
pub use policy_preset::PolicyPreset;
pub use probe::{ProbeMethod, ProbeState, ProbeVerdict};
pub use search::{Phase, SearchState, Strategy};
pub use time::UnixMillis;
pub use url::{CrawlUrl, Fingerprint, HostKey, UrlError};
