//! Where each registry's files are.

use std::net::IpAddr;

use hierarchy::Registry;
use reqwest::Url;

/// A directory on a web server that holds files of a registry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    registry: Registry,
    base: Url,
}

/// A file on a web server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remote {
    registry: Registry,
    url: Url,
    name: String,
    proof: Proof,
}

/// How it is known that a file came whole and undamaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Proof {
    /// The MD5 sum that the registry publishes beside it.
    Published,
    /// Such a sum where there is one, else the one that gzip put into the file itself.
    Packed,
}

/// Text that names no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MirrorError {
    /// Not `REGISTRY=URL`.
    #[error("`{0}` is not REGISTRY=URL, for example apnic=https://mirror.example/stats/apnic/")]
    Form(String),
    /// The word before the equals sign names no registry.
    #[error(transparent)]
    Registry(#[from] hierarchy::UnknownRegistry),
    /// What comes after is no http or https URL.
    #[error("`{0}` is not an http or https URL")]
    Url(String),
}

impl Mirror {
    /// Where the registry itself publishes its delegated file. See also the list that the NRO's
    /// `nro-delegated-stats` reads.
    pub fn official(registry: Registry) -> Result<Self, MirrorError> {
        let base = match registry {
            Registry::Afrinic => "https://ftp.afrinic.net/stats/afrinic/",
            Registry::Apnic => "https://ftp.apnic.net/stats/apnic/",
            Registry::Arin => "https://ftp.arin.net/pub/stats/arin/",
            Registry::Lacnic => "https://ftp.lacnic.net/pub/stats/lacnic/",
            Registry::RipeNcc => "https://ftp.ripe.net/pub/stats/ripencc/",
        };
        Self::at(registry, base)
    }

    /// Where the registry itself gives its WHOIS database to everybody; `None` for those that give
    /// it by agreement only.
    pub fn official_whois(registry: Registry) -> Result<Option<Self>, MirrorError> {
        let base = match registry {
            Registry::Afrinic => "https://ftp.afrinic.net/pub/dbase/",
            Registry::Apnic => "https://ftp.apnic.net/apnic/whois/",
            Registry::RipeNcc => "https://ftp.ripe.net/ripe/dbase/split/",
            Registry::Arin | Registry::Lacnic => return Ok(None),
        };
        Self::at(registry, base).map(Some)
    }

    /// A copy under `base`, the URL of a directory.
    pub fn at(registry: Registry, base: &str) -> Result<Self, MirrorError> {
        let wrong = || MirrorError::Url(base.to_owned());
        let slash = if base.ends_with('/') { "" } else { "/" };
        let base = Url::parse(&format!("{base}{slash}")).map_err(|_| wrong())?;
        if matches!(base.scheme(), "http" | "https") && base.host().is_some() {
            Ok(Self { registry, base })
        } else {
            Err(wrong())
        }
    }

    /// Reads `REGISTRY=URL`.
    pub fn parse(text: &str) -> Result<Self, MirrorError> {
        let (registry, base) =
            text.split_once('=').ok_or_else(|| MirrorError::Form(text.to_owned()))?;
        Self::at(registry.trim().parse()?, base.trim())
    }

    /// Whose files it holds.
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// The delegated file in it.
    pub fn delegated(&self) -> Remote {
        self.file(format!("delegated-{}-extended-latest", self.registry), Proof::Published)
    }

    /// The parts of the WHOIS database in it that say who holds which addresses; none of a registry
    /// that gives no such files to everybody.
    pub fn dumps(&self) -> Vec<Remote> {
        let names: &[&str] = match self.registry {
            Registry::Afrinic => &["afrinic.db.gz"],
            Registry::Apnic => {
                &["apnic.db.inetnum.gz", "apnic.db.inet6num.gz", "apnic.db.organisation.gz"]
            }
            Registry::RipeNcc => {
                &["ripe.db.inetnum.gz", "ripe.db.inet6num.gz", "ripe.db.organisation.gz"]
            }
            Registry::Arin | Registry::Lacnic => &[],
        };
        names.iter().map(|name| self.file((*name).to_owned(), Proof::Packed)).collect()
    }

    fn file(&self, name: String, proof: Proof) -> Remote {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{name}", self.base.path()));
        Remote { registry: self.registry, url, name, proof }
    }
}

impl Remote {
    /// Whose file it is.
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// Where it is.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Its name, there and here.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether it holds WHOIS data, which are not as open as delegated files.
    pub fn is_whois(&self) -> bool {
        self.proof == Proof::Packed
    }

    /// The server: what is at the same one is fetched one after the other.
    pub fn server(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(super) fn proof(&self) -> Proof {
        self.proof
    }

    /// Where its checksum is, if it has one.
    pub(super) fn checksum_url(&self) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}.md5", self.url.path()));
        url
    }

    /// Whether it is on this machine, where no proxy can help.
    pub(super) fn is_local(&self) -> bool {
        let Some(host) = self.url.host_str() else { return false };
        let bare = host.trim_matches(['[', ']']);
        host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_registry_has_an_https_place() {
        for registry in Registry::ALL {
            let remote = Mirror::official(registry).unwrap().delegated();
            assert_eq!(remote.url().scheme(), "https");
            let sum = remote.checksum_url();
            assert!(sum.path().ends_with(&format!("delegated-{registry}-extended-latest.md5")));
            assert!(!remote.is_local() && !remote.is_whois());
        }
    }

    #[test]
    fn three_registries_give_their_database_to_everybody() {
        let open = |registry: &Registry| Mirror::official_whois(*registry).unwrap().is_some();
        let open: Vec<Registry> = Registry::ALL.into_iter().filter(open).collect();
        assert_eq!(open, [Registry::Afrinic, Registry::Apnic, Registry::RipeNcc]);
        let ripe = Mirror::official_whois(Registry::RipeNcc).unwrap().unwrap().dumps();
        assert_eq!(
            ripe[0].url().as_str(),
            "https://ftp.ripe.net/ripe/dbase/split/ripe.db.inetnum.gz"
        );
        assert!(
            ripe.iter()
                .all(|remote| remote.is_whois() && remote.server() == "https://ftp.ripe.net")
        );
        assert!(Mirror::at(Registry::Arin, "https://x.example").unwrap().dumps().is_empty());
    }

    #[test]
    fn a_copy_is_named_by_its_directory() {
        for base in ["http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a/"] {
            let remote = Mirror::parse(&format!("APNIC={base}")).unwrap().delegated();
            assert_eq!(
                remote.url().as_str(),
                "http://127.0.0.1:8080/a/delegated-apnic-extended-latest"
            );
            assert!(remote.is_local());
        }
        for wrong in ["apnic", "iana=https://x/", "apnic=ftp://x/", "apnic=/tmp", "apnic="] {
            assert!(Mirror::parse(wrong).is_err(), "{wrong}");
        }
    }
}
