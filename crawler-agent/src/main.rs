//! Lives at a partner: probe, fetch, extract, ship.

fn main() {}
