//! The name server of our own internet: it knows the names of our web and nothing else, and asks
//! nobody.
//!
//! The road of a question: [`Server`] takes it over UDP or TCP; [`Zone`] answers it from a table
//! (`zone`): addresses, or that the name has none of this kind, or that there is no such name. Resource
//! is too long for UDP is cut and marked, so that the asker comes back over TCP (RFC 1035, RFC
//! 6891).

mod server;
mod zone;

#[cfg(test)]
mod tests;

pub use server::{DnsError, Server, Sockets};
pub use zone::Zone;
