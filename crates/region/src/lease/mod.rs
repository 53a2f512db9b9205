//! Leases: which agent may fetch a host while agents disagree on which of them are alive (mode
//! `safe`).
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
//! How grants end: a holder renews its lease before the old grants end, so that a voter may have
//! several grants for it. A fetch that began under an older grant may still run under it, so each
//! grant counts until the longest fetch and the pause after it have passed since the next one
//! arrived. Each request names the oldest grant on which the holder still relies, and the voter
//! forgets those before it. Otherwise old versions and old sets of *out* agents would bind the
//! voter for a whole term after the holder has moved on.
//!
//! In reading order: [`Voter`] (grants), [`Holder`] (asks and relies on grants).
//!
//! [`Claim`]: crate::message::Claim

mod holder;
mod voter;

pub use holder::Holder;
pub use voter::{Promise, Promises, Voter};
