//! Virtual internet, harness and scenarios.

pub mod demo;
pub mod dns;
pub mod harness;
pub mod net;
pub mod referee;
pub mod registry;
pub mod web;
pub mod web_server;
pub mod world;
