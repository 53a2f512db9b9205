//! A private Postgres cluster from the system binaries.
