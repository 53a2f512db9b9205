//! The bodies of the people's API: one file for each noun, as `openapi.json` shows them.

mod agents;
mod balance;
mod constraints;
mod delegations;
mod explanation;
mod incidents;
mod landmarks;
mod overview;
mod policy;
mod session;
mod tasks;
mod work;

pub use agents::{Agent, AgentRef, JoinToken, NewJoinToken, NewJoinTokenAnswer};
pub use balance::{Alternative, BalanceAnswer, BalancePass, Finding, Findings, Move};
pub use constraints::{
    Burden, ConstraintAnswer, ConstraintQuery, ConstraintRequest, Constraints, DryRun,
    OverrideAnswer, OverrideRequest, Preview, Scope, Shift,
};
pub use delegations::{
    AskedProbe, ChainLink, Delegation, HierarchyAnswer, Kind, Target, Wanted, Why,
};
pub use explanation::{Counters, SkippedAgent, SkippedCounts};
pub use incidents::Calibration;
pub use landmarks::{Landmark, Landmarks};
pub use overview::{
    AgentCounts, CoordinatorFacts, DelegationCounts, Generation, HostCounts, Overview,
    PackageCounts, PageCounts, ProbeCounts, ReasonCounts, SearchCounts, Source, UrlCounts,
};
pub use policy::{Policy, PolicyChange};
pub use session::{Credentials, SessionAnswer};
pub use tasks::{BackgroundTask, BackgroundTasks};
pub use work::{Rejected, Seeds, SeedsAnswer, Version};
