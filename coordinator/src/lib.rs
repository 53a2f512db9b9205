//! The coordinator: decides which agent crawls which subnet, receives packages, indexes pages and
//! answers searches.

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
