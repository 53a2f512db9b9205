//! Delegation search: open, ask, decide, improve.

pub mod drive_searches;
pub mod expire_probes;
pub mod open_searches;
pub mod walk;
