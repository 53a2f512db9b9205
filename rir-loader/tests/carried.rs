//! Everything delegated on the registries' real files of October 2018 finds its place after those files changed.

#![expect(clippy::unwrap_used, reason = "a test stops at what it did not expect")]

use std::collections::HashMap;
use std::fmt::Write;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::Path;

use hierarchy::carry::{Carried, Census, Claim, Fate, place, settle};
use hierarchy::{Hierarchy, Range, SubnetId, SubnetKind};
use rir_loader::files::files;
use rir_loader::read::read;

/// One in so many held IPv4 records meets each fate.
const EVERY: usize = 50;

/// What was done to the files: the range, and what must come of it.
#[derive(Default)]
struct Edits {
    fates: HashMap<Range, Fate>,
}

struct Record<'t> {
    fields: Vec<&'t str>,
    first: u32,
    value: u32,
}

impl<'t> Record<'t> {
    /// A held IPv4 record.
    fn of(line: &'t str) -> Option<Self> {
        let fields: Vec<&str> = line.split('|').collect();
        let held = fields.len() >= 8 && fields[2] == "ipv4" && ["allocated", "assigned"].contains(&fields[6]);
        let first = fields.get(3)?.parse::<Ipv4Addr>().ok().filter(|_| held)?.to_bits();
        let value = fields[4].parse().ok()?;
        Some(Self { fields, first, value })
    }

    fn range(&self) -> Range {
        Range::new(Ipv4Addr::from(self.first).into(), Ipv4Addr::from(self.first + (self.value - 1)).into())
            .unwrap()
    }

    fn line(&self, first: u32, value: u32, holder: &str) -> String {
        let (first, value) = (Ipv4Addr::from(first).to_string(), value.to_string());
        let mut fields = self.fields.clone();
        (fields[3], fields[4], fields[7]) = (&first, &value, holder);
        fields.join("|")
    }
}

impl Edits {
    /// A registry's file with some of its records deleted, halved, handed over, or joined with the next one.
    fn edit(&mut self, text: &str) -> String {
        let lines: Vec<&str> = text.lines().collect();
        let mut edited: Vec<String> = vec![];
        let (mut number, mut at) = (0, 0);
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
        counted(&edited)
    }

    /// Writes what becomes of a record and says how many lines that took.
    fn apply(
        &mut self,
        kind: usize,
        record: &Record<'_>,
        next: Option<&Record<'_>>,
        out: &mut Vec<String>,
    ) -> usize {
        let Record { first, value, .. } = *record;
        let holder = record.fields[7];
        let fate = match (kind, next) {
            (0, _) => Fate::Vanished,
            (1, _) if value > 1 => {
                out.push(record.line(first, value / 2, holder));
                out.push(record.line(first + value / 2, value - value / 2, holder));
                Fate::Split
            }
            (2, _) => {
                out.push(record.line(first, value, "somebody-else"));
                Fate::Transferred
            }
            (3, Some(next)) if first.checked_add(value) == Some(next.first) => {
                out.push(record.line(first, value + next.value, holder));
                self.fates.insert(next.range(), Fate::Merged);
                self.fates.insert(record.range(), Fate::Merged);
                return 2;
            }
            _ => {
                out.push(record.fields.join("|"));
                return 1;
            }
        };
        self.fates.insert(record.range(), fate);
        1
    }
}

/// Makes the counts in the header and the summaries right again.
fn counted(lines: &[String]) -> String {
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

fn unpacked(path: &Path) -> String {
    let mut text = String::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    text
}

/// A claim on every range that somebody holds, as if all of them were delegated.
fn claims(hierarchy: &Hierarchy) -> Vec<Claim<SubnetId>> {
    let held = hierarchy.iter().filter(|subnet| subnet.kind() == SubnetKind::Delegated);
    held.map(|subnet| Claim { key: subnet.id(), range: subnet.range(), rank: 0 }).collect()
}

#[test]
fn no_delegation_is_lost_and_each_that_moved_says_why() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/rir/delegated-extended-2018");
    if !dir.is_dir() {
        println!(
            "skipped no_delegation_is_lost_and_each_that_moved_says_why: {} is not there",
            dir.display()
        );
        return;
    }
    let paths = files(&[dir]).unwrap();
    let old = read(&paths, &|_| {}).unwrap().hierarchy;
    let copies = tempfile::tempdir().unwrap();
    let mut edits = Edits::default();
    for path in &paths {
        let name = path.file_stem().unwrap();
        std::fs::write(copies.path().join(name), edits.edit(&unpacked(path))).unwrap();
    }
    let new = read(&files(&[copies.path().to_owned()]).unwrap(), &|_| {}).unwrap().hierarchy;
    let claims = claims(&old);
    let carried = settle(place(Some(&old), &new, claims.iter().copied()));
    let census = Census::of(&carried);
    println!("{} delegations: {census}", carried.len());
    assert_eq!(carried.len(), claims.len());
    assert!(Fate::ALL.iter().all(|fate| census.count(*fate) > 300), "{census}");
    for one in &carried {
        let expected = edits.fates.get(&one.claim.range).copied().unwrap_or(Fate::Same);
        assert_eq!(one.fate, expected, "{}", one.claim.range);
    }
    one_owner_each(&new, &carried);
}

/// Each has a place, or names who has it; no place has two.
fn one_owner_each(new: &Hierarchy, carried: &[Carried<SubnetId>]) {
    let mut owners = HashMap::new();
    for one in carried {
        assert!(!one.gets.is_empty() || !one.yields.is_empty());
        for range in &one.gets {
            assert!(new.find(range).is_some(), "{range}");
            assert_eq!(owners.insert(*range, one.claim.key), None, "{range} has two");
        }
    }
    for (range, owner) in carried.iter().flat_map(|one| &one.yields) {
        assert_eq!(owners.get(range), Some(owner), "{range}");
    }
}
