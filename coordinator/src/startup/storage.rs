//! Opens the storage for packages and checks that it is the one of the database.
//!
//! The storage contains its random identifier, and the database records it. Coordinators with
//! different storages on one database could not read each other's packages, so the second one is
//! refused. A local directory is reached by one coordinator only, whichever machine it is on: the
//! directory of another coordinator has another identifier.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use store::{Store, settings};

use crate::packages::blob_store::{BlobError, BlobStore};
use crate::runtime::config::Config;
use crate::runtime::failure::{Failure, chain};
use crate::runtime::storage_location::StorageLocation;
use crate::startup::database::database_failure;

/// Name of the setting that records the storage.
const SETTING: &str = "storage";

/// A storage as the database records it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Record {
    /// Its random identifier, which it contains.
    id: String,
    /// Where it was when it was last opened.
    place: String,
}

/// Opens the storage of the configuration.
pub async fn open(config: &Config, store: &Store) -> Result<BlobStore, Failure> {
    let blobs = prepare(config)?;
    let proposal = HEXLOWER.encode(&rand::random::<[u8; 16]>());
    let id = blobs.identifier(&proposal).await.map_err(|error| unusable(&error))?;
    let mine = Record { id, place: blobs.place().to_owned() };
    check(store, &mine).await?;
    Ok(blobs)
}

/// Makes the directory, or the client of the bucket; nothing is read or written yet.
fn prepare(config: &Config) -> Result<BlobStore, Failure> {
    let min_free_mib = config.limits.min_free_mib.into();
    let opened = match &config.storage {
        StorageLocation::File => BlobStore::local(&config.data_dir.join("packages"), min_free_mib),
        StorageLocation::S3 { bucket, prefix } => {
            // Fails only if a provider is installed already.
            let _ = rustls::crypto::ring::default_provider().install_default();
            BlobStore::s3((bucket, prefix), &config.s3, &config.data_dir, min_free_mib)
        }
    };
    opened.map_err(|error| match error {
        BlobError::UnknownOption { .. } => Failure::configuration(chain(&error)),
        BlobError::Options { .. } => Failure::configuration(format!(
            "{}; correct [s3] in the configuration, or the variables AWS_*",
            chain(&error)
        )),
        _ => Failure::cannot_create(chain(&error)),
    })
}

fn unusable(error: &BlobError) -> Failure {
    Failure::unavailable(format!(
        "{}; check the storage, and for S3 its endpoint, region and credentials (AWS_ENDPOINT_URL, \
         AWS_REGION, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or [s3] in the configuration)",
        chain(error)
    ))
}

async fn check(store: &Store, mine: &Record) -> Result<(), Failure> {
    let failed = |error| database_failure(&error);
    let value = serde_json::json!(mine);
    let recorded = settings::get_or_set(store, SETTING, &value).await.map_err(failed)?;
    let recorded: Record = serde_json::from_value(recorded).map_err(|error| {
        Failure::other(format!("the setting {SETTING} in the database cannot be read: {error}"))
    })?;
    if recorded.id != mine.id {
        return Err(refusal(&recorded, mine));
    }
    if recorded.place != mine.place {
        tracing::info!(from = recorded.place, to = mine.place, "the storage was moved");
        settings::set(store, SETTING, &value).await.map_err(failed)?;
    }
    Ok(())
}

fn refusal(recorded: &Record, mine: &Record) -> Failure {
    Failure::configuration(format!(
        "the packages of this database are kept in {}, but this coordinator was started with {}. \
         Start it with the same --storage. Several coordinators need shared storage \
         (--storage s3://bucket/prefix): to change to it, stop the other coordinators, copy \
         everything in {} to the bucket, and start all of them with that option. If those packages \
         are lost or not needed, delete the row {SETTING:?} of the table settings",
        recorded.place, mine.place, recorded.place
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::startup::cli::ServeArgs;
    use crate::startup::configuration;

    /// The failure with this section `[s3]`.
    fn failure_with(s3: &str) -> Failure {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("coordinator.toml");
        std::fs::write(&path, format!("storage = 's3://packages'\n[s3]\n{s3}\n")).unwrap();
        let args = ServeArgs { config: Some(path), ..ServeArgs::default() };
        let config = configuration::load(args, || Some(dir.path().to_owned())).unwrap();
        prepare(&config).unwrap_err()
    }

    #[test]
    fn a_mistyped_setting_of_s3_is_a_wrong_configuration() {
        let failure = failure_with("endpont_url = 'http://127.0.0.1:9'");
        assert_eq!(failure.code(), 64);
        let sentence = failure.to_string();
        assert!(sentence.contains("\"endpont_url\"") && sentence.contains("[s3]"), "{sentence}");
    }

    #[test]
    fn an_unusable_value_for_s3_is_a_wrong_configuration() {
        let failure = failure_with("checksum_algorithm = 'md4'");
        assert_eq!(failure.code(), 64);
        let sentence = failure.to_string();
        assert!(sentence.contains("md4") && sentence.contains("[s3]"), "{sentence}");
    }
}
