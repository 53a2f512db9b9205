//! Virtual internet, harness and scenarios.

pub mod net;
