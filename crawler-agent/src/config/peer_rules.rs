//! How the agent takes part in a region.

use std::{net::SocketAddr, ops::Range};

use serde::Deserialize;
use toml::Spanned;
use url::Url;

use super::values::{PeerAddress, PeerUrl, Value};

/// How the agent takes part in a region.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PeerRules {
    /// Address at which it listens for peers; none if it only opens connections.
    pub listen: Option<SocketAddr>,
    /// URLs at which peers reach the listener.
    pub advertise: Vec<Url>,
    /// Region that the owner asks for; none leaves it to the coordinator.
    pub region: Option<String>,
}

/// The table `[peer]` as it is written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PeerTable {
    enabled: bool,
    listen: Option<Spanned<Value<PeerAddress>>>,
    advertise: Option<Spanned<Vec<Value<PeerUrl>>>>,
    region: Option<String>,
}

/// A key of `[peer]` without the other one that it needs.
pub(super) struct LoneKey {
    pub(super) key: &'static str,
    /// The key that is missing.
    pub(super) other: &'static str,
    /// Where the value of `key` is in the file, in bytes.
    pub(super) span: Range<usize>,
}

impl PeerTable {
    /// The one of `listen` and `advertise` that stands alone. Peers reach a listener only by an
    /// advertised URL, and a URL without a listener leads them nowhere.
    pub(super) fn lone_key(&self) -> Option<LoneKey> {
        let advertise = self.advertise.as_ref().filter(|urls| !urls.get_ref().is_empty());
        match (&self.listen, advertise) {
            (Some(listen), None) => {
                Some(LoneKey { key: "listen", other: "advertise", span: listen.span() })
            }
            (None, Some(urls)) => {
                Some(LoneKey { key: "advertise", other: "listen", span: urls.span() })
            }
            _ => None,
        }
    }

    pub(super) fn into_rules(self) -> Option<PeerRules> {
        let listen = self.listen.map(|listen| listen.into_inner().0.0);
        let urls = self.advertise.map(Spanned::into_inner).unwrap_or_default();
        let advertise = urls.into_iter().map(|url| url.0.0).collect();
        let rules = PeerRules { listen, advertise, region: self.region };
        self.enabled.then_some(rules)
    }
}
