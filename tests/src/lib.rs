//! Virtual internet, harness and scenarios.

pub mod dns;
pub mod net;
pub mod referee;
pub mod web;
