//! The agents' API and the background tasks behind it, over real sockets and a real database, with
//! agents written here.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at what it did not expect"
)]

mod agent;
mod enrolment;
mod generations;
mod measured_first;
mod names;
mod packages;
mod predict;
mod refresh;
mod restart;
mod road;
mod several_places;
mod slow_pages;
mod standing;
mod two_coordinators;
mod world;
