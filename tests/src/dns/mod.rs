//! Name server of the virtual internet. It knows the names of the test web and forwards nothing.
//!
//! [`Server`] receives a query over UDP or TCP; [`Zone`] answers it from a table: addresses, no
//! data of this type, or no such name. Answers too long for UDP are truncated and marked, so that
//! the client repeats the query over TCP (RFC 1035, RFC 6891).

mod server;
mod zone;

#[cfg(test)]
mod tests;

pub use server::{DnsError, Server, Sockets};
pub use zone::Zone;
