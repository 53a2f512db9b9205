//! From the configuration as written to one that can only hold valid values.

use std::{
    net::{IpAddr, SocketAddr},
    ops::{Range, RangeInclusive},
    path::Path,
    time::Duration,
};

use ipnet::IpNet;
use jiff::tz::TimeZone;
use model::ProbeMethod;
use protocol::enrol::AgentProfile;
use url::Url;

use super::{
    Config, ConfigError, Limits, Location, ProbeRules, ShipRules,
    raw::{self, Number, Text},
};
use crate::{guard::GuardRules, spans::Spans};

const MIB: u64 = 1 << 20;

/// Checks values and knows where they stand.
pub(super) struct Check<'a> {
    pub(super) path: &'a Path,
    pub(super) text: &'a str,
}

impl Check<'_> {
    pub(super) fn config(&self, raw: raw::Config) -> Result<Config, ConfigError> {
        let lines: Vec<String> = raw.spans.iter().map(|line| line.get_ref().clone()).collect();
        let zone = raw.zone.as_ref().map_or("UTC", |zone| zone.get_ref().as_str()).to_owned();
        Ok(Config {
            coordinator: self.coordinator(raw.coordinator.as_ref())?,
            profile: AgentProfile {
                name: self.name(raw.name.as_ref())?,
                contact: self.contact(raw.contact.as_ref())?,
                version: env!("CARGO_PKG_VERSION").to_owned(),
                capacity_pages_per_day: self.number(
                    &raw.capacity_pages_per_day,
                    "capacity_pages_per_day",
                    50_000,
                    1..=1_000_000_000,
                )? as u32,
                zone,
                spans: lines,
            },
            spans: self.spans(raw.zone.as_ref(), &raw.spans)?,
            data_dir: raw.data_dir.map(|dir| self.path.parent().unwrap_or(Path::new("")).join(dir)),
            bind: raw.bind.as_ref().map(|bind| self.address(bind)).transpose()?,
            resolver: raw.resolver.iter().map(|r| self.name_server(r)).collect::<Result<_, _>>()?,
            guard: self.guard(&raw.guard)?,
            probe: self.probe(&raw.probe)?,
            limits: self.limits(&raw.limits)?,
            ship: ShipRules {
                age: self.millis(&raw.ship.age_ms, "age_ms", 2_000, 10..=86_400_000)?,
                bytes: self.number(&raw.ship.kib, "kib", 4 << 10, 1..=(32 << 10))? << 10,
            },
        })
    }

    fn wrong<T>(
        &self,
        span: Option<Range<usize>>,
        what: impl Into<String>,
    ) -> Result<T, ConfigError> {
        Err(ConfigError::Content {
            location: Location::new(self.path, self.text, span),
            what: what.into(),
        })
    }

    fn coordinator(&self, text: Option<&Text>) -> Result<Url, ConfigError> {
        let Some(text) = text else {
            return self
                .wrong(None, "`coordinator` is missing: write the URL that its operator gave you");
        };
        match Url::parse(text.get_ref()) {
            Ok(url) if matches!(url.scheme(), "http" | "https") && url.has_host() => Ok(url),
            _ => self.wrong(
                Some(text.span()),
                format!("{:?} is not the http or https URL of a coordinator", text.get_ref()),
            ),
        }
    }

    fn contact(&self, text: Option<&Text>) -> Result<String, ConfigError> {
        const ASK: &str =
            "write the web page (https://…) or mail address (mailto:…) where webmasters reach you";
        let Some(text) = text else {
            return self.wrong(None, format!("`contact` is missing: {ASK}"));
        };
        let contact = text.get_ref().trim();
        let usable = Url::parse(contact).is_ok_and(|url| match url.scheme() {
            "http" | "https" => url.has_host(),
            "mailto" => url.path().contains('@'),
            _ => false,
        });
        // It becomes part of a header.
        if usable && contact.len() <= 500 && contact.bytes().all(|b| b.is_ascii_graphic()) {
            Ok(contact.to_owned())
        } else {
            self.wrong(Some(text.span()), format!("{contact:?} is no way to reach you: {ASK}"))
        }
    }

    fn name(&self, text: Option<&Text>) -> Result<String, ConfigError> {
        let Some(text) = text else {
            let host = nix::unistd::gethostname().ok().and_then(|name| name.into_string().ok());
            return Ok(host.filter(|name| !name.is_empty()).unwrap_or_else(|| "agent".into()));
        };
        let name = text.get_ref().trim();
        if (1..=100).contains(&name.chars().count()) && !name.chars().any(char::is_control) {
            Ok(name.to_owned())
        } else {
            self.wrong(Some(text.span()), "the name must have 1 to 100 characters")
        }
    }

    fn spans(&self, zone: Option<&Text>, lines: &[Text]) -> Result<Spans, ConfigError> {
        let tz = match zone.map(|zone| (zone, TimeZone::get(zone.get_ref()))) {
            None => TimeZone::UTC,
            Some((_, Ok(tz))) => tz,
            Some((zone, Err(_))) => {
                let what = format!(
                    "{:?} is not a time zone; write a name like \"Europe/Nicosia\"",
                    zone.get_ref()
                );
                return self.wrong(Some(zone.span()), what);
            }
        };
        for line in lines {
            if let Err(error) = Spans::new(TimeZone::UTC, &[line.get_ref()]) {
                return self.wrong(Some(line.span()), error.to_string());
            }
        }
        let texts: Vec<&String> = lines.iter().map(toml::Spanned::get_ref).collect();
        Spans::new(tz, &texts).or_else(|error| self.wrong(None, error.to_string()))
    }

    fn address(&self, text: &Text) -> Result<IpAddr, ConfigError> {
        let parsed = text.get_ref().parse();
        parsed.or_else(|_| {
            self.wrong(
                Some(text.span()),
                format!("{:?} is not an IP address of this machine", text.get_ref()),
            )
        })
    }

    fn name_server(&self, text: &Text) -> Result<SocketAddr, ConfigError> {
        let given = text.get_ref();
        let parsed =
            given.parse().or_else(|_| given.parse().map(|ip: IpAddr| SocketAddr::new(ip, 53)));
        parsed.or_else(|_| {
            let what = format!(
                "{given:?} is not a name server; write an address and a port, like \"9.9.9.9:53\""
            );
            self.wrong(Some(text.span()), what)
        })
    }

    fn guard(&self, raw: &raw::Guard) -> Result<GuardRules, ConfigError> {
        let nets =
            |texts: &[Text]| texts.iter().map(|t| self.prefix(t)).collect::<Result<Vec<_>, _>>();
        let ports = match &raw.ports {
            None => GuardRules::default().ports,
            Some(ports) => ports
                .iter()
                .map(|port| match u16::try_from(*port.get_ref()) {
                    Ok(number) if number > 0 => Ok(number),
                    _ => self.wrong(Some(port.span()), "a port is a number from 1 to 65535"),
                })
                .collect::<Result<_, _>>()?,
        };
        let hosts = raw.deny_hosts.iter().map(|h| self.host_suffix(h)).collect::<Result<_, _>>()?;
        Ok(GuardRules {
            allow: nets(&raw.allow)?,
            deny: nets(&raw.deny)?,
            deny_hosts: hosts,
            ports,
        })
    }

    fn prefix(&self, text: &Text) -> Result<IpNet, ConfigError> {
        let given = text.get_ref();
        let parsed = given.parse::<IpNet>().or_else(|_| given.parse::<IpAddr>().map(IpNet::from));
        match parsed {
            Ok(net) if net.trunc() == net => Ok(net),
            Ok(net) => {
                let what = format!(
                    "{given:?} has bits set behind its length; did you mean \"{}\"?",
                    net.trunc()
                );
                self.wrong(Some(text.span()), what)
            }
            Err(_) => {
                let what = format!("{given:?} is not a prefix; write one like \"192.0.2.0/24\"");
                self.wrong(Some(text.span()), what)
            }
        }
    }

    /// A name as URLs have it: lower case, ASCII.
    fn host_suffix(&self, text: &Text) -> Result<String, ConfigError> {
        let given = text.get_ref().trim_start_matches("*.").trim_matches('.');
        match url::Host::parse(given) {
            Ok(url::Host::Domain(name)) => Ok(name),
            _ => self.wrong(
                Some(text.span()),
                format!("{:?} is not a host name; for addresses use `deny`", text.get_ref()),
            ),
        }
    }

    fn probe(&self, raw: &raw::Probe) -> Result<ProbeRules, ConfigError> {
        let method = |text: &Text| match text.get_ref().parse() {
            Ok(method) => Ok(method),
            Err(_) => self.wrong(
                Some(text.span()),
                format!("{:?} is not a way to probe; write icmp, tcp or head", text.get_ref()),
            ),
        };
        let methods = match &raw.methods {
            None => vec![ProbeMethod::Icmp, ProbeMethod::Tcp, ProbeMethod::Head],
            Some(words) => words.iter().map(method).collect::<Result<_, _>>()?,
        };
        Ok(ProbeRules {
            methods,
            timeout: self.millis(&raw.timeout_ms, "timeout_ms", 3_000, 10..=60_000)?,
            new_targets_per_minute: self.number(
                &raw.new_targets_per_minute,
                "new_targets_per_minute",
                120,
                0..=100_000,
            )? as u32,
            concurrency: self.number(&raw.concurrency, "concurrency", 8, 1..=100)? as usize,
        })
    }

    fn limits(&self, raw: &raw::Limits) -> Result<Limits, ConfigError> {
        Ok(Limits {
            host_delay: self.millis(&raw.host_delay_ms, "host_delay_ms", 1_000, 0..=3_600_000)?,
            concurrency: self.number(&raw.concurrency, "concurrency", 64, 1..=1_000)? as usize,
            connect: self.millis(&raw.connect_ms, "connect_ms", 10_000, 10..=600_000)?,
            first_byte: self.millis(&raw.first_byte_ms, "first_byte_ms", 20_000, 10..=600_000)?,
            fetch: self.millis(&raw.fetch_ms, "fetch_ms", 60_000, 10..=600_000)?,
            retry: self.millis(&raw.retry_ms, "retry_ms", 30_000, 10..=3_600_000)?,
            wire_bytes: self.number(&raw.wire_mib, "wire_mib", 10, 1..=1_024)? * MIB,
            plain_bytes: self.number(&raw.plain_mib, "plain_mib", 20, 1..=1_024)? * MIB,
            disk_bytes: self.number(&raw.disk_mib, "disk_mib", 10_240, 1..=1_000_000_000)? * MIB,
            disk_floor_bytes: self.number(
                &raw.disk_floor_mib,
                "disk_floor_mib",
                1_024,
                0..=1_000_000_000,
            )? * MIB,
            journal_days: self.number(&raw.journal_days, "journal_days", 90, 1..=36_500)? as u32,
        })
    }

    fn millis(
        &self,
        value: &Number,
        key: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<Duration, ConfigError> {
        self.number(value, key, default, range).map(Duration::from_millis)
    }

    fn number(
        &self,
        value: &Number,
        key: &str,
        default: u64,
        range: RangeInclusive<u64>,
    ) -> Result<u64, ConfigError> {
        let Some(value) = value else { return Ok(default) };
        match u64::try_from(*value.get_ref()) {
            Ok(number) if range.contains(&number) => Ok(number),
            _ => self.wrong(
                Some(value.span()),
                format!("`{key}` must be from {} to {}", range.start(), range.end()),
            ),
        }
    }
}
