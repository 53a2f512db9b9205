//! Connections of the HTTP server: how many may be open, and when an idle one is closed.
//!
//! [`serve`] accepts connections; [`admission`] decides which are let in and which are closed for
//! them; [`activity`] knows until when a connection may stay as it is. A silent client costs a
//! descriptor for seconds, and the agents have connections that no stranger can take.

mod activity;
mod admission;
mod body;
mod handle;
mod serve;
mod stream;

pub use handle::ConnectionHandle;
pub use serve::{Options, serve};
