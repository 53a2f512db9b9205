//! The only words coordinator and agents exchange.
