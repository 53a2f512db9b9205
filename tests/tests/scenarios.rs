//! Scenarios: the real programs in small worlds, one fault after the other.

#![expect(clippy::unwrap_used, reason = "helpers of the tests fail like the tests themselves")]

#[path = "scenarios/kills.rs"]
mod kills;
#[path = "scenarios/scripted.rs"]
mod scripted;
#[path = "scenarios/searches.rs"]
mod searches;
#[path = "scenarios/small_world.rs"]
mod small_world;
#[path = "scenarios/whole_road.rs"]
mod whole_road;
