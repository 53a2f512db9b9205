//! Which segments of the index are merged.
//!
//! Each commit adds a small segment, and a search visits all of them, so that segments of one size
//! are merged. A merge writes its segments again before the old files are deleted. It therefore
//! needs as much free space as they take, and delays the merges after it.

use std::path::{Path, PathBuf};

use nix::sys::statvfs::statvfs;
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::{LogMergePolicy, MergeCandidate, MergePolicy};

/// Pages of the largest segment that is merged with others. Eight of them make one of some 40 GB.
const LARGEST: u32 = 1_000_000;
/// Share of deleted pages from which on a segment is rewritten without them.
const DELETED: f32 = 0.3;

/// Merges segments of similar size, within bounds of size and of free space.
#[derive(Debug, Clone)]
pub(crate) struct BoundedMerges {
    by_size: LogMergePolicy,
    /// Directory of the index.
    dir: PathBuf,
    /// Bytes that a merge leaves free on the disk.
    reserve: u64,
}

impl BoundedMerges {
    pub(crate) fn new(dir: &Path, reserve: u64) -> Self {
        let mut by_size = LogMergePolicy::default();
        by_size.set_max_docs_before_merge(LARGEST as usize);
        by_size.set_del_docs_ratio_before_merge(DELETED);
        Self { by_size, dir: dir.to_owned(), reserve }
    }

    /// Bytes that merges may take. Without a figure they are tried.
    fn room(&self) -> u64 {
        statvfs(&self.dir).map_or(u64::MAX, |disk| {
            let free = disk.blocks_available() * disk.fragment_size();
            free.saturating_sub(self.reserve)
        })
    }

    /// Those of the merges that fit together, the smallest first.
    fn fitting(&self, merges: Vec<MergeCandidate>, mut room: u64) -> Vec<MergeCandidate> {
        let needed = |merge: &MergeCandidate| merge.0.iter().map(|one| self.bytes(*one)).sum();
        let mut sized: Vec<(u64, MergeCandidate)> =
            merges.into_iter().map(|merge| (needed(&merge), merge)).collect();
        sized.sort_by_key(|(needed, _)| *needed);
        sized.retain(|(needed, _)| {
            let fits = *needed <= room;
            if fits {
                room -= needed;
            } else {
                tracing::debug!(needed, room, "no room on the disk to merge segments of the index");
            }
            fits
        });
        sized.into_iter().map(|(_, merge)| merge).collect()
    }

    /// Bytes of the files of a segment, which all begin with its name.
    fn bytes(&self, segment: SegmentId) -> u64 {
        let name = segment.uuid_string();
        let files = std::fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let of_segment = files.filter(|file| {
            file.file_name().to_str().is_some_and(|file_name| file_name.starts_with(&name))
        });
        of_segment.filter_map(|file| file.metadata().ok()).map(|file| file.len()).sum()
    }
}

impl MergePolicy for BoundedMerges {
    fn compute_merge_candidates(&self, segments: &[SegmentMeta]) -> Vec<MergeCandidate> {
        let mut merges = self.by_size.compute_merge_candidates(segments);
        // The policy by size leaves large segments out. Without this they would keep the text of
        // deleted pages for ever.
        let large = segments.iter().filter(|segment| {
            let deleted = f64::from(segment.num_deleted_docs()) / f64::from(segment.max_doc());
            segment.num_docs() > LARGEST && deleted > f64::from(DELETED)
        });
        merges.extend(large.map(|segment| MergeCandidate(vec![segment.id()])));
        self.fitting(merges, self.room())
    }
}

#[cfg(test)]
mod tests {
    use model::{AgentId, UnixMillis};
    use tempfile::TempDir;

    use super::*;
    use crate::{Document, Index};

    /// An index of segments that are not merged.
    fn segments(count: i64) -> (TempDir, Vec<SegmentMeta>) {
        let dir = tempfile::tempdir().unwrap();
        let index = Index::open(dir.path(), u64::MAX).unwrap();
        for number in 0..count {
            index.upsert(&page(&format!("http://a.example/{number}"), number)).unwrap();
            index.commit("").unwrap();
        }
        drop(index);
        let segments = tantivy::Index::open_in_dir(dir.path()).unwrap().searchable_segment_metas();
        (dir, segments.unwrap())
    }

    fn page(url: &str, fetched_at: i64) -> Document<'_> {
        Document {
            agent: AgentId::new(1),
            url,
            canonical: None,
            title: "",
            headings: "",
            text: "words",
            max_snippet: None,
            lang: None,
            fetched_at: UnixMillis(fetched_at),
            now: UnixMillis(fetched_at),
        }
    }

    #[test]
    fn segments_are_merged_where_the_disk_has_room() {
        let (dir, segments) = segments(9);
        assert_eq!(segments.len(), 9);
        let merges = |reserve| {
            BoundedMerges::new(dir.path(), reserve).compute_merge_candidates(&segments).len()
        };
        assert_eq!((merges(0), merges(u64::MAX)), (1, 0));
    }

    #[test]
    fn a_merge_needs_the_bytes_of_its_segments() {
        let (dir, segments) = segments(2);
        let policy = BoundedMerges::new(dir.path(), 0);
        let bytes: u64 = segments.iter().map(|segment| policy.bytes(segment.id())).sum();
        let one_by_one = || segments.iter().map(|one| MergeCandidate(vec![one.id()])).collect();
        let fitting = |room| policy.fitting(one_by_one(), room).len();
        assert_eq!((fitting(bytes), fitting(bytes - 1), fitting(0)), (2, 1, 0), "together");
        assert!(policy.room() < u64::MAX);
    }
}
