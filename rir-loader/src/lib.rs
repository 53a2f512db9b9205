//! Registry files to a hierarchy in Postgres.
