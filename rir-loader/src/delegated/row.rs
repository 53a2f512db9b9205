//! One record.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::{Country, Range, Registry};
use ipnet::IpNet;

use super::field::{Field, Fields, Malformed};
use super::header::{day, registry};

/// What a record is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Numbers of autonomous systems.
    Asn,
    /// IPv4 addresses.
    Ipv4,
    /// IPv6 addresses.
    Ipv6,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Given to a company that may pass parts on.
    Allocated,
    /// Given to a company for its own use.
    Assigned,
    /// Free.
    Available,
    /// Kept back.
    Reserved,
}

/// A record, read and checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row<'a> {
    /// Who maintains the range.
    pub registry: Registry,
    /// Where it is used, as the registry says; `None` for no country or ZZ, which means the same.
    pub country: Option<Country>,
    /// What it is about.
    pub resource: Resource,
    /// Its addresses; `None` for AS numbers.
    pub range: Option<Range>,
    /// Its first and last AS number; `None` for addresses.
    pub asns: Option<(u32, u32)>,
    /// What became of it.
    pub status: Status,
    /// The holder, by a name that only the registry can read and that is the same on all its
    /// records.
    pub opaque_id: Option<&'a str>,
}

/// Addresses or AS numbers.
type Extent = (Option<Range>, Option<(u32, u32)>);

/// Bytes of the longest holder name; a UUID has 36.
const LONGEST_ID: usize = 128;

impl<'a> Row<'a> {
    /// The registry and the country, the first fields, were taken already.
    pub(super) fn parse(
        publisher: &str,
        country: &str,
        fields: &mut Fields<'a>,
    ) -> Result<Self, Malformed> {
        let resource = Resource::parse(fields.next(Field::Type)?)?;
        let (start, value) = (fields.next(Field::Start)?, fields.next(Field::Value)?);
        day(Field::Date, fields.next(Field::Date)?)?;
        let status = Status::parse(fields.next(Field::Status)?)?;
        let (range, asns) = resource.extent(start, value)?;
        Ok(Self {
            registry: registry(publisher)?,
            country: country_of(country)?,
            resource,
            range,
            asns,
            status,
            opaque_id: fields
                .next_or_end()
                .filter(|id| !id.is_empty())
                .map(opaque_id)
                .transpose()?,
        })
    }

    /// Whether somebody holds it.
    pub fn is_held(&self) -> bool {
        matches!(self.status, Status::Allocated | Status::Assigned)
    }
}

impl Resource {
    /// All of them, in the order of the names.
    pub const ALL: [Self; 3] = [Self::Asn, Self::Ipv4, Self::Ipv6];

    /// The word in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asn => "asn",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, Malformed> {
        let found = Self::ALL.into_iter().find(|resource| resource.as_str() == text);
        found.ok_or_else(|| Malformed::new(Field::Type, text.as_bytes(), "asn, ipv4 or ipv6"))
    }

    fn extent(self, start: &str, value: &str) -> Result<Extent, Malformed> {
        match self {
            Self::Asn => asns(start, value).map(|asns| (None, Some(asns))),
            Self::Ipv4 => ipv4(start, value).map(|range| (Some(range), None)),
            Self::Ipv6 => ipv6(start, value).map(|range| (Some(range), None)),
        }
    }
}

impl Status {
    fn parse(text: &str) -> Result<Self, Malformed> {
        match text {
            "allocated" => Ok(Self::Allocated),
            "assigned" => Ok(Self::Assigned),
            "available" => Ok(Self::Available),
            "reserved" => Ok(Self::Reserved),
            _ => {
                let expected = "allocated, assigned, available or reserved";
                Err(Malformed::new(Field::Status, text.as_bytes(), expected))
            }
        }
    }
}

fn country_of(text: &str) -> Result<Option<Country>, Malformed> {
    if text.is_empty() || text.eq_ignore_ascii_case("ZZ") {
        return Ok(None);
    }
    let wrong = |_| Malformed::new(Field::Country, text.as_bytes(), "two letters or nothing");
    text.parse().map(Some).map_err(wrong)
}

fn opaque_id(text: &str) -> Result<&str, Malformed> {
    let good = text.len() <= LONGEST_ID && text.bytes().all(|byte| byte.is_ascii_graphic());
    let expected = "at most 128 visible ASCII characters";
    good.then_some(text).ok_or_else(|| Malformed::new(Field::OpaqueId, text.as_bytes(), expected))
}

fn asns(start: &str, value: &str) -> Result<(u32, u32), Malformed> {
    let first: u32 = start
        .parse()
        .map_err(|_| Malformed::new(Field::Start, start.as_bytes(), "an AS number"))?;
    let wrong = || {
        Malformed::new(
            Field::Value,
            value.as_bytes(),
            "a number of AS numbers, from 1, that end by 4294967295",
        )
    };
    let count: u32 = value.parse().map_err(|_| wrong())?;
    let last = count.checked_sub(1).and_then(|more| first.checked_add(more));
    last.map(|last| (first, last)).ok_or_else(wrong)
}

fn ipv4(start: &str, value: &str) -> Result<Range, Malformed> {
    let wrong_start = |_| Malformed::new(Field::Start, start.as_bytes(), "an IPv4 address");
    let first: Ipv4Addr = start.parse().map_err(wrong_start)?;
    let expected = "a number of addresses, from 1, that end by 255.255.255.255";
    let wrong = || Malformed::new(Field::Value, value.as_bytes(), expected);
    let count: u64 = value.parse().map_err(|_| wrong())?;
    let last = count.checked_sub(1).and_then(|more| u64::from(first.to_bits()).checked_add(more));
    let last = last.and_then(|last| u32::try_from(last).ok()).ok_or_else(wrong)?;
    Range::new(IpAddr::V4(first), IpAddr::V4(last.into())).map_err(|_| wrong())
}

fn ipv6(start: &str, value: &str) -> Result<Range, Malformed> {
    let wrong_start = |_| Malformed::new(Field::Start, start.as_bytes(), "an IPv6 address");
    let first: Ipv6Addr = start.parse().map_err(wrong_start)?;
    let wrong = || Malformed::new(Field::Value, value.as_bytes(), "a prefix length from 0 to 128");
    let length: u8 = value.parse().map_err(|_| wrong())?;
    let net = IpNet::new(IpAddr::V6(first), length).map_err(|_| wrong())?;
    let expected = "the first address of a prefix of the length in field value";
    Range::try_from(net).map_err(|_| Malformed::new(Field::Start, start.as_bytes(), expected))
}
