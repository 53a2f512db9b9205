//! Virtual internet: network namespaces without an uplink, joined by one router that delays IP
//! packets as the real internet would.
//!
//! The way of a packet: a program in a [`Namespace`] sends to a public-looking address. The
//! namespace's only device is its TUN device ([`tun`]). The [`router`] reads the packet there,
//! finds the [`Site`] of both ends by address ([`packet`], [`paths`]), asks the [`conditions`]
//! whether the path is cut or slowed, draws loss and jitter, and puts the packet into the [`queue`]
//! until it is due. Then it writes it to the device of the namespace that owns the destination.
//! Packets to other addresses are counted and dropped: nothing can leave.
//!
//! [`Internet`] is built from a [`Plan`]. [`Links`] cuts, heals and slows paths at run time.
//! [`proof`] verifies from inside that no namespace has another interface. [`port_forward`] lets a
//! browser outside reach a dashboard inside. All of it works for root, and for an ordinary user
//! after [`take_privilege`] where the kernel allows user namespaces and `/dev/net/tun` is open to
//! all.

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
pub use internet::{Internet, NodePlan, PlacedAddress, Plan};
pub use links::Links;
pub use namespace::Namespace;
pub use paths::{Path, Paths, Site};
pub use port_forward::PortForward;
pub use privilege::{Privilege, take_privilege};
pub use proof::Proof;
pub use traffic::Traffic;
