//! The book and the search, traced by hand and held by properties.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a broken fixture fails the test")]

mod audit;
mod balance;
mod book;
mod budget;
mod calibration;
mod elsewhere;
mod landmarks;
mod map;
mod paper;
mod patience;
mod predict;
mod properties;
mod steering;
