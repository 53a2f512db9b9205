//! Writing: columns to bytes.

use std::io::Write;

use zerocopy::{Immutable, IntoBytes};

use super::SnapshotError;
use super::header::Header;
use crate::address::ColumnAddress;
use crate::family::Family;
use crate::irregular::IrregularRanges;
use crate::strings::StringColumn;
use crate::tree::Hierarchy;

/// Bytes between two updates of the checksum: few enough to be in the cache when they are sent.
const PIECE: usize = 256 * 1024;

pub(super) fn write(
    hierarchy: &Hierarchy,
    mark: u64,
    sink: &mut impl Write,
) -> Result<(), SnapshotError> {
    let (v4, v6) = hierarchy.families();
    let columns = hierarchy.columns();
    let companies = hierarchy.companies();
    let mut header = Header::new();
    header.generation = hierarchy.generation().get();
    header.mark = mark;
    header.v4 = v4.len() as u64;
    header.v4_irregular = v4.irregular.places.len() as u64;
    header.v6 = v6.len() as u64;
    header.v6_irregular = v6.irregular.places.len() as u64;
    header.companies = companies.len() as u64;
    header.handle_bytes = companies.handles.joined.len() as u64;
    header.name_bytes = companies.names.joined.len() as u64;
    header.write(sink)?;
    let mut writer = Writer { sink, checksum: crc32fast::Hasher::new() };
    writer.family(v4)?;
    writer.family(v6)?;
    writer.column(&columns.parent)?;
    writer.column(&columns.holder)?;
    writer.column(&columns.attributes)?;
    let registries: Vec<u8> = companies.registries.iter().map(|registry| *registry as u8).collect();
    writer.column(&registries)?;
    writer.strings(&companies.handles)?;
    writer.strings(&companies.names)?;
    writer.finish()
}

struct Writer<'s, W> {
    sink: &'s mut W,
    checksum: crc32fast::Hasher,
}

impl<W: Write> Writer<'_, W> {
    fn column<T: IntoBytes + Immutable>(&mut self, column: &[T]) -> Result<(), SnapshotError> {
        for piece in column.as_bytes().chunks(PIECE) {
            self.checksum.update(piece);
            self.sink.write_all(piece).map_err(SnapshotError::Write)?;
        }
        Ok(())
    }

    fn family<A: ColumnAddress>(&mut self, family: &Family<A>) -> Result<(), SnapshotError> {
        self.column(&family.heads)?;
        self.column(&family.bits)?;
        let IrregularRanges { places, first, last, .. } = &family.irregular;
        self.column(places)?;
        self.column(first)?;
        self.column(last)
    }

    fn strings(&mut self, strings: &StringColumn) -> Result<(), SnapshotError> {
        self.column(&strings.ends)?;
        self.column(strings.joined.as_bytes())
    }

    fn finish(self) -> Result<(), SnapshotError> {
        let checksum = self.checksum.finalize();
        self.sink
            .write_all(checksum.as_bytes())
            .and_then(|()| self.sink.flush())
            .map_err(SnapshotError::Write)
    }
}
