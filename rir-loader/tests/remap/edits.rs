//! Edits delegated files and remembers the expected change of each range.

use std::collections::HashMap;
use std::fmt::Write;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hierarchy::Range;
use hierarchy::remap::RangeChange;

/// Each kind of edit is applied to one delegated record in so many.
const EVERY: usize = 50;

/// The edits of all files.
#[derive(Default)]
pub(crate) struct Edits {
    /// Expected changes; the other ranges stay the same.
    pub(crate) changes: HashMap<Range, RangeChange>,
}

/// A delegated record of either family, with addresses as numbers.
struct Record<'t> {
    fields: Vec<&'t str>,
    v4: bool,
    first: u128,
    size: u128,
}

impl<'t> Record<'t> {
    fn of(line: &'t str) -> Option<Self> {
        let fields: Vec<&str> = line.split('|').collect();
        let held = fields.len() >= 8 && ["allocated", "assigned"].contains(&fields[6]);
        let value: u128 = fields.get(4)?.parse().ok().filter(|_| held)?;
        let (v4, first, size) = match fields[2] {
            "ipv4" => (true, fields[3].parse::<Ipv4Addr>().ok()?.to_bits().into(), value),
            "ipv6" => (false, fields[3].parse::<Ipv6Addr>().ok()?.to_bits(), 1 << (128 - value)),
            _ => return None,
        };
        Some(Self { fields, v4, first, size })
    }

    fn address(&self, number: u128) -> IpAddr {
        match u32::try_from(number).ok().filter(|_| self.v4) {
            Some(number) => Ipv4Addr::from(number).into(),
            None => Ipv6Addr::from(number).into(),
        }
    }

    fn range(&self) -> Range {
        Range::new(self.address(self.first), self.address(self.first + (self.size - 1))).unwrap()
    }

    fn line(&self, first: u128, size: u128, holder: &str) -> String {
        let value = if self.v4 { size } else { (128 - size.ilog2()).into() };
        let first = self.address(first).to_string();
        let value = value.to_string();
        let mut fields = self.fields.clone();
        (fields[3], fields[4], fields[7]) = (&first, &value, holder);
        fields.join("|")
    }

    /// Whether one record can hold both ranges.
    fn joins(&self, next: &Self) -> bool {
        let beside = self.v4 == next.v4 && self.first + self.size == next.first;
        beside && (self.v4 || (self.size == next.size && self.first.is_multiple_of(2 * self.size)))
    }
}

impl Edits {
    /// The file with some of its records deleted, halved, transferred, or joined with the next one.
    pub(crate) fn edit(&mut self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let mut edited: Vec<String> = vec![];
        let mut number = 0;
        let mut at = 0;
        while at < lines.len() {
            let Some(record) = Record::of(lines[at]) else {
                edited.push(lines[at].to_owned());
                at += 1;
                continue;
            };
            let next = lines.get(at + 1).and_then(|line| Record::of(line));
            at += self.apply(number % EVERY, &record, next.as_ref(), &mut edited);
            number += 1;
        }
        correct_counts(&edited)
    }

    /// Writes the edited record and returns the number of lines it replaces.
    fn apply(
        &mut self,
        kind: usize,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        out: &mut Vec<String>,
    ) -> usize {
        let Record { first, size, .. } = *record;
        let holder = record.fields[7];
        let change = match (kind, next) {
            (0, _) => RangeChange::Vanished,
            (1, _) if size > 1 => {
                out.push(record.line(first, size / 2, holder));
                out.push(record.line(first + size / 2, size - size / 2, holder));
                RangeChange::Split
            }
            (2, _) => {
                out.push(record.line(first, size, "somebody-else"));
                RangeChange::Transferred
            }
            // Tried with five records in fifty, because in real files few of them are adjacent.
            (3..8, Some(next)) if record.joins(next) => {
                out.push(record.line(first, size + next.size, holder));
                self.changes.insert(next.range(), RangeChange::Merged);
                self.changes.insert(record.range(), RangeChange::Merged);
                return 2;
            }
            // Shrinks to half its size, in the middle for IPv4.
            (8, _) if size > 3 => {
                let at = if record.v4 { first + size / 4 } else { first };
                out.push(record.line(at, size / 2, holder));
                RangeChange::Split
            }
            // Both halves are transferred.
            (9, _) if size > 1 => {
                out.push(record.line(first, size / 2, "somebody-else"));
                out.push(record.line(first + size / 2, size - size / 2, "a-third"));
                RangeChange::Split
            }
            _ => {
                out.push(record.fields.join("|"));
                return 1;
            }
        };
        self.changes.insert(record.range(), change);
        1
    }
}

/// Corrects the counts in the header and the summaries.
fn correct_counts(lines: &[String]) -> String {
    let is_summary = |line: &str| line.ends_with("|summary");
    let of_kind = |kind: &str| {
        lines
            .iter()
            .filter(|line| !is_summary(line) && line.split('|').nth(2) == Some(kind))
            .count()
            .to_string()
    };
    let records: usize =
        ["asn", "ipv4", "ipv6"].iter().map(|kind| of_kind(kind).parse::<usize>().unwrap()).sum();
    let records = records.to_string();
    let mut text = String::new();
    let mut header = true;
    for line in lines {
        let mut fields: Vec<&str> = line.split('|').collect();
        let count;
        if is_summary(line) {
            count = of_kind(fields[2]);
            fields[4] = &count;
        } else if header && !line.starts_with('#') {
            fields[3] = &records;
            header = false;
        }
        writeln!(text, "{}", fields.join("|")).unwrap();
    }
    text
}
