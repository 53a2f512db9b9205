//! Constraints: pins, exclusions and overrides of admins.
//!
//! 1. [`requests`] validates a request and previews or stores the pin or exclusion.
//! 2. [`plan`] computes what follows from pins and exclusions, for the preview and for the
//!    background task `apply_constraints`, which executes it; [`pinned_ranges`] says where.
//! 3. [`override_delegation`] moves one subnet at once.
//! 4. [`measured_agents`] lists the agents that have measured a range, for the choice of an agent.
//! 5. [`assign`] writes the delegation of a pinned or overridden subnet.

pub mod assign;
pub mod measured_agents;
pub mod override_delegation;
pub mod pinned_ranges;
pub mod plan;
pub mod preview;
pub mod requests;
