//! Opens the storage for packages and checks that it is the one of the database.
//!
//! The storage contains its random identifier, and the database records it. Coordinators with
//! different storages on one database could not read each other's packages, so the second one is
//! refused. A local directory is reached by one coordinator only, whichever machine it is on: the
//! directory of another coordinator has another identifier.

use data_encoding::HEXLOWER;
use model::UnixMillis;
use serde::{Deserialize, Serialize};
use store::{Address, Candidacy, Election, Store, audit, settings};

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

/// Whether a start could use the storage of the configuration, as far as reading tells. Changes
/// nothing, so a private database, which would have to be started, is not asked.
pub(super) async fn examine(config: &Config) -> Result<String, Failure> {
    let recorded = recorded_by_server(config).await;
    let dir = config.data_dir.join("packages");
    if config.storage == StorageLocation::File && !dir.try_exists().unwrap_or(true) {
        return compare(recorded.as_ref(), None, &format!("the local directory {}", dir.display()));
    }
    let blobs = prepare(config)?;
    let id = blobs.recorded_identifier().await.map_err(|error| unusable(&error))?;
    if id.is_none() {
        blobs.check_place().await.map_err(|error| unusable(&error))?;
    }
    compare(recorded.as_ref(), id.as_deref(), blobs.place())
}

/// What a start would make of a storage with this identifier.
fn compare(recorded: Option<&Record>, id: Option<&str>, place: &str) -> Result<String, Failure> {
    match (recorded, id) {
        (Some(recorded), id) if id != Some(&recorded.id) => Err(refusal(recorded, place)),
        (Some(_), _) => Ok(format!("{place} is the storage of the database")),
        (None, Some(_)) => Ok(format!("{place} can be read")),
        (None, None) => Ok(format!("{place} will be used for the first time")),
    }
}

/// What a server that is given by URL has recorded; none where it does not answer.
async fn recorded_by_server(config: &Config) -> Option<Record> {
    let address = Address::url(config.database_url.as_deref()?).ok()?;
    let value = settings::get_unopened(&address, SETTING).await.ok()??;
    serde_json::from_value(value).ok()
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
        return Err(refusal(&recorded, &mine.place));
    }
    if recorded.place != mine.place {
        tracing::info!(from = recorded.place, to = mine.place, "the storage was moved");
        settings::set(store, SETTING, &value).await.map_err(failed)?;
    }
    Ok(())
}

/// Forgets which storage the database has, so that the next coordinator that starts brings its own.
/// Returns the place of the former one. No coordinator may run: each would go on with the storage
/// that it opened.
pub(super) async fn forget(store: &Store, actor: &str, now: UnixMillis) -> Result<String, Failure> {
    let failed = |error| database_failure(&error);
    let candidacy = Candidacy::begin(store).await.map_err(failed)?;
    let Election::Won(leadership) = candidacy.ask().await.map_err(failed)? else {
        return Err(Failure::other(
            "a coordinator runs on this database; stop all coordinators first, then repeat this \
             command",
        ));
    };
    let forgotten = forget_alone(store, actor, now).await;
    leadership.resign().await;
    forgotten
}

async fn forget_alone(store: &Store, actor: &str, now: UnixMillis) -> Result<String, Failure> {
    let failed = |error| database_failure(&error);
    let Some(recorded) = settings::get(store, SETTING).await.map_err(failed)? else {
        return Err(Failure::other(
            "the database has no record of a storage: the next coordinator that starts records \
             its own",
        ));
    };
    let place = recorded["place"].as_str().unwrap_or("a place that is not known").to_owned();
    let entry = audit::Entry::new(actor, "storage.forget", SETTING, recorded);
    settings::remove(store, SETTING, &entry, now).await.map_err(failed)?;
    Ok(place)
}

fn refusal(recorded: &Record, place: &str) -> Failure {
    Failure::configuration(format!(
        "the packages of this database are kept in {}, but this coordinator was started with \
         {place}. Start it with the same --storage. Several coordinators need shared storage \
         (--storage s3://bucket/prefix): to change to it, stop the other coordinators, copy \
         everything in {} to the bucket, and start all of them with that option. If those packages \
         are lost or not needed, stop all coordinators and run `nearcrawl-coordinator admin \
         forget-storage`",
        recorded.place, recorded.place
    ))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use store::testing::TestDatabase;

    use super::*;
    use crate::startup::cli::ServeArgs;
    use crate::startup::configuration;

    /// A configuration file in `dir`, which is the data directory, too.
    fn config(dir: &Path, text: &str) -> Config {
        let path = dir.join("coordinator.toml");
        std::fs::write(&path, text).unwrap();
        let args = ServeArgs { config: Some(path), ..ServeArgs::default() };
        configuration::load(args, || Some(dir.to_owned())).unwrap()
    }

    /// The failure with this section `[s3]`.
    fn failure_with(s3: &str) -> Failure {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("storage = 's3://packages'\n[s3]\n{s3}\n");
        prepare(&config(dir.path(), &text)).unwrap_err()
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

    #[tokio::test]
    async fn a_storage_that_does_not_answer_is_noticed_without_a_start() {
        let dir = tempfile::tempdir().unwrap();
        let closed = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let text = format!(
            "storage = 's3://packages'\n[s3]\nendpoint_url = 'http://{closed}'\n\
             access_key_id = 'a'\nsecret_access_key = 'b'\n"
        );
        let failure = examine(&config(dir.path(), &text)).await.unwrap_err();
        assert_eq!(failure.code(), 69);
    }

    #[tokio::test]
    async fn a_bucket_that_does_not_exist_is_noticed_without_a_start() {
        let dir = tempfile::tempdir().unwrap();
        let server = s3_server::S3Server::start().unwrap();
        let options = server.options().map(|(key, value)| format!("{key} = '{value}'\n")).concat();
        let with =
            |place: &str| config(dir.path(), &format!("storage = '{place}'\n[s3]\n{options}"));
        let finding = examine(&with(&server.storage())).await.unwrap();
        assert!(finding.contains("the first time"), "{finding}");
        assert_eq!(examine(&with("s3://missing")).await.unwrap_err().code(), 69);
    }

    #[tokio::test]
    async fn a_storage_of_another_database_is_noticed_without_a_start() {
        let dir = tempfile::tempdir().unwrap();
        let database = TestDatabase::new().await.unwrap();
        let config = config(dir.path(), &format!("database_url = '{}'", database.url()));
        let packages = dir.path().join("packages");
        assert!(examine(&config).await.unwrap().contains("the first time"));
        assert!(!packages.exists());
        open(&config, database.store()).await.unwrap();
        assert!(examine(&config).await.unwrap().contains("of the database"));
        std::fs::write(packages.join("nearcrawl-storage"), "another").unwrap();
        assert_eq!(examine(&config).await.unwrap_err().code(), 64);
        std::fs::remove_dir_all(packages).unwrap();
        assert_eq!(examine(&config).await.unwrap_err().code(), 64);
    }

    #[tokio::test]
    async fn a_storage_that_was_replaced_on_purpose_is_taken_once_the_former_is_forgotten() {
        let dir = tempfile::tempdir().unwrap();
        let database = TestDatabase::new().await.unwrap();
        let store = database.store();
        let config = config(dir.path(), &format!("database_url = '{}'", database.url()));
        open(&config, store).await.unwrap();
        std::fs::remove_dir_all(dir.path().join("packages")).unwrap();
        let refusal = open(&config, store).await.err().unwrap().to_string();
        assert!(refusal.contains("admin forget-storage"), "{refusal}");

        let candidacy = Candidacy::begin(store).await.unwrap();
        let Election::Won(running) = candidacy.ask().await.unwrap() else { panic!("a leader") };
        let refused = forget(store, "ada", UnixMillis(0)).await.unwrap_err().to_string();
        assert!(refused.contains("stop all coordinators"), "{refused}");
        running.resign().await;
        let place = forget(store, "ada", UnixMillis(0)).await.unwrap();
        assert!(place.contains("packages"), "{place}");
        assert!(forget(store, "ada", UnixMillis(0)).await.is_err(), "nothing is recorded");
        open(&config, store).await.unwrap();
        let filter = audit::Filter { action: Some("storage.forget"), ..<_>::default() };
        let entries = audit::list(store, &filter, i64::MAX, 10).await.unwrap();
        assert_eq!(entries.len(), 1);
    }
}
