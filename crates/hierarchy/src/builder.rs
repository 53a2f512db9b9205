//! Builder: turns records into a hierarchy.

use std::net::IpAddr;

use crate::address::Address;
use crate::attributes::Attributes;
use crate::blocks::{BlockLevel, blocks};
use crate::build_report::BuildReport;
use crate::columns::Columns;
use crate::company::Companies;
use crate::family::Family;
use crate::id::Generation;
use crate::nest::{PendingRange, nest};
use crate::record::Record;
use crate::tree::Hierarchy;

/// Collects records in any order. Input in address order takes less time.
#[derive(Debug, Default)]
pub struct Builder {
    v4: Vec<PendingRange<u32>>,
    v6: Vec<PendingRange<u128>>,
}

impl Builder {
    /// Adds one record. The two roots need not be added.
    pub fn add(&mut self, record: Record) {
        let attributes = Attributes::new(record.kind, record.registry, record.country);
        let company = record.company;
        match (record.range.first(), record.range.last()) {
            (IpAddr::V4(first), IpAddr::V4(last)) => {
                let first = first.to_bits();
                let last = last.to_bits();
                self.v4.push(PendingRange { first, last, company, attributes });
            }
            (IpAddr::V6(first), IpAddr::V6(last)) => {
                let first = first.to_bits();
                let last = last.to_bits();
                self.v6.push(PendingRange { first, last, company, attributes });
            }
            // A range is of one family.
            _ => {}
        }
    }

    /// Adds blocks around the records that were added so far, level by level. A block has the
    /// registry that all its records share.
    pub fn group(&mut self, v4: &[BlockLevel], v6: &[BlockLevel]) {
        add_blocks(&mut self.v4, v4);
        add_blocks(&mut self.v6, v6);
    }

    /// The number of records that were added.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether no record was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nests all records. A record whose company is not among `companies` is kept without one.
    pub fn build(self, generation: Generation, companies: Companies) -> (Hierarchy, BuildReport) {
        let mut report = BuildReport { records: self.len() as u64, ..BuildReport::default() };
        let v4 = nest(self.v4, &mut report);
        let v6 = nest(self.v6, &mut report);
        let families = (Family::new(&v4.first, &v4.last), Family::new(&v6.first, &v6.last));
        let columns = Columns::join(v4, v6, companies.len());
        (Hierarchy::assemble(generation, families, columns, companies), report)
    }
}

fn add_blocks<A: Address>(ranges: &mut Vec<PendingRange<A>>, levels: &[BlockLevel]) {
    ranges.sort_by(PendingRange::order);
    // All levels group the records themselves; nesting then orders the blocks by size.
    let all: Vec<_> = levels.iter().flat_map(|level| blocks(ranges, *level)).collect();
    ranges.extend(all);
}
