//! The delegation table and the search, traced by hand and held by properties.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken fixture fails the test")]

mod audit;
mod balance;
mod budget;
mod calibration;
mod constraints;
mod delegation_table;
mod expected_costs;
mod map;
mod paper;
mod patience;
mod places;
mod plausibility;
mod properties;
mod successors;
mod virtual_subnets;
