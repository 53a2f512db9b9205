//! Request and response types of the admin API, as `openapi.json` shows them. A handler's own small
//! types stand beside the handler.

pub mod activity;
pub mod agents;
pub mod audit_log;
pub mod balance;
pub mod constraints;
pub mod delegations;
pub mod drains;
pub mod explanation;
pub mod hosts;
pub mod incidents;
pub mod inspection;
pub mod join_requests;
pub mod lists;
pub mod maps;
pub mod overview;
pub mod policy;
pub mod regions;
