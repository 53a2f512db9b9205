//! Lives at a partner: probe, fetch, extract, ship.
//!
//! The road of a URL through the agent:
//! 1. [`agent`] asks the coordinator over [`coordinator_client`] and gets routes, which the [`frontier`] stores
//!    before they are confirmed.
//! 2. The [`schedule`] says which host is due; a [`visit`] makes its next request: [`robots`]
//!    first, then the page.
//! 3. [`resolve`] finds the address and the [`guard`] judges it; [`mod@fetch`] asks exactly that
//!    address.
//! 4. [`extract`] reads the body as it arrives; [`page`] says what came of it. Links to hosts of
//!    ours go into the frontier, others to the coordinator.
//! 5. The [`outbox`] packs results, signs them with the agent's [`key`], and keeps them until they
//!    are acknowledged.
//!
//! Beside it, [`probe`] measures round trips for the coordinator. Everything within the owner's
//! [`config`]: the [`spans`] in which the agent may work, the room on the [`disk`], the [`journal`]
//! of what was done. Nothing here reads SQL or an index, and no order of the coordinator widens
//! what the owner allows.

pub mod agent;
pub mod backoff;
pub mod cli;
pub mod clock;
pub mod config;
pub mod coordinator_client;
pub mod data_dir;
pub mod disk;
pub mod error_line;
pub mod extract;
pub mod fetch;
pub mod frontier;
pub mod guard;
pub mod journal;
pub mod key;
pub mod outbox;
pub mod page;
pub mod probe;
pub mod resolve;
pub mod robots;
pub mod schedule;
pub mod spans;
pub mod status;
pub mod visit;
