//! Virtual internet, harness and scenarios.

pub mod net;
pub mod referee;
pub mod web;
