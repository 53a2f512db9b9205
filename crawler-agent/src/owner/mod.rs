//! What the owner's machine gives, enforced: hours, budgets, bandwidth, and idle time.
//!
//! - [`gate`]: asked before each request and each read; reads the clock, and shares the following
//!   parts among all tasks
//! - [`allowance`]: whether a request may start now, by hours and budgets
//! - [`budget`]: what was used in a day and in a month, and what is left
//! - [`calendar`]: when days and months of the owner's zone begin and end
//! - [`usage_file`]: keeps what was used across restarts
//! - [`bandwidth`]: the rate at which all fetches together may read
//! - [`machine`]: whether the machine's other users need it, from [`readings`]
//!
//! Everything that decides takes the time as an argument.

pub mod allowance;
pub mod bandwidth;
pub mod budget;
pub mod calendar;
pub mod gate;
pub mod machine;
pub mod readings;
pub mod usage_file;
