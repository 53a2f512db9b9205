//! The hierarchy against a model that is too slow to be wrong.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

mod blocks;
mod builder;
mod model;
mod properties;
mod records;
mod remap;
mod snapshot;
mod words;
