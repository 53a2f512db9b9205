//! The private cluster with the real binaries of this machine: start, stop, die, come back, share,
//! refuse.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of the tests fail like the tests themselves"
)]

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use cluster::{Binaries, Cluster, ClusterError, Durability, Health, Options, PORT, Sharing, USER};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

fn room() -> TempDir {
    tempfile::Builder::new().prefix("nearcrawl-cluster-").tempdir().unwrap()
}

fn options(dir: &Path) -> Options {
    Options { durability: Durability::Throwaway, ..Options::new(dir) }
}

/// Says hello in Postgres' protocol; true when the server lets us in.
fn answers(socket_dir: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket_dir.join(format!(".s.PGSQL.{PORT}"))) else {
        return false;
    };
    let body = format!("user\0{USER}\0database\0postgres\0\0");
    let mut hello = (8 + body.len() as u32).to_be_bytes().to_vec();
    hello.extend(196_608_u32.to_be_bytes());
    hello.extend(body.as_bytes());
    let mut first = [0];
    stream.write_all(&hello).is_ok() && stream.read_exact(&mut first).is_ok() && first == *b"R"
}

async fn reaches(cluster: &Cluster, health: Health) {
    let mut watch = cluster.health();
    let wait = watch.wait_for(|now| *now == health);
    tokio::time::timeout(Duration::from_secs(30), wait)
        .await
        .expect("in time")
        .expect("the warden lives");
}

fn alive(pid: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok()
}

#[tokio::test]
async fn the_first_start_makes_a_cluster_and_the_second_one_finds_it() {
    let dir = room();
    let data = dir.path().join("data");
    let first = Cluster::start(options(&data)).await.unwrap();
    assert!(answers(first.socket_dir()));
    let pid = first.postmaster().unwrap();
    first.stop().await;
    assert!(!alive(pid));
    assert!(!data.join("postgres/postmaster.pid").exists(), "the shutdown was a clean one");

    let made = std::fs::metadata(data.join("postgres/PG_VERSION")).unwrap().modified().unwrap();
    let second = Cluster::start(options(&data)).await.unwrap();
    assert!(answers(second.socket_dir()));
    assert_eq!(
        std::fs::metadata(data.join("postgres/PG_VERSION")).unwrap().modified().unwrap(),
        made
    );
    second.stop().await;
}

#[tokio::test]
async fn a_killed_postmaster_comes_back() {
    let dir = room();
    let cluster = Cluster::start(Options::new(dir.path())).await.unwrap();
    let before = cluster.postmaster().unwrap();
    let mut health = cluster.health();
    health.mark_unchanged();
    kill(Pid::from_raw(before), Signal::SIGKILL).unwrap();
    // `Down` may be over before we look; that something changed is what counts.
    tokio::time::timeout(Duration::from_secs(30), health.changed()).await.unwrap().unwrap();
    reaches(&cluster, Health::Ready).await;
    assert!(answers(cluster.socket_dir()));
    assert_ne!(cluster.postmaster().unwrap(), before);
    cluster.stop().await;
}

/// Seen once: a child that did not notice its postmaster's death held the shared memory for longer
/// than the restart was tried, and the coordinator gave up.
#[tokio::test]
async fn a_child_that_does_not_notice_its_postmasters_death_is_ended() {
    let dir = room();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let postmaster = cluster.postmaster().unwrap();
    let mut health = cluster.health();
    health.mark_unchanged();
    kill(child_of(postmaster), Signal::SIGSTOP).unwrap();
    kill(Pid::from_raw(postmaster), Signal::SIGKILL).unwrap();
    tokio::time::timeout(Duration::from_secs(30), health.changed()).await.unwrap().unwrap();
    reaches(&cluster, Health::Ready).await;
    assert!(answers(cluster.socket_dir()));
    cluster.stop().await;
}

fn child_of(parent: i32) -> Pid {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    Pid::from_raw(list.split_whitespace().next().expect("a server has children").parse().unwrap())
}

#[tokio::test]
async fn dropping_the_handle_stops_the_server() {
    let dir = room();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let pid = cluster.postmaster().unwrap();
    drop(cluster);
    assert!(!alive(pid));
}

#[tokio::test]
async fn a_second_user_adopts_and_takes_over_when_the_owner_ends() {
    let dir = room();
    let owner = Cluster::start(options(dir.path())).await.unwrap();
    let guest = Cluster::start(options(dir.path())).await.unwrap();
    assert_eq!(guest.socket_dir(), owner.socket_dir());
    assert_eq!(guest.postmaster(), None, "it is not the guest's child");
    let before = owner.postmaster().unwrap();
    owner.stop().await;
    let mut health = guest.health();
    health.wait_for(|now| *now == Health::Ready && guest.postmaster().is_some()).await.unwrap();
    assert_ne!(guest.postmaster(), Some(before));
    assert!(answers(guest.socket_dir()));
    guest.stop().await;
}

#[tokio::test]
async fn a_guest_that_leaves_does_not_stop_the_owners_server() {
    let dir = room();
    let owner = Cluster::start(options(dir.path())).await.unwrap();
    let guest = Cluster::start(options(dir.path())).await.unwrap();
    guest.stop().await;
    assert!(answers(owner.socket_dir()));
    owner.stop().await;
}

#[tokio::test]
async fn a_second_owner_is_refused_by_the_lock() {
    let dir = room();
    let owner = Cluster::start(options(dir.path())).await.unwrap();
    let refusing = Options { sharing: Sharing::Refuse, ..options(dir.path()) };
    let error = Cluster::start(refusing).await.unwrap_err();
    assert!(
        matches!(&error, ClusterError::InUse { owner, .. } if *owner == std::process::id().to_string())
    );
    owner.stop().await;
}

#[tokio::test]
async fn a_long_path_gets_a_short_socket() {
    let dir = room();
    let long = dir.path().join("x".repeat(60)).join("y".repeat(60));
    std::fs::create_dir_all(&long).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let cluster = Cluster::start(options(&long)).await.unwrap();
    assert!(!cluster.socket_dir().starts_with(&long));
    assert!(answers(cluster.socket_dir()));
    let socket_dir = cluster.socket_dir().to_path_buf();
    assert_eq!(std::fs::metadata(&socket_dir).unwrap().mode() & 0o777, 0o700);
    cluster.stop().await;
    std::fs::remove_dir_all(socket_dir).unwrap();
}

#[tokio::test]
async fn missing_binaries_are_one_sentence() {
    let dir = room();
    let nothing = Options { binaries: Binaries::default(), ..options(dir.path()) };
    let error = Cluster::start(nothing).await.unwrap_err();
    assert!(matches!(error, ClusterError::NoBinaries { .. }));
    assert!(!dir.path().join("postgres").exists());
}

#[tokio::test]
async fn another_major_version_is_refused_with_the_way_out() {
    let dir = room();
    let first = Cluster::start(options(dir.path())).await.unwrap();
    first.stop().await;
    std::fs::write(dir.path().join("postgres/PG_VERSION"), "9\n").unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, ClusterError::OtherVersion { .. }));
    assert!(error.to_string().contains("pg_dumpall"), "{error}");
}

#[tokio::test]
async fn an_interrupted_initdb_is_begun_again() {
    let dir = room();
    std::fs::create_dir(dir.path().join("postgres.unfinished")).unwrap();
    std::fs::write(dir.path().join("postgres.unfinished/PG_VERSION"), "15\n").unwrap();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    assert!(!dir.path().join("postgres.unfinished").exists());
    cluster.stop().await;
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let dir = room();
    Cluster::start(options(dir.path())).await.unwrap().stop().await;
    std::fs::write(dir.path().join("postgres/postgresql.conf"), "no_such_setting = 1\n").unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, ClusterError::Start { .. }));
    assert!(error.to_string().contains("no_such_setting"), "{error}");
}

#[tokio::test]
async fn root_drops_its_uid() {
    let dir = room();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let server =
        std::fs::metadata(format!("/proc/{}", cluster.postmaster().unwrap())).unwrap().uid();
    assert_ne!(server, 0);
    if !geteuid().is_root() {
        assert_eq!(server, geteuid().as_raw());
    }
    cluster.stop().await;
}

#[tokio::test]
async fn a_closed_data_directory_of_ours_is_opened_for_the_server_alone() {
    let dir = room();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    assert_eq!(std::fs::metadata(dir.path()).unwrap().mode() & 0o007, 0, "nobody else got in");
    cluster.stop().await;
}

#[tokio::test]
async fn a_closed_parent_directory_is_named() {
    if !geteuid().is_root() {
        return; // an ordinary user runs the server as itself: nothing is closed to it
    }
    let dir = room();
    let inner = dir.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let error = Cluster::start(options(&inner)).await.unwrap_err();
    assert!(
        matches!(&error, ClusterError::NotReachable { blocked, .. } if blocked == dir.path()),
        "{error}"
    );
}

/// Not a test of its own: what the tests below run as another user or in another namespace.
#[tokio::test]
#[ignore = "run by the tests for ordinary users, with NEARCRAWL_ROOM set"]
async fn in_a_given_room() {
    let Some(dir) = std::env::var_os("NEARCRAWL_ROOM") else { return };
    let cluster = Cluster::start(options(Path::new(&dir))).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    let server =
        std::fs::metadata(format!("/proc/{}", cluster.postmaster().unwrap())).unwrap().uid();
    assert_eq!(server, geteuid().as_raw());
    cluster.stop().await;
}

/// Runs [`in_a_given_room`] with the words of `wrapper` before it; as `nobody` when we are root.
fn run_in_a_room(wrapper: &[&str]) {
    let dir = room();
    let exe = std::env::current_exe().unwrap();
    let mut words: Vec<&str> = wrapper.to_vec();
    words.push(exe.to_str().unwrap());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(["--exact", "in_a_given_room", "--ignored", "--test-threads=1"]);
    command.env("NEARCRAWL_ROOM", dir.path()).current_dir("/").stdin(Stdio::null());
    if geteuid().is_root() {
        let nobody = User::from_name("nobody").unwrap().unwrap();
        nix::unistd::chown(dir.path(), Some(nobody.uid), Some(nobody.gid)).unwrap();
        command.uid(nobody.uid.as_raw()).gid(nobody.gid.as_raw());
    }
    match command.output() {
        Ok(output) => {
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(output.status.success() && said.contains("1 passed"), "{said}");
        }
        // A target directory under a closed home: nobody cannot run the test there.
        Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::PermissionDenied, "{error}"),
    }
}

#[test]
fn an_ordinary_user_runs_it_as_itself() {
    run_in_a_room(&[]);
}

#[test]
fn it_works_in_a_user_namespace_that_keeps_the_uid() {
    let namespaces = Command::new("unshare").args(["-U", "true"]).status();
    if !namespaces.is_ok_and(|status| status.success()) {
        return; // the kernel or the machine does not offer them
    }
    let user = User::from_name("nobody").unwrap().filter(|_| geteuid().is_root());
    let uid = user.as_ref().map_or_else(geteuid, |user| user.uid).to_string();
    let gid = user.map_or_else(nix::unistd::getegid, |user| user.gid).to_string();
    run_in_a_room(&["unshare", "-U", &format!("--map-user={uid}"), &format!("--map-group={gid}")]);
}

#[tokio::test]
async fn the_server_ends_with_its_owner_also_after_kill_nine() {
    let dir = room();
    let exe = std::env::current_exe().unwrap();
    let mut owner = Command::new(exe)
        .args(["--exact", "own_until_killed", "--ignored", "--nocapture"])
        .env("NEARCRAWL_ROOM", dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let server = read_number(&mut owner);
    owner.kill().unwrap();
    owner.wait().unwrap();
    // The next owner waits for the old server's end and starts its own.
    let next = Cluster::start(options(dir.path())).await.unwrap();
    assert!(!alive(server));
    assert!(answers(next.socket_dir()));
    next.stop().await;
}

fn read_number(child: &mut std::process::Child) -> i32 {
    use std::io::BufRead;
    let lines = std::io::BufReader::new(child.stdout.take().unwrap()).lines();
    let line = lines
        .map(Result::unwrap)
        .find(|line| line.contains("server="))
        .expect("it says its server");
    line.split_once("server=").unwrap().1.trim().parse().unwrap()
}

#[tokio::test]
#[ignore = "run by the test above, with NEARCRAWL_ROOM set"]
async fn own_until_killed() {
    let Some(dir) = std::env::var_os("NEARCRAWL_ROOM") else { return };
    let cluster = Cluster::start(options(Path::new(&dir))).await.unwrap();
    println!("server={}", cluster.postmaster().unwrap());
    std::future::pending::<()>().await;
}

#[test]
fn a_test_run_shares_one_throwaway_cluster() {
    let first = cluster::testing::socket_dir().unwrap();
    let second = cluster::testing::socket_dir().unwrap();
    assert_eq!(first, second);
    assert!(answers(&first));
}
