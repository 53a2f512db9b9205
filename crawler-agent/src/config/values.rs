//! Parsers of single configuration values.
//!
//! Each list element and each optional value is wrapped in a newtype ([`Value`]): the TOML
//! deserialiser attaches the location of an error to the innermost newtype, which is then the
//! value itself and not the list around it.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use ipnet::IpNet;
use jiff::tz::TimeZone;
use model::{ProbeMethod, is_contact};
use region::relay::is_listener_url;
use serde::{Deserialize, Deserializer, de::Error as _};
use url::Url;

use crate::spans::{Span, SpanError};

/// A value that is written as a string.
pub(super) trait FromText: Sized {
    /// Error message when the key is absent although it is required.
    const MISSING: &'static str = "a required key is missing";

    /// Parses the string; the error says what to write instead.
    fn from_text(text: &str) -> Result<Self, String>;
}

/// A value parsed from a string.
#[derive(Deserialize)]
#[serde(bound = "T: FromText")]
pub(super) struct Value<T>(#[serde(deserialize_with = "text")] pub(super) T);

/// A value parsed from a string that must be there.
pub(super) struct Required<T>(pub(super) T);

impl<'de, T: FromText> Deserialize<'de> for Required<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // serde offers an absent field as `None`; a plain field would only say that it is missing.
        let value = Option::<Value<T>>::deserialize(deserializer)?;
        value.map(|value| Self(value.0)).ok_or_else(|| D::Error::custom(T::MISSING))
    }
}

fn text<'de, D: Deserializer<'de>, T: FromText>(deserializer: D) -> Result<T, D::Error> {
    T::from_text(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A list of values parsed from strings.
pub(super) fn list<'de, D, T>(deserializer: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: FromText,
{
    let values = Vec::<Value<T>>::deserialize(deserializer)?;
    Ok(values.into_iter().map(|value| value.0).collect())
}

/// A number from `MIN` to `MAX`.
pub(super) fn integer<'de, D, T, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let number = u64::try_from(i64::deserialize(deserializer)?).ok();
    let number = number.filter(|number| (MIN..=MAX).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| D::Error::custom(format!("the number must be from {MIN} to {MAX}")))
}

/// A duration of `MIN` to `MAX` milliseconds.
pub(super) fn millis<'de, D: Deserializer<'de>, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<Duration, D::Error> {
    integer::<_, u64, MIN, MAX>(deserializer).map(Duration::from_millis)
}

/// A size of `MIN` to `MAX` KiB, in bytes.
pub(super) fn kib<'de, D: Deserializer<'de>, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<u64, D::Error> {
    integer::<_, u64, MIN, MAX>(deserializer).map(|kib| kib << 10)
}

/// A size of `MIN` to `MAX` MiB, in bytes.
pub(super) fn mib<'de, D: Deserializer<'de>, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<u64, D::Error> {
    integer::<_, u64, MIN, MAX>(deserializer).map(|mib| mib << 20)
}

/// A rate of `MIN` to `MAX` KiB a second, in bytes a second.
pub(super) fn kib_rate<'de, D: Deserializer<'de>, const MIN: u64, const MAX: u64>(
    deserializer: D,
) -> Result<Option<u64>, D::Error> {
    kib::<_, MIN, MAX>(deserializer).map(Some)
}

/// A number of `MIN` to `MAX` hundredths.
pub(super) fn decimal<'de, D: Deserializer<'de>, const MIN: u32, const MAX: u32>(
    deserializer: D,
) -> Result<Option<f64>, D::Error> {
    let number = f64::deserialize(deserializer)?;
    let least = f64::from(MIN) / 100.0;
    let most = f64::from(MAX) / 100.0;
    if (least..=most).contains(&number) {
        return Ok(Some(number));
    }
    Err(D::Error::custom(format!("the number must be from {least} to {most}")))
}

/// A TCP port, from 1 to 65535.
#[derive(Deserialize)]
pub(super) struct Port(#[serde(deserialize_with = "integer::<_, _, 1, 65_535>")] pub(super) u16);

/// A web page or mail address where webmasters reach the owner.
pub(super) struct Contact(pub(super) String);

/// The agent's name for the coordinator's admins.
pub(super) struct AgentName(pub(super) String);

/// A domain name as URLs have it: lower case, ASCII, without dots around it.
pub(super) struct HostSuffix(pub(super) String);

/// Address and port of a name server.
pub(super) struct NameServer(pub(super) SocketAddr);

/// Address and port at which the agent listens for peers.
pub(super) struct PeerAddress(pub(super) SocketAddr);

/// URL at which peers reach the agent.
pub(super) struct PeerUrl(pub(super) Url);

/// An address and port of this machine's loopback interface.
pub(super) struct LoopbackAddress(pub(super) SocketAddr);

/// A span and the text that it was parsed from, which admins see.
pub(super) struct SpanLine {
    pub(super) text: String,
    pub(super) span: Span,
}

impl AgentName {
    /// The host name, where the owner gave no name.
    pub(super) fn of_machine() -> Self {
        let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
        Self(host.filter(|name| !name.is_empty()).unwrap_or_else(|| "agent".into()))
    }
}

impl FromText for Url {
    const MISSING: &'static str =
        "`coordinator` is missing: write the URL that its operator gave you";

    fn from_text(text: &str) -> Result<Self, String> {
        http_url(text)
            .ok_or_else(|| format!("{text:?} is not the http or https URL of a coordinator"))
    }
}

fn http_url(text: &str) -> Option<Url> {
    let url = Url::parse(text).ok()?;
    (matches!(url.scheme(), "http" | "https") && url.has_host()).then_some(url)
}

impl FromText for PeerUrl {
    fn from_text(text: &str) -> Result<Self, String> {
        http_url(text).filter(|_| is_listener_url(text)).map(Self).ok_or_else(|| {
            format!(
                "{text:?} in `advertise` is not an http or https URL without user name, query and \
                 fragment; write the one at which agents of the region reach this agent, like \
                 \"https://agent.example.org:8430\""
            )
        })
    }
}

impl FromText for Contact {
    const MISSING: &'static str = "`contact` is missing: write the web page (https://…) or mail \
                                   address (mailto:…) where webmasters reach you";

    fn from_text(text: &str) -> Result<Self, String> {
        let contact = text.trim();
        if is_contact(contact) {
            return Ok(Self(contact.to_owned()));
        }
        Err(format!(
            "{contact:?} is no way to reach you: write the web page (https://…) or mail address \
             (mailto:…) where webmasters reach you, without spaces, and international names as \
             xn--…"
        ))
    }
}

impl FromText for AgentName {
    fn from_text(text: &str) -> Result<Self, String> {
        let name = text.trim();
        if (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
            Ok(Self(name.to_owned()))
        } else {
            Err("the name must have 1 to 100 characters".into())
        }
    }
}

impl FromText for TimeZone {
    fn from_text(text: &str) -> Result<Self, String> {
        Self::get(text).map_err(|_| {
            format!("{text:?} is not a time zone; write a name like \"Europe/Nicosia\"")
        })
    }
}

impl FromText for SpanLine {
    fn from_text(text: &str) -> Result<Self, String> {
        let span = text.parse().map_err(|error: SpanError| error.to_string())?;
        Ok(Self { text: text.to_owned(), span })
    }
}

impl FromText for IpAddr {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("{text:?} is not an IP address of this machine"))
    }
}

impl FromText for NameServer {
    fn from_text(text: &str) -> Result<Self, String> {
        let with_default_port = |_| text.parse().map(|address: IpAddr| (address, 53).into());
        text.parse().or_else(with_default_port).map(Self).map_err(|_| {
            format!("{text:?} is not a name server; write address and port, like \"9.9.9.9:53\"")
        })
    }
}

impl FromText for PeerAddress {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|_| {
            format!(
                "{text:?} in `listen` is not an address with a port; write one like \
                 \"0.0.0.0:8430\""
            )
        })
    }
}

impl FromText for LoopbackAddress {
    fn from_text(text: &str) -> Result<Self, String> {
        let address = text.parse().ok().filter(|address: &SocketAddr| address.ip().is_loopback());
        address.map(Self).ok_or_else(|| {
            format!(
                "{text:?} is no loopback address with a port; write one like \"127.0.0.1:9421\""
            )
        })
    }
}

impl FromText for IpNet {
    fn from_text(text: &str) -> Result<Self, String> {
        let single_address = |_| text.parse::<IpAddr>().map(Self::from);
        let prefix = text
            .parse::<Self>()
            .or_else(single_address)
            .map_err(|_| format!("{text:?} is not a prefix; write one like \"192.0.2.0/24\""))?;
        let network = prefix.trunc();
        // A prefix with host bits is more often a typing error than a wish for its network.
        if network == prefix {
            Ok(prefix)
        } else {
            Err(format!("{text:?} has bits set behind its length; did you mean \"{network}\"?"))
        }
    }
}

impl FromText for HostSuffix {
    fn from_text(text: &str) -> Result<Self, String> {
        let name = text.strip_prefix("*.").unwrap_or(text);
        // It would be parsed as a part of the name, and deny nothing.
        if name.contains('*') {
            return Err(format!(
                "{text:?} is a pattern; write a name like \"example.org\", which also denies all \
                 names below it"
            ));
        }
        match url::Host::parse(name.trim_matches('.')) {
            Ok(url::Host::Domain(name)) => Ok(Self(name)),
            _ => Err(format!("{text:?} is not a host name; for addresses use `deny`")),
        }
    }
}

impl FromText for ProbeMethod {
    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map_err(|_| format!("{text:?} is not a probe method; write icmp, tcp or head"))
    }
}
