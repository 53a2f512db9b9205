//! Tests of the hierarchy, among them properties against a naive model.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod blocks;
mod builder;
mod model;
mod properties;
mod records;
mod remap;
mod snapshot;
mod text;
