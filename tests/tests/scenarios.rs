//! Scenarios: the real programs in small worlds, one fault after the other.

#![expect(clippy::unwrap_used, reason = "helpers of the tests fail like the tests themselves")]

#[path = "scenarios/crawling.rs"]
mod crawling;
#[path = "scenarios/end_to_end.rs"]
mod end_to_end;
#[path = "scenarios/failover.rs"]
mod failover;
#[path = "scenarios/forged_reports.rs"]
mod forged_reports;
#[path = "scenarios/hostile_farm.rs"]
mod hostile_farm;
#[path = "scenarios/hostile_web/mod.rs"]
mod hostile_web;
#[path = "scenarios/kills.rs"]
mod kills;
#[path = "scenarios/region_costs.rs"]
mod region_costs;
#[path = "scenarios/region_faults.rs"]
mod region_faults;
#[path = "scenarios/region_world.rs"]
mod region_world;
#[path = "scenarios/regions.rs"]
mod regions;
#[path = "scenarios/registry.rs"]
mod registry;
#[path = "scenarios/scripted.rs"]
mod scripted;
#[path = "scenarios/searches.rs"]
mod searches;
#[path = "scenarios/slow_path.rs"]
mod slow_path;
#[path = "scenarios/small_world.rs"]
mod small_world;
