//! Counts of a WHOIS dump.

use std::collections::BTreeMap;

use crate::format::Format;
use crate::rejects::Rejects;

/// Classes counted by name; the rest is counted as [`OTHER`], so that no file can fill the memory.
const MAX_CLASSES: usize = 64;
const OTHER: &str = "(others)";

/// Contents of one text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhoisReport {
    /// Format of the text.
    pub format: Format,
    /// Lines of the text.
    pub lines: u64,
    /// Objects of every class, malformed ones included.
    pub objects: u64,
    /// Objects by the first key of a paragraph, or the name of an XML element.
    pub classes: BTreeMap<String, u64>,
    /// Ranges of IPv4 and of IPv6.
    pub ranges: [u64; 2],
    /// Holders, customers of ARIN included.
    pub organisations: u64,
    /// Malformed objects that were skipped.
    pub rejects: Rejects,
}

impl WhoisReport {
    pub(super) fn new(format: Format) -> Self {
        let classes = BTreeMap::new();
        let rejects = Rejects::default();
        Self { format, lines: 0, objects: 0, classes, ranges: [0; 2], organisations: 0, rejects }
    }

    pub(super) fn count_object(&mut self, class: &str) {
        self.objects += 1;
        if let Some(count) = self.classes.get_mut(class) {
            *count += 1;
            return;
        }
        let name = if self.classes.len() < MAX_CLASSES { class } else { OTHER };
        *self.classes.entry(name.to_owned()).or_default() += 1;
    }

    /// Whether the text is a dump of a routing registry, which does not name the holders of
    /// addresses.
    pub fn is_routes(&self) -> bool {
        let routes = ["route", "route6"].iter().any(|class| self.classes.contains_key(*class));
        routes && self.ranges == [0; 2] && self.organisations == 0 && self.rejects.count == 0
    }
}
