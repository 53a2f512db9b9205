//! The people's API and its pages, over real sockets and a real database, as browsers ask.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod accounts;
#[path = "../agents/agent.rs"]
#[expect(dead_code, reason = "shared with the tests of the agents' API")]
mod agent;
mod agents;
mod api_tokens;
mod audit_log;
mod balance;
mod browser;
mod changes;
mod company_names;
mod connections;
mod constraints;
mod dashboard;
mod discovery;
mod drains;
mod events;
mod explanation;
mod failed_packages;
mod hidden_pages;
mod hostile_heartbeats;
mod hosts;
mod joining;
mod lent_subnets;
mod list_counts;
mod lists;
mod metrics;
mod operations;
mod page_removals;
mod search;
mod session;
mod silent_hosts;
mod unstorable_text;
#[path = "../agents/world.rs"]
#[expect(dead_code, reason = "shared with the tests of the agents' API")]
mod world;
