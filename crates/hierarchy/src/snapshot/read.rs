//! Reading: bytes to columns, without an intermediate copy.

use std::io::Read;

use zerocopy::{FromBytes, IntoBytes};

use super::header::Header;
use super::{Snapshot, SnapshotError, verify};
use crate::address::ColumnAddress;
use crate::columns::Columns;
use crate::company::Companies;
use crate::family::Family;
use crate::id::Generation;
use crate::irregular::IrregularRanges;
use crate::tree::Hierarchy;

/// Bytes between two updates of the checksum: few enough to be in the cache when they are summed.
const PIECE: usize = 256 * 1024;

pub(super) fn read(source: &mut impl Read) -> Result<Snapshot, SnapshotError> {
    let header = Header::read(source)?;
    let mut reader = Reader { source, checksum: crc32fast::Hasher::new() };
    let v4 = reader.ranges(header.v4, header.v4_irregular)?;
    let v6 = reader.ranges(header.v6, header.v6_irregular)?;
    let subnets = header.v4.saturating_add(header.v6);
    let columns = Columns {
        parent: reader.column(subnets)?,
        holder: reader.column(subnets)?,
        attributes: reader.column(subnets)?,
    };
    let registries: Vec<u8> = reader.column(header.companies)?;
    let handles = (reader.column(header.companies)?, reader.column(header.handle_bytes)?);
    let names = (reader.column(header.companies)?, reader.column(header.name_bytes)?);
    reader.finish()?;
    // The checksums show only that the bytes are those that were written. The other modules index
    // columns without checks, so that each property they rely on is verified once here.
    verify::ranges(&v4)?;
    verify::ranges(&v6)?;
    let families = (v4.indexed(), v6.indexed());
    let companies = Companies {
        registries: verify::registries(&registries)?,
        handles: verify::strings(handles)?,
        names: verify::strings(names)?,
    };
    verify::tree(&families, &columns)?;
    verify::holders(&columns, companies.len())?;
    let generation = Generation::new(header.generation);
    let hierarchy = Hierarchy::assemble(generation, families, columns, companies);
    Ok(Snapshot { mark: header.mark, hierarchy })
}

struct Reader<'s, R> {
    source: &'s mut R,
    checksum: crc32fast::Hasher,
}

impl<R: Read> Reader<'_, R> {
    fn column<T: FromBytes + IntoBytes>(&mut self, length: u64) -> Result<Vec<T>, SnapshotError> {
        let too_large =
            || SnapshotError::Memory { bytes: length.saturating_mul(size_of::<T>() as u64) };
        let mut column = usize::try_from(length)
            .ok()
            .and_then(|length| T::new_vec_zeroed(length).ok())
            .ok_or_else(too_large)?;
        for piece in column.as_mut_bytes().chunks_mut(PIECE) {
            self.source.read_exact(piece).map_err(SnapshotError::Read)?;
            self.checksum.update(piece);
        }
        Ok(column)
    }

    /// The columns of a family without its index.
    fn ranges<A: ColumnAddress>(
        &mut self,
        length: u64,
        irregular: u64,
    ) -> Result<Family<A>, SnapshotError> {
        let heads = self.column(length)?;
        let bits = self.column(length)?;
        let places = self.column(irregular)?;
        let first = self.column(irregular)?;
        let last = self.column(irregular)?;
        Ok(Family { heads, bits, irregular: IrregularRanges::of_columns(places, first, last) })
    }

    fn finish(self) -> Result<(), SnapshotError> {
        let mut stored = 0_u32;
        self.source.read_exact(stored.as_mut_bytes()).map_err(SnapshotError::Read)?;
        let matches = stored == self.checksum.finalize();
        if matches { Ok(()) } else { Err(SnapshotError::Checksum("columns")) }
    }
}
