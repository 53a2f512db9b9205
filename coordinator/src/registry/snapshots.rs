//! Caches the hierarchy in a file, so that a start does not read millions of rows.
//!
//! The database is authoritative. A file that is damaged or of another generation is ignored, and
//! the hierarchy is read from Postgres.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hierarchy::{Hierarchy, Snapshot, SnapshotError};
use store::generations::{self, Facts};
use store::{Store, StoreError};

use crate::runtime::failure::chain;

const FILE: &str = "hierarchy.snapshot";

/// Reads the live generation from the file, or from Postgres into the file. `None` if it was
/// replaced meanwhile.
pub async fn hierarchy(
    data_dir: &Path,
    store: &Store,
    facts: &Facts,
) -> Result<Option<Arc<Hierarchy>>, StoreError> {
    let path = data_dir.join(FILE);
    if let Some(kept) =
        blocking(path.clone(), facts.clone(), |path, facts| kept(&path, &facts)).await.flatten()
    {
        return Ok(Some(Arc::new(kept)));
    }
    let Some(read) = generations::read(store, facts.id).await? else { return Ok(None) };
    let read = Arc::new(read);
    let mark = mark(facts);
    let written =
        blocking(path, Arc::clone(&read), move |path, hierarchy| keep(&path, &hierarchy, mark))
            .await;
    if let Some(Err(error)) = written {
        tracing::warn!(error = chain(&error), "cannot write the hierarchy for the next start");
    }
    Ok(Some(read))
}

/// Runs work on a thread that may block. `None` if it panicked: the hierarchy can still be read
/// from Postgres.
async fn blocking<A: Send + 'static, T: Send + 'static>(
    path: PathBuf,
    argument: A,
    work: impl FnOnce(PathBuf, A) -> T + Send + 'static,
) -> Option<T> {
    tokio::task::spawn_blocking(move || work(path, argument)).await.ok()
}

/// Distinguishes databases, all of which number their generations from 1: the time of the swap.
fn mark(facts: &Facts) -> u64 {
    facts.live_at.0.unsigned_abs()
}

fn kept(path: &Path, facts: &Facts) -> Option<Hierarchy> {
    let file = File::open(path).ok()?;
    match Snapshot::read(&mut &file) {
        Ok(Snapshot { mark: kept, hierarchy }) => {
            let fits = kept == mark(facts)
                && hierarchy.generation() == facts.id
                && hierarchy.len() as u64 == facts.subnets
                && hierarchy.companies().len() as u64 == facts.companies;
            fits.then_some(hierarchy)
        }
        Err(error) => {
            let path = path.display();
            tracing::warn!(error = chain(&error), %path, "the hierarchy is read from the database");
            None
        }
    }
}

/// Writes under another name and renames, so that the file is complete or absent.
fn keep(path: &Path, hierarchy: &Hierarchy, mark: u64) -> Result<(), SnapshotError> {
    let unfinished = path.with_extension("unfinished");
    let mut file = File::create(&unfinished).map_err(SnapshotError::Write)?;
    Snapshot::write(hierarchy, mark, &mut file)?;
    let finish = || -> io::Result<()> {
        file.sync_all()?;
        fs::rename(&unfinished, path)
    };
    finish().map_err(SnapshotError::Write)
}

#[cfg(test)]
mod tests {
    use hierarchy::{Builder, Companies, Generation};
    use model::UnixMillis;

    use super::*;

    fn facts(hierarchy: &Hierarchy) -> Facts {
        Facts {
            id: hierarchy.generation(),
            subnets: hierarchy.len() as u64,
            companies: 0,
            build_ms: 1,
            started_at: UnixMillis(1_699_999_000_000),
            live_at: UnixMillis(1_700_000_000_000),
            read_at: UnixMillis(1_700_000_000_000),
            sources: vec![],
        }
    }

    #[test]
    fn only_the_generation_in_use_is_taken_from_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(FILE);
        let (hierarchy, _) = Builder::default().build(Generation::new(4), Companies::default());
        let facts = facts(&hierarchy);
        assert!(kept(&path, &facts).is_none(), "there is no file");
        keep(&path, &hierarchy, mark(&facts)).unwrap();
        assert!(kept(&path, &facts).is_some());
        let later = Facts { live_at: UnixMillis(1_700_000_000_001), ..facts.clone() };
        assert!(kept(&path, &later).is_none(), "another database");
        assert!(kept(&path, &Facts { id: Generation::new(5), ..facts.clone() }).is_none());
        assert!(kept(&path, &Facts { subnets: 7, ..facts.clone() }).is_none());
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        assert!(kept(&path, &facts).is_none(), "cut short");
    }
}
