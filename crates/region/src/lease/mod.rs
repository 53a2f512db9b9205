//! Leases: who may fetch a host while agents disagree on who is alive (mode `safe`).
//!
//! Each agent has one lease for all of its hosts, granted by a majority of voters. A voter's grant
//! is a [`Claim`]: which versions count, and which agents are *out*, so that the holder may fetch
//! their hosts as well. A voter never has two unexpired grants of which one takes the other's
//! holder for dead, or which share no version.
//!
//! Why a host has one holder: suppose two agents may fetch it. Each has a majority of voters whose
//! grants allow it; the majorities share a voter; that voter's two grants share a version, and
//! under this version one of the two agents, say `a`, precedes the other, `b`, in the host's order.
//! The grant of `b` allows the host only if `a` is out, and then the voter has no grant for `a`.
//!
//! In reading order: [`Voter`] (grants), [`Holder`] (asks and relies on grants).
//!
//! [`Claim`]: crate::message::Claim

mod holder;
mod voter;

pub use holder::Holder;
pub use voter::{Promise, Promises, Restart, Voter};
