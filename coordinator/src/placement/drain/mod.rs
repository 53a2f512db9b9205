//! Drain: an agent gets no subnets any more and gives away those that it has.
//!
//! 1. An admin begins and ends the drain of an agent through the API.
//! 2. [`takeover`] computes which agents take over its subnets. The preview is the same
//!    computation for an agent that may not be drained at all.
//! 3. The background task `drain_agents` executes it, batch by batch.

pub mod takeover;
