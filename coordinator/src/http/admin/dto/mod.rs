//! Request and response types of the admin API, as `openapi.json` shows them. A handler's own small
//! types stand beside the handler.

pub mod agents;
pub mod audit_log;
pub mod balance;
pub mod constraints;
pub mod delegations;
pub mod explanation;
pub mod incidents;
pub mod landmarks;
pub mod overview;
pub mod policy;
