//! An internet of our own: network namespaces without any uplink, joined by one router that moves
//! IP packets between them as slowly as the real internet would.
//!
//! The road of a packet: a program started inside a [`Namespace`] sends to a public-looking
//! address; the namespace's only way out is its TUN device ([`tun`]); the [`router`] reads the
//! packet there, finds the [`Site`] of both ends by address ([`packet`], [`paths`]), asks the
//! [`conditions`] whether the way is cut or slowed, draws loss and jitter, and puts the packet into
//! the [`queue`] until it is due; then it is written to the device of the namespace that owns the
//! destination address. Resource no namespace owns is counted and dropped: nothing can leave.
//!
//! [`Internet`] puts it together from a [`Plan`]; [`Links`] cuts, heals and slows ways at run time;
//! [`proof`] verifies from inside that no namespace has another interface; [`port_forward`] lets a browser
//! outside reach a dashboard inside. Everything works for root, and for an ordinary user after
//! [`take_privilege`] where the kernel allows user namespaces and `/dev/net/tun` is open to all.

mod conditions;
mod error;
mod internet;
mod links;
mod namespace;
mod netlink;
mod packet;
mod paths;
pub mod port_forward;
mod priority;
mod privilege;
pub mod proof;
mod queue;
mod router;
mod traffic;
mod tun;

#[cfg(test)]
mod tests;

pub use conditions::{Scope, Slowdown};
pub use error::NetError;
pub use internet::{Internet, NodePlan, Placed, Plan};
pub use links::Links;
pub use namespace::Namespace;
pub use paths::{Path, Paths, Site};
pub use port_forward::PortForward;
pub use privilege::{Privilege, take_privilege};
pub use proof::Proof;
pub use traffic::Traffic;
