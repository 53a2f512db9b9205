//! The delegated files that come with the tests.

use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::bufread::MultiGzDecoder;
use flate2::write::GzEncoder;
use rir_loader::TextError;
use rir_loader::delegated::{self, DelegatedReport};
use rir_loader::read::{Options, RegistryData, read};

/// The directory with one file for each registry.
pub(crate) fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures")
}

pub(crate) fn text(registry: &str) -> String {
    std::fs::read_to_string(dir().join(format!("delegated-{registry}-extended"))).unwrap()
}

pub(crate) fn all() -> Vec<PathBuf> {
    rir_loader::files::files(&[dir()]).unwrap()
}

pub(crate) fn data() -> RegistryData {
    read(&all(), Options::default(), &|_| {}).unwrap()
}

/// Options for files whose records hold documentation addresses, which are special-purpose space.
pub(crate) fn documentation() -> Options {
    Options { special_purpose: true, ..Options::default() }
}

/// Reads plain or packed bytes as a delegated file, and refuses too many malformed records.
pub(crate) fn read_bytes(bytes: &[u8]) -> Result<DelegatedReport, TextError> {
    let report = if bytes.starts_with(&[0x1f, 0x8b]) {
        delegated::read(BufReader::new(MultiGzDecoder::new(bytes)), &mut |_| {})
    } else {
        delegated::read(bytes, &mut |_| {})
    }?;
    report.rejects.check(report.records())?;
    Ok(report)
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(vec![], Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}
