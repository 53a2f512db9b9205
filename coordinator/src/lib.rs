//! The coordinator: decides which agent crawls which subnet, receives packages, indexes pages and
//! answers searches.
//!
//! The modules are the stages of a pipeline, in the order in which data passes them. A module uses
//! only modules above it in this list:
//!
//! 1. [`runtime`]: what all stages share: events, the delegated hierarchy, the policy, limits.
//! 2. [`registry`]: refreshes the registries' data and puts a new hierarchy in use.
//! 3. [`intake`]: seeds and links become hosts with an address, a subnet and an agent.
//! 4. [`predictor`]: learns from searches which agent is probably nearest.
//! 5. [`search`]: asks agents for round trips and decides which agent gets a subnet.
//! 6. [`placement`]: moves subnets: homes, constraints, balance, calibration; audits the result.
//! 7. [`packages`]: receives what agents fetched and ingests it into the search index.
//! 8. [`tasks`]: runs the stages' background tasks when events wake them; elects the leader.
//! 9. [`http`]: the APIs for agents, admins and the public, and the dashboard's files.
//! 10. [`startup`]: command line, configuration and wiring.

pub mod http;
pub mod intake;
pub mod packages;
pub mod placement;
pub mod predictor;
pub mod registry;
pub mod runtime;
pub mod search;
pub mod startup;
pub mod tasks;
