//! The messages between a coordinator and its agents.
//!
//! In the order in which an agent uses them:
//! 1. [`enrol`]: the agent presents a [`join_token`] and its public [`key`], checks that the
//!    coordinator that made the token answers, and waits for approval.
//! 2. [`session`]: it exchanges a signature for a bearer token that is valid for ten minutes, and
//!    checks again that this coordinator answers.
//! 3. [`heartbeat`]: it asks for work; the answer carries [`Route`]s (URLs to crawl),
//!    [`ProbeOrder`]s and [`HostOrder`]s.
//! 4. [`probe`]: it measures round trips and reports them.
//! 5. [`package`]: it sends the results of its fetches ([`page`]), signed and compressed, until
//!    they are acknowledged; an upload that broke goes on by [`resumption`].
//! 6. [`release`]: where its owner wants that, it replaces its program by one that the operator
//!    signed.
//!
//! Invariants: everything here is data and pure functions, without sockets, clock or files. Bounds
//! that protect a reader are in [`limits`]. Snapshots in `tests/snapshots` fix the wire formats.

pub mod bounded;
pub mod enrol;
pub mod heartbeat;
pub mod host_status;
pub mod join_token;
pub mod key;
pub mod leave;
pub mod limits;
mod outcome_kind;
pub mod package;
pub mod page;
pub mod probe;
pub mod problem;
pub mod release;
pub mod resumption;
pub mod session;
mod signed;
pub mod version;

pub use heartbeat::{
    BundleOffer, HeartbeatRequest, HeartbeatResponse, HostOrder, Presence, Route, WorkStatus,
};
pub use probe::{ProbeOrder, ProbeReport, ProbeResult};
pub use version::ProtocolVersion;
