//! Here is a directory: give me a Postgres in it.
//!
//! The road through the crate: [`Options`] say where the data lives; [`Binaries`] finds `initdb`
//! and `postgres` on the system; `identity` picks the user the server runs as (never root);
//! `layout` makes the directories and a socket path that is short enough; `initdb` makes the
//! cluster once; `postmaster` runs it as a direct child without TCP; the `warden` thread keeps it
//! running until [`Cluster::stop`].
//!
//! Only one process owns the server of a directory; others that ask for the same directory adopt it
//! and take over when the owner ends. The crate speaks no SQL.

mod binaries;
mod error;
mod handle;
mod identity;
mod initdb;
mod layout;
mod options;
mod orphans;
mod ownership;
mod pidfile;
mod postmaster;
#[cfg(feature = "testing")]
pub mod testing;
mod warden;

pub use binaries::Binaries;
pub use error::ClusterError;
pub use handle::Cluster;
pub use options::{Durability, Options, Sharing, default_data_dir, exists};
pub use warden::Health;

/// The superuser that `initdb` creates; only the owner of the socket directory can be it.
pub const USER: &str = "nearcrawl";

/// The number in the socket's file name (`.s.PGSQL.5432`); no TCP port is opened.
pub const PORT: u16 = 5432;
