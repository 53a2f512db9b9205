//! Regions: agents that share hosts among themselves, with or without the coordinator (UbiCrawler
//! sections 3 to 5).
//!
//! In reading order:
//!
//! 1. [`ring`]: the order of agents for each host, by consistent hashing.
//! 2. [`roster`] and [`delegations`]: what the coordinator signs: members, parameters, addresses.
//! 3. [`ownership`]: both together, for lookups; the order of a host's agents.
//! 4. [`detector`]: which agents are alive.
//! 5. [`lease`]: which agent may fetch, by majorities; [`loan`]: until when any member may.
//! 6. [`exchange`]: URLs on their way to the owners of their hosts.
//! 7. [`message`], [`envelope`]: what is sent, and how it is signed and checked; [`mailbox`],
//!    [`relay`]: how it reaches agents that accept no connections.
//! 8. [`moves`]: which subnets the coordinator may move within a region; [`departures`]: when those
//!    of a former member may leave it.
//! 9. [`Member`]: the state machine of an agent, which composes all of this; [`Coordinator`]: that
//!    of the coordinator.
//!
//! Everything is a function of its arguments: no clock, no random numbers, no input or output.
//! `tests/simulation` runs whole regions on it, with faults, and checks what must always hold.

pub mod coordinator;
pub mod counts;
pub mod delegations;
pub mod departures;
pub mod detector;
pub mod effect;
pub mod envelope;
pub mod exchange;
pub mod lease;
pub mod loan;
pub mod mailbox;
pub mod member;
pub mod message;
pub mod moves;
pub mod ownership;
pub mod peer;
pub mod permit;
pub mod relay;
pub mod ring;
pub mod roster;
pub mod settings;
pub mod time;

pub use coordinator::Coordinator;
pub use effect::Effect;
pub use member::Member;
pub use message::Message;
pub use ownership::{HostAtAddress, HostPosition, View};
pub use peer::Peer;
pub use permit::{Denial, Permit};
pub use settings::Settings;
pub use time::{Drift, Millis};
