//! Registry files: read, refused, nested, loaded, fetched.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod arbitrary;
mod command;
mod cut;
mod dumps;
mod fetch;
mod fixtures;
mod hostile;
mod load;
mod looking;
mod markup;
mod nested;
mod preview;
mod real;
mod refused;
mod samples;
mod server;
mod shrunken;
mod whois;
