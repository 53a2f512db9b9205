//! The two commands: demo and test.

fn main() {}
