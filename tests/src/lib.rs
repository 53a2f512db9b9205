//! Virtual internet, harness and scenarios.
