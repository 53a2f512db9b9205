//! Address of the database.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use sqlx::postgres::PgConnectOptions;

use crate::StoreError;

/// The user of the private cluster (`cluster::USER`; the crates do not know each other).
const PRIVATE_USER: &str = "nearcrawl";

/// The database of the private cluster.
const PRIVATE_DATABASE: &str = "nearcrawl";

/// A server by URL, or a private one by its socket.
#[derive(Debug, Clone)]
pub struct Address {
    options: PgConnectOptions,
    /// Whether we may create the database in it.
    private: bool,
}

impl Address {
    /// A server that is not ours, as `postgres://user:password@host/database`.
    pub fn url(url: &str) -> Result<Self, StoreError> {
        // The parser below takes the scheme of any database.
        if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
            return Err(StoreError::Url(sqlx::Error::Configuration(
                "its scheme is not postgres".into(),
            )));
        }
        let options = PgConnectOptions::from_str(url).map_err(StoreError::Url)?;
        Ok(Self { options, private: false })
    }

    /// The database `nearcrawl` of the private cluster whose sockets are in `socket_dir`; created
    /// when missing.
    pub fn private(socket_dir: &Path) -> Self {
        Self::private_database(socket_dir, PRIVATE_DATABASE)
    }

    pub(crate) fn private_database(socket_dir: &Path, database: &str) -> Self {
        // Neither the environment nor ~/.pgpass has a say in a private cluster.
        let options = PgConnectOptions::new_without_pgpass()
            .socket(socket_dir)
            .port(5432)
            .username(PRIVATE_USER)
            .password("")
            .database(database);
        Self { options, private: true }
    }

    pub(crate) fn options(&self) -> PgConnectOptions {
        self.options.clone().application_name("nearcrawl")
    }

    pub(crate) fn database(&self) -> &str {
        self.options.get_database().unwrap_or(PRIVATE_DATABASE)
    }

    pub(crate) fn is_private(&self) -> bool {
        self.private
    }

    /// The server's own database, to create others from.
    pub(crate) fn maintenance(&self) -> PgConnectOptions {
        self.options().database("postgres")
    }
}

impl fmt::Display for Address {
    /// The socket directory, or host and port; never the user or the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.options.get_socket().map(PathBuf::as_path) {
            Some(dir) => write!(f, "{}", dir.display()),
            None => write!(f, "{}:{}", self.options.get_host(), self.options.get_port()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_shown_without_its_password() {
        let address = Address::url("postgres://me:secret@db.example:5433/crawl").unwrap();
        assert_eq!(address.to_string(), "db.example:5433");
        assert_eq!(address.database(), "crawl");
        assert!(!address.is_private());
    }

    #[test]
    fn a_private_one_is_shown_by_its_directory() {
        let address = Address::private(Path::new("/var/lib/nearcrawl/run"));
        assert_eq!(address.to_string(), "/var/lib/nearcrawl/run");
    }

    #[test]
    fn nonsense_says_what_a_url_looks_like() {
        let error = Address::url("mysql://x").unwrap_err();
        assert!(error.to_string().contains("postgres://"), "{error}");
    }
}
