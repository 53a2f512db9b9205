//! Downloads that fail in every way.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rir_loader::fetch::{
    FetchError, FetchOptions, LocalFile, Mirror, RemoteFile, RetryPolicy, fetch,
};
use tempfile::TempDir;

use crate::server::{Fault, Server};

const RETRY: RetryPolicy =
    RetryPolicy { attempts: 3, connections: 2, pause: Duration::from_millis(1) };

/// Long enough to be sent in several pieces.
fn edition(letter: u8) -> Vec<u8> {
    (0..300_000_u32).map(|place| letter.wrapping_add((place / 7) as u8)).collect()
}

struct Fixture {
    server: Server,
    dir: TempDir,
}

impl Fixture {
    async fn with(body: &[u8], etag: &str) -> Self {
        let server = Server::start().await;
        server.publish(body, etag);
        Self { server, dir: tempfile::tempdir().unwrap() }
    }

    async fn fetch_with(&self, retry: RetryPolicy) -> Result<LocalFile, FetchError> {
        self.fetch_from(&self.server.mirror().delegated(), retry).await
    }

    async fn fetch_from(
        &self,
        remote: &RemoteFile,
        retry: RetryPolicy,
    ) -> Result<LocalFile, FetchError> {
        let options = FetchOptions { retry, contact: Some("mailto:ops@example.org") };
        fetch(remote, self.dir.path(), options, &|_| {}).await
    }

    async fn fetch(&self) -> Result<LocalFile, FetchError> {
        self.fetch_with(RETRY).await
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("delegated-apnic-extended-latest")
    }

    fn part(&self) -> PathBuf {
        self.dir.path().join("delegated-apnic-extended-latest.part")
    }

    fn files(&self) -> usize {
        self.dir.path().read_dir().unwrap().count()
    }

    fn assert_holds(&self, body: &[u8]) {
        assert!(std::fs::read(self.path()).unwrap() == body, "not the bytes that were published");
        assert_eq!(self.files(), 1, "nothing else is left behind");
    }
}

#[tokio::test]
async fn a_file_is_fetched_once_while_it_stays_the_same() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    let fetched = fixture.fetch().await.unwrap();
    assert_eq!(fetched, LocalFile { path: fixture.path(), bytes: 300_000, up_to_date: false });
    fixture.assert_holds(&edition(1));
    assert_eq!(fixture.server.ranges(), ["all"]);
    assert!(fixture.fetch().await.unwrap().up_to_date);
    assert_eq!(fixture.server.ranges(), [""; 0]);
    fixture.server.publish(&edition(2), "\"two\"");
    assert!(!fixture.fetch().await.unwrap().up_to_date);
    fixture.assert_holds(&edition(2));
}

#[tokio::test]
async fn a_download_that_breaks_off_goes_on_where_it_stopped() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.server.with_data([Fault::CutAfter(100_000), Fault::CutAfter(50_000)]);
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["all", "bytes=100000-", "bytes=150000-"]);
    fixture.assert_holds(&edition(1));
}

#[tokio::test]
async fn it_goes_on_in_a_later_run_too() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.server.with_data([Fault::CutAfter(100_000)]);
    let error = fixture.fetch_with(RetryPolicy { attempts: 1, ..RETRY }).await.unwrap_err();
    assert!(matches!(error, FetchError::BrokenOff { got: 100_000, attempts: 1, .. }), "{error}");
    assert!(error.to_string().contains("run the command again to continue"), "{error}");
    assert!(!fixture.path().exists());
    fixture.server.asked();
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["bytes=100000-"]);
    fixture.assert_holds(&edition(1));
}

#[tokio::test]
async fn the_rest_of_another_edition_is_not_appended() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.server.with_data([Fault::CutAfter(100_000)]);
    fixture.fetch_with(RetryPolicy { attempts: 1, ..RETRY }).await.unwrap_err();
    fixture.server.publish(&edition(2), "\"two\"");
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["all", "bytes=100000-"]);
    fixture.assert_holds(&edition(2));
}

#[tokio::test]
async fn a_server_without_editions_or_ranges_is_asked_for_all() {
    let fixture = Fixture::with(&edition(1), "").await;
    fixture.server.with_data([Fault::CutAfter(100_000)]);
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["all", "all"]);
    fixture.assert_holds(&edition(1));

    let fixture = Fixture::with(&edition(1), "W/\"weak\"").await;
    fixture.server.with_data([Fault::CutAfter(100_000)]);
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["all", "all"]);

    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.server.with_data([Fault::CutAfter(100_000), Fault::IgnoreRange]);
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["all", "bytes=100000-"]);
    fixture.assert_holds(&edition(1));
}

#[tokio::test]
async fn a_run_that_died_before_the_last_step_is_finished() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    std::fs::write(fixture.part(), edition(1)).unwrap();
    std::fs::write(fixture.part().with_extension("etag"), "\"one\"").unwrap();
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["bytes=300000-"]);
    fixture.assert_holds(&edition(1));
}

#[tokio::test]
async fn more_bytes_than_there_are_begin_again() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    std::fs::write(fixture.part(), vec![0; 400_000]).unwrap();
    std::fs::write(fixture.part().with_extension("etag"), "\"one\"").unwrap();
    fixture.fetch().await.unwrap();
    assert_eq!(fixture.server.ranges(), ["bytes=400000-", "all"]);
    fixture.assert_holds(&edition(1));
}

#[tokio::test]
async fn a_wrong_checksum_leaves_nothing_and_keeps_the_old_file() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.fetch().await.unwrap();
    let wrong = "00000000000000000000000000000000";
    fixture.server.publish(&edition(2), "\"two\"");
    fixture.server.put_sum(wrong);
    fixture.server.asked();
    let error = fixture.fetch().await.unwrap_err();
    assert!(matches!(&error, FetchError::Checksum { wanted, .. } if wanted == wrong), "{error}");
    assert!(error.to_string().contains("damaged on the way; nothing was kept"), "{error}");
    assert_eq!(
        fixture.server.ranges(),
        ["all", "all"],
        "tried once more: an edition may have come out meanwhile"
    );
    fixture.assert_holds(&edition(1));
}

#[tokio::test]
async fn what_is_not_there_says_so_and_what_to_do() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.server.with_data([Fault::Status(404)]);
    let error = fixture.fetch().await.unwrap_err().to_string();
    assert!(
        error.contains(
            "delegated-apnic-extended-latest answered 404 Not Found: the registry may have moved"
        ),
        "{error}"
    );
    fixture.server.with_sum([Fault::Status(403)]);
    let error = fixture.fetch().await.unwrap_err().to_string();
    assert!(
        error.contains(".md5 answered 403 Forbidden") && error.contains("--base-url"),
        "{error}"
    );
    fixture.server.put_sum("<html>Welcome</html>");
    let error = fixture.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::NoChecksum { .. }), "{error}");
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_again_but_not_for_ever() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    fixture.server.with_data([Fault::Status(503), Fault::Status(429)]);
    fixture.server.with_sum([Fault::Status(500)]);
    fixture.fetch().await.unwrap();
    fixture.assert_holds(&edition(1));
    fixture.server.publish(&edition(2), "\"two\"");
    fixture.server.with_data([Fault::Status(503); 3]);
    let error = fixture.fetch().await.unwrap_err();
    assert!(
        matches!(&error, FetchError::Status { status, .. } if status.as_u16() == 503),
        "{error}"
    );
}

#[tokio::test]
async fn nobody_there_is_one_sentence() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/", listener.local_addr().unwrap());
    drop(listener);
    let mirror = Mirror::at(hierarchy::Registry::Lacnic, &base).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let options = FetchOptions { retry: RETRY, ..FetchOptions::default() };
    let error = fetch(&mirror.delegated(), dir.path(), options, &|_| {}).await.unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { attempts: 2, .. }), "{error}");
}

#[tokio::test]
async fn more_than_any_registry_publishes_is_not_taken() {
    let fixture = Fixture::with(b"x", "\"one\"").await;
    fixture.server.with_data([Fault::Claim(1 << 40)]);
    let error = fixture.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn two_downloads_of_one_file_do_not_mix() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    let other = std::fs::File::create(fixture.part()).unwrap();
    other.lock().unwrap();
    let error = fixture.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::Busy { .. }), "{error}");
    drop(other);
    fixture.fetch().await.unwrap();
}

#[tokio::test]
async fn a_disk_that_refuses_is_named() {
    let fixture = Fixture::with(&edition(1), "\"one\"").await;
    let nowhere = Path::new("/nowhere/at/all");
    let error =
        fetch(&fixture.server.mirror().delegated(), nowhere, FetchOptions::default(), &|_| {})
            .await
            .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot create /nowhere/at/all/delegated-apnic-extended-latest.part"
    );
}
