//! Downloads that go wrong in every way a network knows.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rir_loader::fetch::{FetchError, Fetched, Manners, Mirror, Patience, Remote, fetch};
use tempfile::TempDir;

use crate::server::{Mischief, Server};

const PATIENCE: Patience =
    Patience { attempts: 3, connections: 2, pause: Duration::from_millis(1) };

/// Long enough to be sent in several pieces.
fn edition(letter: u8) -> Vec<u8> {
    (0..300_000_u32).map(|place| letter.wrapping_add((place / 7) as u8)).collect()
}

struct World {
    server: Server,
    dir: TempDir,
}

impl World {
    async fn with(body: &[u8], etag: &str) -> Self {
        let server = Server::start().await;
        server.publish(body, etag);
        Self { server, dir: tempfile::tempdir().unwrap() }
    }

    async fn fetch_with(&self, patience: Patience) -> Result<Fetched, FetchError> {
        self.fetch_from(&self.server.mirror().delegated(), patience).await
    }

    async fn fetch_from(&self, remote: &Remote, patience: Patience) -> Result<Fetched, FetchError> {
        let manners = Manners { patience, contact: Some("mailto:ops@example.org") };
        fetch(remote, self.dir.path(), manners, &|_| {}).await
    }

    async fn fetch(&self) -> Result<Fetched, FetchError> {
        self.fetch_with(PATIENCE).await
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
    let world = World::with(&edition(1), "\"one\"").await;
    let fetched = world.fetch().await.unwrap();
    assert_eq!(fetched, Fetched { path: world.path(), bytes: 300_000, up_to_date: false });
    world.assert_holds(&edition(1));
    assert_eq!(world.server.ranges(), ["all"]);
    assert!(world.fetch().await.unwrap().up_to_date);
    assert_eq!(world.server.ranges(), [""; 0]);
    world.server.publish(&edition(2), "\"two\"");
    assert!(!world.fetch().await.unwrap().up_to_date);
    world.assert_holds(&edition(2));
}

#[tokio::test]
async fn a_download_that_breaks_off_goes_on_where_it_stopped() {
    let world = World::with(&edition(1), "\"one\"").await;
    world.server.with_data([Mischief::CutAfter(100_000), Mischief::CutAfter(50_000)]);
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["all", "bytes=100000-", "bytes=150000-"]);
    world.assert_holds(&edition(1));
}

#[tokio::test]
async fn it_goes_on_in_a_later_run_too() {
    let world = World::with(&edition(1), "\"one\"").await;
    world.server.with_data([Mischief::CutAfter(100_000)]);
    let error = world.fetch_with(Patience { attempts: 1, ..PATIENCE }).await.unwrap_err();
    assert!(matches!(error, FetchError::BrokenOff { got: 100_000, attempts: 1, .. }), "{error}");
    assert!(error.to_string().contains("run the command again to go on"), "{error}");
    assert!(!world.path().exists());
    world.server.asked();
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["bytes=100000-"]);
    world.assert_holds(&edition(1));
}

#[tokio::test]
async fn the_rest_of_another_edition_is_not_appended() {
    let world = World::with(&edition(1), "\"one\"").await;
    world.server.with_data([Mischief::CutAfter(100_000)]);
    world.fetch_with(Patience { attempts: 1, ..PATIENCE }).await.unwrap_err();
    world.server.publish(&edition(2), "\"two\"");
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["all", "bytes=100000-"]);
    world.assert_holds(&edition(2));
}

#[tokio::test]
async fn a_server_without_editions_or_ranges_is_asked_for_all() {
    let world = World::with(&edition(1), "").await;
    world.server.with_data([Mischief::CutAfter(100_000)]);
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["all", "all"]);
    world.assert_holds(&edition(1));

    let world = World::with(&edition(1), "W/\"weak\"").await;
    world.server.with_data([Mischief::CutAfter(100_000)]);
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["all", "all"]);

    let world = World::with(&edition(1), "\"one\"").await;
    world.server.with_data([Mischief::CutAfter(100_000), Mischief::IgnoreRange]);
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["all", "bytes=100000-"]);
    world.assert_holds(&edition(1));
}

#[tokio::test]
async fn a_run_that_died_before_the_last_step_is_finished() {
    let world = World::with(&edition(1), "\"one\"").await;
    std::fs::write(world.part(), edition(1)).unwrap();
    std::fs::write(world.part().with_extension("etag"), "\"one\"").unwrap();
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["bytes=300000-"]);
    world.assert_holds(&edition(1));
}

#[tokio::test]
async fn more_bytes_than_there_are_begin_again() {
    let world = World::with(&edition(1), "\"one\"").await;
    std::fs::write(world.part(), vec![0; 400_000]).unwrap();
    std::fs::write(world.part().with_extension("etag"), "\"one\"").unwrap();
    world.fetch().await.unwrap();
    assert_eq!(world.server.ranges(), ["bytes=400000-", "all"]);
    world.assert_holds(&edition(1));
}

#[tokio::test]
async fn a_wrong_checksum_leaves_nothing_and_keeps_the_old_file() {
    let world = World::with(&edition(1), "\"one\"").await;
    world.fetch().await.unwrap();
    let wrong = "00000000000000000000000000000000";
    world.server.publish(&edition(2), "\"two\"");
    world.server.put_sum(wrong);
    world.server.asked();
    let error = world.fetch().await.unwrap_err();
    assert!(matches!(&error, FetchError::Checksum { wanted, .. } if wanted == wrong), "{error}");
    assert!(error.to_string().contains("damaged on the way; nothing was kept"), "{error}");
    assert_eq!(
        world.server.ranges(),
        ["all", "all"],
        "tried once more: an edition may have come out meanwhile"
    );
    world.assert_holds(&edition(1));
}

#[tokio::test]
async fn what_is_not_there_says_so_and_what_to_do() {
    let world = World::with(&edition(1), "\"one\"").await;
    world.server.with_data([Mischief::Status(404)]);
    let error = world.fetch().await.unwrap_err().to_string();
    assert!(
        error.contains(
            "delegated-apnic-extended-latest answered 404 Not Found: the registry may have moved"
        ),
        "{error}"
    );
    world.server.with_sum([Mischief::Status(403)]);
    let error = world.fetch().await.unwrap_err().to_string();
    assert!(
        error.contains(".md5 answered 403 Forbidden") && error.contains("--base-url"),
        "{error}"
    );
    world.server.put_sum("<html>Welcome</html>");
    let error = world.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::NoChecksum { .. }), "{error}");
}

#[tokio::test]
async fn a_server_in_trouble_is_asked_again_but_not_for_ever() {
    let world = World::with(&edition(1), "\"one\"").await;
    world.server.with_data([Mischief::Status(503), Mischief::Status(429)]);
    world.server.with_sum([Mischief::Status(500)]);
    world.fetch().await.unwrap();
    world.assert_holds(&edition(1));
    world.server.publish(&edition(2), "\"two\"");
    world.server.with_data([Mischief::Status(503); 3]);
    let error = world.fetch().await.unwrap_err();
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
    let manners = Manners { patience: PATIENCE, ..Manners::default() };
    let error = fetch(&mirror.delegated(), dir.path(), manners, &|_| {}).await.unwrap_err();
    assert!(matches!(error, FetchError::Unreachable { attempts: 2, .. }), "{error}");
}

#[tokio::test]
async fn more_than_any_registry_publishes_is_not_taken() {
    let world = World::with(b"x", "\"one\"").await;
    world.server.with_data([Mischief::Claim(1 << 40)]);
    let error = world.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::TooLarge { .. }), "{error}");
}

#[tokio::test]
async fn two_downloads_of_one_file_do_not_mix() {
    let world = World::with(&edition(1), "\"one\"").await;
    let other = std::fs::File::create(world.part()).unwrap();
    other.lock().unwrap();
    let error = world.fetch().await.unwrap_err();
    assert!(matches!(error, FetchError::Busy { .. }), "{error}");
    drop(other);
    world.fetch().await.unwrap();
}

#[tokio::test]
async fn a_disk_that_refuses_is_named() {
    let world = World::with(&edition(1), "\"one\"").await;
    let nowhere = Path::new("/nowhere/at/all");
    let error = fetch(&world.server.mirror().delegated(), nowhere, Manners::default(), &|_| {})
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "cannot create /nowhere/at/all/delegated-apnic-extended-latest.part"
    );
}
