//! Files of redb, which panics at pages that it cannot have written; that becomes an error.

use std::{
    io::ErrorKind,
    marker::PhantomData,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

/// Errors of a file.
pub trait FileError: Sized {
    /// The file is damaged. `source` is what could not be read; none where redb itself gave up.
    fn damaged(path: PathBuf, source: Option<Box<Self>>) -> Self;

    /// The file is not used any more.
    fn closed() -> Self;

    /// Whether this says that the file is damaged, without its name.
    fn is_damage(&self) -> bool;

    /// Names the file, if what could not be read says that it is damaged.
    #[must_use]
    fn in_file(self, path: &Path) -> Self {
        if self.is_damage() { Self::damaged(path.to_owned(), Some(Box::new(self))) } else { self }
    }
}

/// Whether an error of redb says that the file is damaged. A full disk or one that fails does not;
/// a file that is too short, or does not begin like one of redb, does.
pub fn is_damage(error: &redb::Error) -> bool {
    match error {
        redb::Error::Io(error) => {
            matches!(error.kind(), ErrorKind::UnexpectedEof | ErrorKind::InvalidData)
        }
        redb::Error::PreviousIo | redb::Error::DatabaseAlreadyOpen => false,
        _ => true,
    }
}

/// A database or a transaction of a file. After an error of damage it is not used any more.
pub struct Guarded<T, E> {
    path: PathBuf,
    /// None only while this is dropped.
    opened: Option<T>,
    errors: PhantomData<fn() -> E>,
}

impl<T, E: FileError> Guarded<T, E> {
    /// Opens the file at `path`.
    pub fn open(path: &Path, open: impl FnOnce() -> Result<T, E>) -> Result<Self, E> {
        let opened = Some(guarded(path, open)?);
        Ok(Self { path: path.to_owned(), opened, errors: PhantomData })
    }

    /// Begins something in the same file.
    pub fn begin<U>(&self, begin: impl FnOnce(&T) -> Result<U, E>) -> Result<Guarded<U, E>, E> {
        let opened = Some(self.with(begin)?);
        Ok(Guarded { path: self.path.clone(), opened, errors: PhantomData })
    }

    /// Runs an operation.
    pub fn with<R>(&self, operation: impl FnOnce(&T) -> Result<R, E>) -> Result<R, E> {
        let opened = self.opened.as_ref().ok_or_else(E::closed)?;
        guarded(&self.path, || operation(opened))
    }

    /// Runs the last operation.
    pub fn end<R>(mut self, operation: impl FnOnce(T) -> Result<R, E>) -> Result<R, E> {
        let opened = self.opened.take().ok_or_else(E::closed)?;
        guarded(&self.path, || operation(opened))
    }
}

impl<T, E> Drop for Guarded<T, E> {
    /// After a panic redb panics again when it is closed.
    fn drop(&mut self) {
        let opened = self.opened.take();
        // An error is known already by the operation before.
        drop(catch_unwind(AssertUnwindSafe(|| drop(opened))));
    }
}

fn guarded<R, E: FileError>(path: &Path, operation: impl FnOnce() -> Result<R, E>) -> Result<R, E> {
    let done = catch_unwind(AssertUnwindSafe(operation))
        .unwrap_or_else(|_| Err(E::damaged(path.to_owned(), None)));
    done.map_err(|error| error.in_file(path))
}
