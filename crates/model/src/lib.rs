//! The vocabulary that coordinator, agents and store share.
//!
//! 1. [`id`], [`time`]: identifiers and points in time.
//! 2. [`url`]: the rules by which a text is a URL that may be crawled, host keys, fingerprints.
//!    [`traps`]: signs that the links of a site never end. [`hidden`]: what searches do not show.
//! 3. [`agent`], [`admin`], [`host`]: the participants and their states. [`place`]: where an agent
//!    is. [`span`]: when it may work. [`contact`]: where its owner is reached. [`fetch`]: what
//!    became of fetches.
//! 4. [`search`], [`probe`], [`delegation`], [`incident`]: how subnets get and keep their agents.
//! 5. [`policy`], [`policy_preset`]: the settings of the operator.
//! 6. [`check`]: what the commands `doctor` found.
//! 7. [`activity`]: the steps of time series.
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

pub mod activity;
pub mod admin;
pub mod agent;
mod calendars;
pub mod check;
pub mod contact;
pub mod delegation;
pub mod fetch;
pub mod hidden;
pub mod host;
pub mod id;
pub mod incident;
pub mod place;
pub mod policy;
pub mod policy_preset;
pub mod probe;
mod recent_set;
pub mod search;
pub mod sort;
pub mod span;
pub mod time;
pub mod traps;
pub mod url;
mod visitor_ids;

pub use activity::ActivityStep;
pub use admin::Role;
pub use agent::{AgentState, DrainState, JoinRequestState, Presence, SkipReason};
pub use contact::is_contact;
pub use delegation::{BalanceRule, MoveRefusal, Reason};
pub use fetch::{ErrorKind, FetchOutcome};
pub use hidden::{HiddenKind, HiddenTarget, HiddenTargetError};
pub use host::{HostState, HostTask};
pub use id::{
    AccountId, AgentId, ApiTokenId, DelegationId, ExclusionId, HiddenId, HostId, JoinRequestId,
    JoinTokenId, LedgerPosition, MoveId, PinId, ProbeId, RegionId, SearchId,
};
pub use incident::{IncidentCause, IncidentState};
pub use place::{PlaceClaim, PlaceClaimError};
pub use policy::{CrawlPolicy, Policy, Slowdown};
pub use policy_preset::PolicyPreset;
pub use probe::{ProbeMethod, ProbeState, ProbeVerdict};
pub use recent_set::RecentSet;
pub use search::{Phase, Strategy};
pub use sort::{DelegationSort, HostSort};
pub use span::{Span, SpanError};
pub use time::{DAY_MS, UnixMillis};
pub use url::{CrawlUrl, Fingerprint, HostKey, UrlError};
