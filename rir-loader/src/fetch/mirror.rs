//! Locations of the registries' files.

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
pub struct RemoteFile {
    registry: Registry,
    url: Url,
    name: String,
    integrity: Integrity,
}

/// How a complete and undamaged file is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Integrity {
    /// By the MD5 sum that the registry publishes beside it.
    PublishedMd5,
    /// By an MD5 sum where the registry publishes one, else by the checksum inside the gzip file.
    Gzip,
}

/// A text that does not name a mirror.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is not REGISTRY=URL with an http or https URL, for example \
     apnic=https://mirror.example/stats/apnic/"
)]
pub struct InvalidMirror(String);

impl Mirror {
    /// The registry's own server for delegated files. See also the list that the NRO's
    /// `nro-delegated-stats` reads.
    pub fn official(registry: Registry) -> Result<Self, InvalidMirror> {
        let base = match registry {
            Registry::Afrinic => "https://ftp.afrinic.net/stats/afrinic/",
            Registry::Apnic => "https://ftp.apnic.net/stats/apnic/",
            Registry::Arin => "https://ftp.arin.net/pub/stats/arin/",
            Registry::Lacnic => "https://ftp.lacnic.net/pub/stats/lacnic/",
            Registry::RipeNcc => "https://ftp.ripe.net/pub/stats/ripencc/",
        };
        Self::at(registry, base)
    }

    /// The registry's own server for WHOIS dumps; `None` for those that give them by agreement
    /// only.
    pub fn official_whois(registry: Registry) -> Result<Option<Self>, InvalidMirror> {
        let base = match registry {
            Registry::Afrinic => "https://ftp.afrinic.net/pub/dbase/",
            Registry::Apnic => "https://ftp.apnic.net/apnic/whois/",
            Registry::RipeNcc => "https://ftp.ripe.net/ripe/dbase/split/",
            Registry::Arin | Registry::Lacnic => return Ok(None),
        };
        Self::at(registry, base).map(Some)
    }

    /// The directory with the URL `base`.
    pub fn at(registry: Registry, base: &str) -> Result<Self, InvalidMirror> {
        let wrong = || InvalidMirror(base.to_owned());
        let slash = if base.ends_with('/') { "" } else { "/" };
        let base = Url::parse(&format!("{base}{slash}")).map_err(|_| wrong())?;
        if matches!(base.scheme(), "http" | "https") && base.host().is_some() {
            Ok(Self { registry, base })
        } else {
            Err(wrong())
        }
    }

    /// Parses the text `REGISTRY=URL`.
    pub fn parse(text: &str) -> Result<Self, InvalidMirror> {
        let wrong = || InvalidMirror(text.to_owned());
        let (registry, base) = text.split_once('=').ok_or_else(wrong)?;
        Self::at(registry.trim().parse().map_err(|_| wrong())?, base.trim())
    }

    /// Registry of the files.
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// The delegated file in the directory.
    pub fn delegated(&self) -> RemoteFile {
        self.file(format!("delegated-{}-extended-latest", self.registry), Integrity::PublishedMd5)
    }

    /// The WHOIS dumps in the directory with the holders of addresses; empty for a registry that
    /// does not publish them.
    pub fn dumps(&self) -> Vec<RemoteFile> {
        let names: &[&str] = match self.registry {
            Registry::Afrinic => &["afrinic.db.gz"],
            Registry::Apnic => {
                &["apnic.db.inetnum.gz", "apnic.db.inet6num.gz", "apnic.db.organisation.gz"]
            }
            // The same objects in Latin-1, without `.utf8`, are not read where these are there.
            Registry::RipeNcc => &[
                "ripe.db.inetnum.utf8.gz",
                "ripe.db.inet6num.utf8.gz",
                "ripe.db.organisation.utf8.gz",
            ],
            Registry::Arin | Registry::Lacnic => &[],
        };
        names.iter().map(|name| self.file((*name).to_owned(), Integrity::Gzip)).collect()
    }

    fn file(&self, name: String, integrity: Integrity) -> RemoteFile {
        let mut url = self.base.clone();
        url.set_path(&format!("{}{name}", self.base.path()));
        RemoteFile { registry: self.registry, url, name, integrity }
    }
}

impl RemoteFile {
    /// Registry of the file.
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// Location of the file.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// Name of the file, on the server and in the local directory.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The server. Files of the same server are downloaded one after the other.
    pub fn server(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub(super) fn integrity(&self) -> Integrity {
        self.integrity
    }

    /// Location of the checksum, if there is one.
    pub(super) fn checksum_url(&self) -> Url {
        let mut url = self.url.clone();
        url.set_path(&format!("{}.md5", self.url.path()));
        url
    }

    /// Whether the server is on this machine, where a proxy cannot reach it.
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
    fn every_registry_has_an_https_url() {
        for registry in Registry::ALL {
            let remote = Mirror::official(registry).unwrap().delegated();
            assert_eq!(remote.url().scheme(), "https");
            let sum = remote.checksum_url();
            assert!(sum.path().ends_with(&format!("delegated-{registry}-extended-latest.md5")));
            assert!(!remote.is_local() && remote.integrity() == Integrity::PublishedMd5);
        }
    }

    #[test]
    fn three_registries_publish_their_database() {
        let open = |registry: &Registry| Mirror::official_whois(*registry).unwrap().is_some();
        let open: Vec<Registry> = Registry::ALL.into_iter().filter(open).collect();
        assert_eq!(open, [Registry::Afrinic, Registry::Apnic, Registry::RipeNcc]);
        let ripe = Mirror::official_whois(Registry::RipeNcc).unwrap().unwrap().dumps();
        assert_eq!(
            ripe[0].url().as_str(),
            "https://ftp.ripe.net/ripe/dbase/split/ripe.db.inetnum.utf8.gz"
        );
        assert!(ripe.iter().all(|remote| remote.integrity() == Integrity::Gzip
            && remote.server() == "https://ftp.ripe.net"));
        assert!(Mirror::at(Registry::Arin, "https://x.example").unwrap().dumps().is_empty());
    }

    #[test]
    fn a_mirror_is_named_by_its_directory() {
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
