//! Registry files to a hierarchy in Postgres.

fn main() {}
