//! Packages: received bodies and their ingest into the index.

pub mod blob_store;
pub mod ingest;
pub mod ingest_packages;
pub mod reindex;
