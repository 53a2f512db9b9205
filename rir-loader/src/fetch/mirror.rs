//! Where each registry's file is.

use std::net::IpAddr;

use hierarchy::Registry;
use reqwest::Url;

/// A registry's file at a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mirror {
    registry: Registry,
    url: Url,
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
    /// The registry's own server. The five registries publish under these addresses; see also the list that the NRO's
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

    /// A copy under `base`, the URL of the directory that holds the file and its `.md5`.
    pub fn at(registry: Registry, base: &str) -> Result<Self, MirrorError> {
        let wrong = || MirrorError::Url(base.to_owned());
        let slash = if base.ends_with('/') { "" } else { "/" };
        let base = Url::parse(&format!("{base}{slash}")).map_err(|_| wrong())?;
        if !matches!(base.scheme(), "http" | "https") || base.host().is_none() {
            return Err(wrong());
        }
        let url = base.join(&format!("delegated-{registry}-extended-latest")).map_err(|_| wrong())?;
        Ok(Self { registry, url })
    }

    /// Reads `REGISTRY=URL`.
    pub fn parse(text: &str) -> Result<Self, MirrorError> {
        let (registry, base) = text.split_once('=').ok_or_else(|| MirrorError::Form(text.to_owned()))?;
        Self::at(registry.trim().parse()?, base.trim())
    }

    /// Whose file it is.
    pub fn registry(&self) -> Registry {
        self.registry
    }

    /// The file.
    pub fn url(&self) -> &Url {
        &self.url
    }

    /// The name of the file here.
    pub(super) fn file_name(&self) -> String {
        format!("delegated-{}-extended-latest", self.registry)
    }

    /// Where its checksum is.
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
            let mirror = Mirror::official(registry).unwrap();
            assert_eq!(mirror.url().scheme(), "https");
            assert!(
                mirror.checksum_url().path().ends_with(&format!("delegated-{registry}-extended-latest.md5"))
            );
            assert!(!mirror.is_local());
        }
    }

    #[test]
    fn a_copy_is_named_by_its_directory() {
        for base in ["http://127.0.0.1:8080/a", "http://127.0.0.1:8080/a/"] {
            let mirror = Mirror::parse(&format!("APNIC={base}")).unwrap();
            assert_eq!(mirror.url().as_str(), "http://127.0.0.1:8080/a/delegated-apnic-extended-latest");
            assert!(mirror.is_local());
        }
        for wrong in ["apnic", "iana=https://x/", "apnic=ftp://x/", "apnic=/tmp", "apnic="] {
            assert!(Mirror::parse(wrong).is_err(), "{wrong}");
        }
    }
}
