//! The rules of the house that a machine can hold: which crate may know which, and how rooms look.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of the tests fail like the tests themselves"
)]

#[path = "house/arrows.rs"]
mod arrows;
#[path = "house/rooms.rs"]
mod rooms;
