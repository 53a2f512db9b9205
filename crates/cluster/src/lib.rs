//! A private Postgres server from the binaries of this system.
//!
//! Reading order: [`Options`] names the data directory; [`Binaries`] finds `initdb` and `postgres`;
//! `server_user` chooses the user that the server runs as (never root); `layout` creates the
//! directories and a socket path that is short enough; `lock` makes this process the only owner of
//! the directory; `initdb` creates the cluster once; `postmaster` starts the server as a direct
//! child without TCP; the `supervisor` thread restarts it until the [`Cluster`] is stopped.
//!
//! One process owns the server of a directory. A command that runs beside it uses the owner's
//! server ([`Cluster::start_or_join`]). The crate runs no SQL.

mod binaries;
mod cluster;
mod error;
mod initdb;
mod layout;
mod lock;
mod options;
mod orphans;
mod own_dir;
mod ownership;
mod pid_file;
mod postmaster;
mod server_user;
mod supervisor;
#[cfg(feature = "testing")]
pub mod testing;

pub use binaries::Binaries;
pub use cluster::Cluster;
pub use error::ClusterError;
pub use options::{Durability, Options, default_data_dir, exists};
pub use own_dir::check_own;

/// The superuser that `initdb` creates. The directory of the socket admits only the server's user
/// and root, so no password is needed.
pub const USER: &str = "nearcrawl";

/// The number in the socket's file name (`.s.PGSQL.5432`); no TCP port is opened.
pub const PORT: u16 = 5432;

/// The least major version of Postgres for a new cluster: the migrations of `store` need it, which
/// has the same number.
pub const LEAST_MAJOR: u32 = 15;
