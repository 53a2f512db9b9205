//! Placement: which agent keeps which subnet (homes, constraints, balance, calibration, audit).

pub mod agent_administration;
pub mod apply_constraints;
pub mod audit;
pub mod audit_delegations;
pub mod balance;
pub mod balance_load;
pub mod calibrate;
pub mod calibration;
pub mod constraints;
pub mod load_snapshot;
pub mod settle_homes;
