//! The only words a coordinator and its agents exchange.
//!
//! An agent's life in reading order:
//! 1. [`enrol`]: it shows a join token and its public [`key`], and waits for approval.
//! 2. [`session`]: it buys a ten-minute bearer token with a signature.
//! 3. [`heartbeat`]: it asks what to do; the answer carries [`Route`]s (URLs to crawl) and
//!    [`ProbeOrder`]s.
//! 4. [`probe`]: it measures round trips and reports them.
//! 5. [`package`]: it ships what it fetched ([`page`]), signed and compressed, until it is
//!    acknowledged.
//!
//! Everything here is data and pure functions: no sockets, no clock, no files. Bounds that protect
//! a reader live in [`limits`]. The wire forms are held by snapshots in `tests/snapshots`.

pub mod enrol;
pub mod heartbeat;
pub mod key;
pub mod limits;
pub mod package;
pub mod page;
pub mod probe;
pub mod session;
pub mod version;

pub use heartbeat::{HeartbeatRequest, HeartbeatResponse, HostOrder, Presence, Route, WorkStatus};
pub use probe::{ProbeOrder, ProbeReport, ProbeResult};
pub use version::ProtocolVersion;
