//! Registry files: read, refused, nested, loaded, fetched.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod arbitrary;
mod command;
mod fetch;
mod fixtures;
mod load;
mod nested;
mod real;
mod refused;
mod server;
mod shrunken;
