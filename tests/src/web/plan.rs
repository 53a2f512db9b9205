//! Parameters of a synthetic web.

use std::net::IpAddr;

/// One host to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPlan {
    /// DNS name, lower case.
    pub name: String,
    /// Where it answers. Several hosts may share one address.
    pub address: IpAddr,
    /// Two capital letters; decides the language.
    pub country: String,
    /// Named in the texts.
    pub city: String,
}

/// A whole web to be.
#[derive(Debug, Clone)]
pub struct WebPlan {
    /// The hosts; the first `seeds` of them are where a crawl starts.
    pub hosts: Vec<HostPlan>,
    /// Number of seeds, at least one.
    pub seeds: usize,
    /// HTML documents that a crawler shall find, all hosts together; errors, files and redirects
    /// come on top.
    pub documents: usize,
    /// Port in every URL.
    pub port: u16,
    /// How many host names are linked that do not exist.
    pub dead_names: usize,
    /// How many small hosts ask for a `Crawl-delay` of one second.
    pub slow_hosts: usize,
    /// The same seed makes the same web.
    pub seed: u64,
}

/// Why a web cannot be made or served.
#[derive(Debug, thiserror::Error)]
pub enum WebError {
    /// The plan asks for something impossible.
    #[error("the plan of the web is wrong: {0}")]
    Plan(String),
    /// A listener could not be opened.
    #[error("cannot listen on {address} for the web")]
    Listen {
        /// Address and port.
        address: std::net::SocketAddr,
        /// What the system said.
        source: std::io::Error,
    },
    /// A namespace of the virtual internet refused.
    #[error("cannot listen inside the virtual internet")]
    Net(#[from] crate::net::NetError),
    /// The generator broke its own promise: a fault of the generator.
    #[error("the web falls apart: {0}")]
    Unreachable(String),
}

impl WebPlan {
    /// Fewest documents a host can have, so that there is room for a tree and for links.
    pub const LEAST_DOCUMENTS: usize = 4;

    /// Refuses what cannot be made.
    pub(super) fn check(&self) -> Result<(), WebError> {
        let wrong = |what: String| Err(WebError::Plan(what));
        if self.seeds == 0 || self.seeds > self.hosts.len() {
            return wrong(format!("{} seeds for {} hosts", self.seeds, self.hosts.len()));
        }
        if self.documents < self.hosts.len() * Self::LEAST_DOCUMENTS {
            let least = Self::LEAST_DOCUMENTS;
            return wrong(format!(
                "{} documents are fewer than {least} for each host",
                self.documents
            ));
        }
        let mut names: Vec<_> = self.hosts.iter().map(|host| host.name.as_str()).collect();
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => wrong(format!("two hosts are called {}", pair[0])),
            None => Ok(()),
        }
    }
}
