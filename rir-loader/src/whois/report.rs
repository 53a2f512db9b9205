//! What a WHOIS text turned out to hold.

use std::collections::BTreeMap;

use crate::dialect::Dialect;
use crate::rejects::Rejects;

/// Classes that are counted by name; a text with more has the rest under [`OTHER`].
const MOST_CLASSES: usize = 64;
const OTHER: &str = "(others)";

/// Counts of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhoisReport {
    /// The way it is written in.
    pub dialect: Dialect,
    /// Lines, or tags of XML.
    pub lines: u64,
    /// Unpacked bytes.
    pub bytes: u64,
    /// Objects of every kind, malformed ones included.
    pub objects: u64,
    /// Objects by their first key.
    pub classes: BTreeMap<String, u64>,
    /// Ranges of IPv4 and of IPv6.
    pub ranges: [u64; 2],
    /// Organisations.
    pub organisations: u64,
    /// Objects with a value in ISO 8859-1.
    pub latin1: u64,
    /// What could not be read.
    pub rejects: Rejects,
}

impl WhoisReport {
    pub(super) fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            lines: 0,
            bytes: 0,
            objects: 0,
            classes: BTreeMap::new(),
            ranges: [0; 2],
            organisations: 0,
            latin1: 0,
            rejects: Rejects::default(),
        }
    }

    pub(super) fn count_class(&mut self, class: &[u8], objects: u64) {
        if objects == 0 {
            return;
        }
        let name = String::from_utf8_lossy(class);
        if let Some(count) = self.classes.get_mut(name.as_ref()) {
            *count += objects;
            return;
        }
        let known = self.classes.len() < MOST_CLASSES;
        let name = if known { name.into_owned() } else { OTHER.to_owned() };
        *self.classes.entry(name).or_default() += objects;
    }

    /// Whether these are routes and not who holds what: a routing registry's dump.
    pub fn is_routes(&self) -> bool {
        let routes = ["route", "route6"].iter().any(|class| self.classes.contains_key(*class));
        routes && self.ranges == [0; 2] && self.organisations == 0 && self.rejects.count == 0
    }
}
