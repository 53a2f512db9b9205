//! Text form of ranges: `192.0.2.0/24`, `192.0.2.0 - 192.0.2.99`, `2001:db8::/32`, or one address.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use ipnet::IpNet;

use crate::range::{Range, RangeError};

/// A prefix where the range is exactly one, else `first - last`.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.cidr() {
            Some(net) => f.pad(&net.to_string()),
            None => f.pad(&format!("{} - {}", self.first(), self.last())),
        }
    }
}

impl FromStr for Range {
    type Err = RangeError;

    fn from_str(text: &str) -> Result<Self, RangeError> {
        let unreadable = || RangeError::Text(text.to_owned());
        let address = |part: &str| part.trim().parse::<IpAddr>().map_err(|_| unreadable());
        if let Some((first, last)) = text.split_once('-') {
            return Self::new(address(first)?, address(last)?);
        }
        if text.contains('/') {
            return Self::try_from(text.trim().parse::<IpNet>().map_err(|_| unreadable())?);
        }
        Ok(Self::from(address(text)?))
    }
}
