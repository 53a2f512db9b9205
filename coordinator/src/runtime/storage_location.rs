//! Location of the storage for packages, as an operator writes it.

use std::fmt;
use std::str::FromStr;

/// Where the bodies of packages are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum StorageLocation {
    /// `file`: the folder `packages` of the data directory, for one coordinator.
    #[default]
    File,
    /// `s3://bucket/prefix`: any S3, for any number of coordinators.
    S3 {
        /// The bucket, which must exist.
        bucket: String,
        /// Beginning of all keys; empty for none.
        prefix: String,
    },
}

/// A text that is no location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("storage {0:?} is neither \"file\" nor of the form s3://bucket/prefix")]
pub struct LocationError(String);

impl FromStr for StorageLocation {
    type Err = LocationError;

    fn from_str(text: &str) -> Result<Self, LocationError> {
        if text == "file" {
            return Ok(Self::File);
        }
        let rest = text.strip_prefix("s3://").ok_or_else(|| LocationError(text.to_owned()))?;
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = |c: char| c.is_ascii_alphanumeric() || "-._".contains(c);
        if bucket.is_empty() || !bucket.chars().all(is_name) {
            return Err(LocationError(text.to_owned()));
        }
        let prefix = prefix.trim_matches('/').to_owned();
        Ok(Self::S3 { bucket: bucket.to_owned(), prefix })
    }
}

impl fmt::Display for StorageLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => f.write_str("file"),
            Self::S3 { bucket, prefix } if prefix.is_empty() => write!(f, "s3://{bucket}"),
            Self::S3 { bucket, prefix } => write!(f, "s3://{bucket}/{prefix}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_location_is_read_as_it_is_written() {
        for text in ["file", "s3://bucket", "s3://bucket/a/b"] {
            assert_eq!(text.parse::<StorageLocation>().unwrap().to_string(), text);
        }
        let prefix = StorageLocation::S3 { bucket: "b".into(), prefix: "p".into() };
        assert_eq!("s3://b/p/".parse(), Ok(prefix));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", "/var/packages", "s3://", "s3:///prefix", "S3://b", "gs://b", "s3://b?c"] {
            assert!(text.parse::<StorageLocation>().is_err(), "{text}");
        }
    }
}
