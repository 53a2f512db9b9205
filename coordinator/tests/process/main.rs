//! The program itself: what it prints, how it ends, and how it lives through the death of its
//! Postgres.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod admin;
mod audit;
mod endings;
mod postgres;
mod privacy;
mod program;
