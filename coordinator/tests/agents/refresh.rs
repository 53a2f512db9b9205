//! New registry data, by a loader that is written here and says how it was called.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use coordinator::registry::refresh;
use coordinator::runtime::events::Event;
use hierarchy::Registry;

use crate::world::{Ground, Running, until};

/// The database that the loader is told.
const DATABASE: &str = "postgres://db.example/crawl";

/// A loader that writes down its arguments and its database, and then does this.
pub(crate) fn loader(dir: &Path, then: &str) -> PathBuf {
    let path = dir.join("loader");
    let dir = dir.display();
    let notes = format!("echo \"$DATABASE_URL\" >> {dir}/databases\necho \"$@\" >> {dir}/calls");
    fs::write(&path, format!("#!/bin/sh\n{notes}\n{then}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    path
}

async fn ask(running: &Running) {
    refresh::ask(&running.coordinator.store, running.coordinator.now()).await.unwrap();
    running.coordinator.events.emit(Event::RegistryRefreshRequested);
}

fn outcome(running: &Running) -> String {
    let statuses = running.coordinator.statuses.all();
    statuses
        .get("refresh_registries")
        .and_then(|status| status.last_outcome.clone())
        .unwrap_or_default()
}

#[tokio::test]
async fn who_asks_gets_the_files_fetched_and_loaded() {
    let ground = Ground::new().await;
    let dir = tempfile::tempdir().unwrap();
    let loader = loader(dir.path(), "");
    let mirror = (Registry::RipeNcc, "https://mirror.example/ripe/".parse().unwrap());
    let running = ground
        .start_changed(|config| {
            config.registries.loader = Some(loader);
            config.registries.mirrors.extend([mirror.clone()]);
            config.registries.whois = true;
            config.registries.whois_mirrors.extend([mirror]);
            config.registries.contact = Some("mailto:ops@example.org".to_owned());
            config.database_url = Some(DATABASE.to_owned());
        })
        .await;
    let data_dir = running.coordinator.config.data_dir.display().to_string();
    ask(&running).await;
    until("it was done", || {
        std::future::ready(outcome(&running).starts_with("fetched and loaded"))
    })
    .await;
    let calls = fs::read_to_string(dir.path().join("calls")).unwrap();
    let expected = format!(
        "fetch --dir {data_dir}/registries --registry ripencc --base-url \
         ripencc=https://mirror.example/ripe/ --whois --whois-base-url \
         ripencc=https://mirror.example/ripe/ --contact mailto:ops@example.org\n\
         load --data-dir {data_dir} {data_dir}/registries\n"
    );
    assert_eq!(calls, expected, "once, and not before somebody asked");
    let databases = fs::read_to_string(dir.path().join("databases")).unwrap();
    assert_eq!(databases, format!("\n{DATABASE}\n"), "files are fetched without a database");
    running.stop().await;
}

#[tokio::test]
async fn a_refresh_counts_as_tried_only_when_it_has_ended() {
    let ground = Ground::new().await;
    let dir = tempfile::tempdir().unwrap();
    let loader = loader(dir.path(), "exec sleep 600");
    let running = ground.start_changed(|config| config.registries.loader = Some(loader)).await;
    ask(&running).await;
    let calls = dir.path().join("calls");
    until("the loader runs", || std::future::ready(calls.exists())).await;
    let registry = &running.coordinator.registry;
    assert_eq!(registry.last_refresh.get(), None, "a run may be given up");
    running.stop().await;
}

#[tokio::test]
async fn what_the_loader_complains_about_is_told() {
    let ground = Ground::new().await;
    let dir = tempfile::tempdir().unwrap();
    let loader =
        loader(dir.path(), "echo first >&2; echo 'rir-loader: no registry answers' >&2; exit 69");
    let running = ground.start_changed(|config| config.registries.loader = Some(loader)).await;
    ask(&running).await;
    until("it was told", || {
        std::future::ready(outcome(&running).starts_with("rir-loader: no registry answers;"))
    })
    .await;
    let calls = fs::read_to_string(dir.path().join("calls")).unwrap();
    assert_eq!(calls.lines().count(), 1, "nothing is loaded when fetching failed: {calls}");
    running.stop().await;
}

#[tokio::test]
async fn a_loader_that_takes_its_time_does_not_hold_up_the_end() {
    let ground = Ground::new().await;
    let dir = tempfile::tempdir().unwrap();
    let loader = loader(dir.path(), "exec sleep 1000");
    let running = ground.start_changed(|config| config.registries.loader = Some(loader)).await;
    ask(&running).await;
    until("it runs", || std::future::ready(dir.path().join("calls").exists())).await;
    running.stop().await;
}
