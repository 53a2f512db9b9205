//! Records: a range of addresses or AS numbers and its holder.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::{Country, Range, Registry};
use ipnet::IpNet;

use super::fields::{FieldError, Fields, check_date, parse_registry};

/// Type of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Resource {
    /// Numbers of autonomous systems.
    Asn,
    /// Addresses of IPv4.
    Ipv4,
    /// Addresses of IPv6.
    Ipv6,
}

/// Addresses or AS numbers of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// First and last AS number.
    Asns(u32, u32),
    /// Addresses of either family.
    Addresses(Range),
}

/// Status of a range at its registry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Given to a company that may pass parts on.
    Allocated,
    /// Given to a company for its own use.
    Assigned,
    /// Not given out, and free to be.
    Available,
    /// Kept back by the registry.
    Reserved,
}

/// A record of a delegated file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    /// The registry that maintains the range.
    pub registry: Registry,
    /// Country according to the registry; `None` for no country or ZZ, which mean the same.
    pub country: Option<Country>,
    /// The addresses or AS numbers.
    pub extent: Extent,
    /// Whether the range is given out.
    pub status: Status,
    /// Identifier of the holder, the same on all its records at this registry; `None` on free
    /// ranges and in old files.
    pub opaque_id: Option<&'a str>,
}

/// Longest identifier of a holder in bytes; a UUID has 36.
const MAX_ID: usize = 128;

impl<'a> Record<'a> {
    /// Parses a line without its line end.
    pub fn parse(line: &'a [u8]) -> Result<Self, FieldError> {
        let mut fields = Fields::of(line)?;
        let registry = parse_registry(fields.next("registry")?)?;
        let country = fields.next("country")?;
        let resource = Resource::parse(fields.next("type")?)?;
        let start = fields.next("start")?;
        let value = fields.next("value")?;
        check_date("date", fields.next("date")?)?;
        let status = Status::parse(fields.next("status")?)?;
        let extent = match resource {
            Resource::Asn => parse_asns(start, value)?,
            Resource::Ipv4 => Extent::Addresses(parse_ipv4(start, value)?),
            Resource::Ipv6 => Extent::Addresses(parse_ipv6(start, value)?),
        };
        let country = parse_country(country)?;
        let opaque_id = fields.next_optional().filter(|id| !id.is_empty());
        let opaque_id = opaque_id.map(check_id).transpose()?;
        Ok(Self { registry, country, extent, status, opaque_id })
    }

    /// Whether the range is given to a company.
    pub fn is_held(&self) -> bool {
        matches!(self.status, Status::Allocated | Status::Assigned)
    }
}

impl Extent {
    /// Type of the record.
    pub fn resource(self) -> Resource {
        match self {
            Self::Asns(..) => Resource::Asn,
            Self::Addresses(range) if range.is_v4() => Resource::Ipv4,
            Self::Addresses(_) => Resource::Ipv6,
        }
    }
}

impl Resource {
    /// All types, in the order of their names.
    pub const ALL: [Self; 3] = [Self::Asn, Self::Ipv4, Self::Ipv6];

    /// Name in the file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asn => "asn",
            Self::Ipv4 => "ipv4",
            Self::Ipv6 => "ipv6",
        }
    }

    pub(super) fn parse(text: &str) -> Result<Self, FieldError> {
        let found = Self::ALL.into_iter().find(|resource| resource.as_str() == text);
        found.ok_or_else(|| FieldError::new("type", text, "asn, ipv4 or ipv6"))
    }
}

impl Status {
    fn parse(text: &str) -> Result<Self, FieldError> {
        let expected = "allocated, assigned, available or reserved";
        match text {
            "allocated" => Ok(Self::Allocated),
            "assigned" => Ok(Self::Assigned),
            "available" => Ok(Self::Available),
            "reserved" => Ok(Self::Reserved),
            _ => Err(FieldError::new("status", text, expected)),
        }
    }
}

fn parse_country(text: &str) -> Result<Option<Country>, FieldError> {
    if text.is_empty() || text.eq_ignore_ascii_case("ZZ") {
        return Ok(None);
    }
    let wrong = |_| FieldError::new("country", text, "two letters or nothing");
    text.parse().map(Some).map_err(wrong)
}

fn check_id(text: &str) -> Result<&str, FieldError> {
    if text.len() <= MAX_ID && text.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Ok(text);
    }
    Err(FieldError::new("opaque-id", text, "at most 128 visible ASCII characters"))
}

fn parse_asns(start: &str, value: &str) -> Result<Extent, FieldError> {
    let first: u32 = start.parse().map_err(|_| FieldError::new("start", start, "an AS number"))?;
    let expected = "a number of AS numbers, from 1, that end by 4294967295";
    let count: Option<u32> = value.parse().ok();
    let last = count.and_then(|count| first.checked_add(count.checked_sub(1)?));
    let last = last.ok_or_else(|| FieldError::new("value", value, expected))?;
    Ok(Extent::Asns(first, last))
}

/// The value is a number of addresses: the range need not be a prefix.
fn parse_ipv4(start: &str, value: &str) -> Result<Range, FieldError> {
    let first: Ipv4Addr =
        start.parse().map_err(|_| FieldError::new("start", start, "an IPv4 address"))?;
    let expected = "a number of addresses, from 1, that end by 255.255.255.255";
    let wrong = || FieldError::new("value", value, expected);
    let count: u64 = value.parse().map_err(|_| wrong())?;
    let last = count.checked_sub(1).and_then(|more| u64::from(first.to_bits()).checked_add(more));
    let last = last.and_then(|last| u32::try_from(last).ok()).ok_or_else(wrong)?;
    Range::new(IpAddr::V4(first), IpAddr::V4(last.into())).map_err(|_| wrong())
}

/// The value is a prefix length.
fn parse_ipv6(start: &str, value: &str) -> Result<Range, FieldError> {
    let first: Ipv6Addr =
        start.parse().map_err(|_| FieldError::new("start", start, "an IPv6 address"))?;
    let wrong = || FieldError::new("value", value, "a prefix length from 0 to 128");
    let length: u8 = value.parse().map_err(|_| wrong())?;
    let net = IpNet::new(IpAddr::V6(first), length).map_err(|_| wrong())?;
    let expected = "the first address of a prefix of the length in field value";
    Range::try_from(net).map_err(|_| FieldError::new("start", start, expected))
}
