//! Records to a hierarchy.

use crate::address::Address;
use crate::attributes::Attributes;
use crate::blocks::{BlockLevel, blocks};
use crate::columns::Columns;
use crate::company::Companies;
use crate::family::Family;
use crate::id::Generation;
use crate::nest::{Pending, nest};
use crate::range::Bounds;
use crate::record::Record;
use crate::tree::Hierarchy;

/// What the builder had to settle on the way.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BuildReport {
    /// Records that were added, the blocks of [`Builder::group`] included.
    pub records: u64,
    /// Records left out because another had exactly their range. A block that coincides with a
    /// record is not counted.
    pub equal: u64,
    /// Records that overlapped another without holding it or lying in it; each was cut into pieces.
    pub crossing: u64,
}

/// Collects records in any order; sorted input is noticed and costs less.
#[derive(Debug, Default)]
pub struct Builder {
    v4: Vec<Pending<u32>>,
    v6: Vec<Pending<u128>>,
}

impl Builder {
    /// Adds one record. The two roots are there without being added.
    pub fn add(&mut self, record: Record) {
        let attributes = Attributes::new(record.kind, record.registry, record.country);
        let company = record.company;
        match record.range.0 {
            Bounds::V4 { first, last } => {
                self.v4.push(Pending { first, last, company, attributes });
            }
            Bounds::V6 { first, last } => {
                self.v6.push(Pending { first, last, company, attributes });
            }
        }
    }

    /// Adds blocks around the records that were added so far, level by level. No block is put where
    /// it would be cut by a record; a block takes the registry that all its records share.
    pub fn group(&mut self, v4: &[BlockLevel], v6: &[BlockLevel]) {
        add_blocks(&mut self.v4, v4);
        add_blocks(&mut self.v6, v6);
    }

    /// How many records were added.
    pub fn len(&self) -> usize {
        self.v4.len() + self.v6.len()
    }

    /// Whether no record was added.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Nests everything. A record whose company is not among `companies` is kept without one.
    pub fn build(self, generation: Generation, companies: Companies) -> (Hierarchy, BuildReport) {
        let mut report = BuildReport { records: self.len() as u64, ..BuildReport::default() };
        let v4 = nest(self.v4, &mut report);
        let v6 = nest(self.v6, &mut report);
        let families = (Family::new(&v4.first, &v4.last), Family::new(&v6.first, &v6.last));
        let columns = Columns::join(v4, v6, companies.len());
        let hierarchy = Hierarchy::assemble(generation, families, columns, companies);
        (hierarchy, report)
    }
}

fn add_blocks<A: Address>(ranges: &mut Vec<Pending<A>>, levels: &[BlockLevel]) {
    ranges.sort_by(Pending::order);
    let made: Vec<_> = levels.iter().flat_map(|level| blocks(ranges, *level)).collect();
    ranges.extend(made);
}
