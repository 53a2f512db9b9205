//! Reading of the log at start.

use std::{
    io::Read as _,
    path::{Path, PathBuf},
};

use super::{MAGIC, checksum, mark, path, segments};
use crate::{
    frontier::{Change, FrontierError},
    guarded_file::FileError as _,
};

/// What was read of the log.
pub(in crate::frontier) struct Replayed {
    /// Number after that of the last segment.
    pub(in crate::frontier) next: u64,
    /// Where reading ended, if that was not the end of the log.
    pub(in crate::frontier) cut: Option<Cut>,
}

/// A place in the log after which nothing was read, because a change is only applied after all
/// those before it.
pub(in crate::frontier) struct Cut {
    segment: PathBuf,
    reason: FrontierError,
    /// Whether what cannot be read was synced. Otherwise it is what a power failure leaves.
    pub(in crate::frontier) was_synced: bool,
}

impl Cut {
    /// A segment that is not there, where `first` is the first to be read. The name of that one was
    /// synced, unless the frontier is new.
    fn missing(dir: &Path, number: u64, first: u64) -> Self {
        let was_synced = number == first && first > 0;
        Self { segment: path(dir, number), reason: FrontierError::NoSegment, was_synced }
    }

    /// The error that names the segment.
    pub(in crate::frontier) fn damage(self) -> FrontierError {
        FrontierError::damaged(self.segment, Some(Box::new(self.reason)))
    }
}

/// The changes of one segment.
pub(in crate::frontier) struct SegmentChanges {
    pub(in crate::frontier) changes: Vec<Change>,
    cut: Option<Cut>,
}

/// Calls `apply` with the changes from the segment `first` on, in their order, up to the first that
/// cannot be read. Without that segment there is nothing to read: only a new frontier has none,
/// because a checkpoint syncs the name of its segment before it names it as the first.
pub(in crate::frontier) fn replay(
    dir: &Path,
    first: u64,
    mut apply: impl FnMut(&Change) -> Result<(), FrontierError>,
) -> Result<Replayed, FrontierError> {
    let mut replayed = Replayed { next: first, cut: None };
    for number in segments(dir)?.into_iter().filter(|number| *number >= first) {
        if replayed.cut.is_none() && number != replayed.next {
            replayed.cut = Some(Cut::missing(dir, replayed.next, first));
        }
        if let Some(cut) = &mut replayed.cut {
            // A segment is synced after all earlier ones.
            cut.was_synced |= is_synced(dir, number)?;
        } else {
            let segment = read(dir, number)?;
            segment.changes.iter().try_for_each(&mut apply)?;
            replayed.cut = segment.cut;
        }
        replayed.next = number + 1;
    }
    if replayed.next == first && first > 0 {
        replayed.cut = Some(Cut::missing(dir, first, first));
    }
    Ok(replayed)
}

/// Whether records of a segment were synced, as far as it says. One that does not begin like a
/// segment may have said so.
fn is_synced(dir: &Path, number: u64) -> Result<bool, FrontierError> {
    let path = path(dir, number);
    let mut start = Vec::new();
    let length = (MAGIC.len() + mark::LENGTH) as u64;
    let read =
        std::fs::File::open(&path).and_then(|file| file.take(length).read_to_end(&mut start));
    read.map_err(|source| FrontierError::Log { path: path.clone(), source })?;
    Ok(split_start(&start, &path)?.is_none_or(|(synced, _)| synced > 0))
}

pub(in crate::frontier) fn read(dir: &Path, number: u64) -> Result<SegmentChanges, FrontierError> {
    let path = path(dir, number);
    let bytes = std::fs::read(&path);
    let bytes = bytes.map_err(|source| FrontierError::Log { path: path.clone(), source })?;
    let mut changes = Vec::new();
    let Some((synced, records)) = split_start(&bytes, &path)? else {
        let cut = Cut { segment: path, reason: FrontierError::NoStart, was_synced: true };
        return Ok(SegmentChanges { changes, cut: Some(cut) });
    };
    let mut rest = records;
    while let Some((payload, after)) = split_record(rest) {
        // The checksum is right: a change that cannot be read was written by another version.
        let change = postcard::from_bytes(payload);
        changes.push(change.map_err(|error| FrontierError::from(error).in_file(&path))?);
        rest = after;
    }
    let from = (records.len() - rest.len()) as u64;
    let was_synced = from < synced;
    let reason = FrontierError::NoRecords { from };
    // Not even the first bytes of an empty file were written.
    let is_cut = was_synced || !rest.is_empty() || bytes.is_empty();
    Ok(SegmentChanges { changes, cut: is_cut.then_some(Cut { segment: path, reason, was_synced }) })
}

/// What a segment says is synced, and its records; none where it does not begin like one. That is
/// damage: the first bytes are in the block that is written with each mark. A segment of another
/// version of the agent is refused.
fn split_start<'a>(bytes: &'a [u8], path: &Path) -> Result<Option<(u64, &'a [u8])>, FrontierError> {
    let marked = bytes.strip_prefix(MAGIC).and_then(<[u8]>::split_first_chunk);
    if let Some((mark, records)) = marked {
        return Ok(Some((mark::decode(*mark), records)));
    }
    // The power failed before the first bytes were written.
    let length = bytes.len().min(MAGIC.len());
    let is_cut = bytes[..length] == MAGIC[..length] || bytes.iter().all(|byte| *byte == 0);
    if is_cut {
        return Ok(Some((0, bytes)));
    }
    version(bytes)
        .map_or(Ok(None), |found| Err(FrontierError::Format { path: path.to_owned(), found }))
}

/// The version of the format that a segment names.
fn version(bytes: &[u8]) -> Option<u32> {
    let line = bytes.split(|byte| *byte == b'\n').next()?;
    str::from_utf8(line.strip_prefix(b"nclog ")?).ok()?.parse().ok()
}

/// The payload of the first record, and what comes after it; none where it is not complete.
fn split_record(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let (stored, rest) = rest.split_first_chunk::<4>()?;
    let (payload, after) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)?;
    (checksum(*length, payload) == u32::from_le_bytes(*stored)).then_some((payload, after))
}
