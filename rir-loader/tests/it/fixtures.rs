//! The files that come with the tests, and how to bend them.

use std::io::Write;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use rir_loader::delegated::{FileReport, ReadError, read_stream};
use rir_loader::read::{Nested, read};

/// The directory with one file a registry.
pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub(crate) fn text(registry: &str) -> String {
    std::fs::read_to_string(dir().join(format!("delegated-{registry}-extended"))).unwrap()
}

pub(crate) fn all() -> Vec<PathBuf> {
    rir_loader::files::files(&[dir()]).unwrap()
}

pub(crate) fn nested() -> Nested {
    read(&all(), &|_| {}).unwrap()
}

/// Reads bytes as the file `x`.
pub(crate) fn read_bytes(bytes: &[u8]) -> Result<FileReport, ReadError> {
    read_stream("x", bytes, &mut |_| {})
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
