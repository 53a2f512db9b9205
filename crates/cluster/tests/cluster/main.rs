//! The private cluster with the real binaries of this machine: start, stop, restart, ownership.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "helpers of the tests fail like the tests themselves"
)]

mod directory;

use std::io::{Read, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use cluster::{Binaries, Cluster, ClusterError, Durability, Options, PORT, USER};
use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, User, geteuid};
use tempfile::TempDir;

fn temp_dir() -> TempDir {
    tempfile::Builder::new().prefix("nearcrawl-cluster-").tempdir().unwrap()
}

fn options(dir: &Path) -> Options {
    Options { durability: Durability::Throwaway, ..Options::new(dir) }
}

/// Sends the start-up message of Postgres' protocol; true when the server accepts the user.
fn answers(socket_dir: &Path) -> bool {
    let Ok(mut stream) = UnixStream::connect(socket_dir.join(format!(".s.PGSQL.{PORT}"))) else {
        return false;
    };
    let body = format!("user\0{USER}\0database\0postgres\0\0");
    let mut message = (8 + body.len() as u32).to_be_bytes().to_vec();
    message.extend(196_608_u32.to_be_bytes());
    message.extend(body.as_bytes());
    let mut first = [0];
    stream.write_all(&message).is_ok() && stream.read_exact(&mut first).is_ok() && first == *b"R"
}

/// The process number in the pid file of the server in `dir`, when the server is ready.
fn ready_postmaster(dir: &Path) -> Option<i32> {
    let file = std::fs::read_to_string(dir.join("postgres/postmaster.pid")).ok()?;
    let ready = file.lines().any(|line| line.trim() == "ready");
    ready.then(|| file.lines().next()?.parse().ok())?
}

fn postmaster(dir: &Path) -> i32 {
    ready_postmaster(dir).expect("the server is ready")
}

/// Waits until another server than `old` is ready.
async fn restarted(dir: &Path, old: i32) -> i32 {
    let begun = Instant::now();
    loop {
        if let Some(pid) = ready_postmaster(dir).filter(|pid| *pid != old) {
            return pid;
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "no server followed {old}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn alive(pid: i32) -> bool {
    std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok()
}

#[tokio::test]
async fn the_first_start_makes_a_cluster_and_the_second_one_finds_it() {
    let dir = temp_dir();
    let data = dir.path().join("data");
    let first = Cluster::start(options(&data)).await.unwrap();
    assert!(answers(first.socket_dir()));
    let pid = postmaster(&data);
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
async fn a_killed_postmaster_is_restarted() {
    let dir = temp_dir();
    let cluster = Cluster::start(Options::new(dir.path())).await.unwrap();
    let before = postmaster(dir.path());
    kill(Pid::from_raw(before), Signal::SIGKILL).unwrap();
    let after = restarted(dir.path(), before).await;
    assert!(answers(cluster.socket_dir()));
    cluster.stop().await;
    assert!(!alive(after));
}

/// Seen once: a child that did not notice its postmaster's death held the shared memory for longer
/// than the restart was tried, and the coordinator gave up.
#[tokio::test]
async fn a_child_that_does_not_notice_its_postmasters_death_is_killed() {
    let dir = temp_dir();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let before = postmaster(dir.path());
    kill(child_of(before), Signal::SIGSTOP).unwrap();
    kill(Pid::from_raw(before), Signal::SIGKILL).unwrap();
    restarted(dir.path(), before).await;
    assert!(answers(cluster.socket_dir()));
    cluster.stop().await;
}

/// The server cannot start again with a wrong setting, so the stop comes between two attempts.
#[tokio::test]
async fn a_stop_ends_the_attempts_to_restart() {
    let dir = temp_dir();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let before = postmaster(dir.path());
    std::fs::write(dir.path().join("postgres/postgresql.conf"), "no_such_setting = 1\n").unwrap();
    kill(Pid::from_raw(before), Signal::SIGKILL).unwrap();
    tokio::time::timeout(Duration::from_secs(20), cluster.stop()).await.expect("in time");
    assert_eq!(ready_postmaster(dir.path()).filter(|pid| alive(*pid)), None);
}

fn child_of(parent: i32) -> Pid {
    let list = std::fs::read_to_string(format!("/proc/{parent}/task/{parent}/children")).unwrap();
    Pid::from_raw(list.split_whitespace().next().expect("a server has children").parse().unwrap())
}

#[tokio::test]
async fn dropping_the_handle_stops_the_server() {
    let dir = temp_dir();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let pid = postmaster(dir.path());
    drop(cluster);
    assert!(!alive(pid));
}

#[tokio::test]
async fn a_command_beside_the_owner_uses_its_server_and_leaves_it_running() {
    let dir = temp_dir();
    let owner = Cluster::start(options(dir.path())).await.unwrap();
    let before = postmaster(dir.path());
    let beside = Cluster::start_or_join(options(dir.path())).await.unwrap();
    assert_eq!(beside.socket_dir(), owner.socket_dir());
    assert_eq!(postmaster(dir.path()), before, "no second server was started");
    beside.stop().await;
    assert!(answers(owner.socket_dir()));
    owner.stop().await;
    assert!(!alive(before));
}

#[tokio::test]
async fn a_command_without_an_owner_starts_the_server_and_stops_it() {
    let dir = temp_dir();
    let alone = Cluster::start_or_join(options(dir.path())).await.unwrap();
    assert!(answers(alone.socket_dir()));
    let pid = postmaster(dir.path());
    alone.stop().await;
    assert!(!alive(pid));
}

#[tokio::test]
async fn a_second_owner_is_refused_by_the_lock() {
    let dir = temp_dir();
    let owner = Cluster::start(options(dir.path())).await.unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    let pid = std::process::id().to_string();
    assert!(matches!(&error, ClusterError::InUse { owner, .. } if *owner == pid), "{error}");
    owner.stop().await;
    Cluster::start(options(dir.path())).await.unwrap().stop().await;
}

#[tokio::test]
async fn a_long_path_gets_a_short_socket() {
    let dir = temp_dir();
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
async fn missing_binaries_are_named() {
    let dir = temp_dir();
    let nothing = Options { binaries: Binaries::default(), ..options(dir.path()) };
    let error = Cluster::start(nothing).await.unwrap_err();
    assert!(matches!(error, ClusterError::NoBinaries { .. }));
    assert!(!dir.path().join("postgres").exists());
}

#[tokio::test]
async fn another_major_version_is_refused_with_the_remedy() {
    let dir = temp_dir();
    let first = Cluster::start(options(dir.path())).await.unwrap();
    first.stop().await;
    std::fs::write(dir.path().join("postgres/PG_VERSION"), "9\n").unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, ClusterError::OtherVersion { .. }));
    assert!(error.to_string().contains("pg_dumpall"), "{error}");
}

#[tokio::test]
async fn an_interrupted_initdb_is_begun_again() {
    let dir = temp_dir();
    std::fs::create_dir(dir.path().join("postgres.unfinished")).unwrap();
    std::fs::write(dir.path().join("postgres.unfinished/PG_VERSION"), "15\n").unwrap();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    assert!(!dir.path().join("postgres.unfinished").exists());
    cluster.stop().await;
}

#[tokio::test]
async fn a_server_that_cannot_start_says_why() {
    let dir = temp_dir();
    Cluster::start(options(dir.path())).await.unwrap().stop().await;
    std::fs::write(dir.path().join("postgres/postgresql.conf"), "no_such_setting = 1\n").unwrap();
    let error = Cluster::start(options(dir.path())).await.unwrap_err();
    assert!(matches!(error, ClusterError::Start { .. }));
    assert!(error.to_string().contains("no_such_setting"), "{error}");
}

#[tokio::test]
async fn root_drops_its_uid() {
    let dir = temp_dir();
    let cluster = Cluster::start(options(dir.path())).await.unwrap();
    let server = std::fs::metadata(format!("/proc/{}", postmaster(dir.path()))).unwrap().uid();
    assert_ne!(server, 0);
    if !geteuid().is_root() {
        assert_eq!(server, geteuid().as_raw());
    }
    cluster.stop().await;
}

#[tokio::test]
async fn misleading_lock_files_do_not_keep_the_server_from_starting() {
    let dir = temp_dir();
    Cluster::start(options(dir.path())).await.unwrap().stop().await;
    // A process of the server's user that is not this directory's server.
    let elsewhere = temp_dir();
    let other = Cluster::start(options(elsewhere.path())).await.unwrap();
    let foreign = std::fs::read(elsewhere.path().join("postgres/postmaster.pid")).unwrap();
    let file = dir.path().join("postgres/postmaster.pid");
    let socket_lock = dir.path().join("run/.s.PGSQL.5432.lock");
    for content in [b"".as_slice(), b"rubbish\n", &foreign] {
        std::fs::write(&file, content).unwrap();
        std::fs::write(&socket_lock, content).unwrap();
        let cluster = Cluster::start(options(dir.path())).await.unwrap();
        assert!(answers(cluster.socket_dir()));
        cluster.stop().await;
    }
    assert!(answers(other.socket_dir()), "the other server was left alone");
    other.stop().await;
}

#[tokio::test]
async fn a_closed_parent_directory_is_named() {
    let dir = temp_dir();
    let inner = dir.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    std::fs::set_permissions(dir.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    let started = Cluster::start(options(&inner)).await;
    if geteuid().is_root() {
        let error = started.unwrap_err();
        assert!(
            matches!(&error, ClusterError::NotReachable { blocked, .. } if blocked == dir.path()),
            "{error}"
        );
    } else {
        // The server runs as the same user, to whom the directory is open.
        started.unwrap().stop().await;
    }
}

const DIR_VARIABLE: &str = "NEARCRAWL_CLUSTER_TEST_DIR";

fn dir_of_variable() -> std::path::PathBuf {
    std::env::var_os(DIR_VARIABLE).expect("the parent test sets it").into()
}

/// Body of the tests below, which run it as another user or in another namespace.
#[tokio::test]
#[ignore = "run by other tests of this file as a process of its own"]
async fn child_runs_the_server_as_itself() {
    let dir = dir_of_variable();
    let cluster = Cluster::start(options(&dir)).await.unwrap();
    assert!(answers(cluster.socket_dir()));
    let server = std::fs::metadata(format!("/proc/{}", postmaster(&dir))).unwrap().uid();
    assert_eq!(server, geteuid().as_raw());
    cluster.stop().await;
}

/// Runs [`child_runs_the_server_as_itself`] behind the command `wrapper`; as `nobody` when we are
/// root. The test program is copied to a place that every user can reach.
fn run_as_ordinary_user(wrapper: &[&str]) {
    let dir = temp_dir();
    let programs = temp_dir();
    let program = programs.path().join("test");
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    std::fs::set_permissions(programs.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut words: Vec<&str> = wrapper.to_vec();
    words.push(program.to_str().unwrap());
    let mut command = Command::new(words[0]);
    command.args(&words[1..]);
    command.args(["--exact", "child_runs_the_server_as_itself", "--ignored", "--test-threads=1"]);
    command.env(DIR_VARIABLE, dir.path()).current_dir("/").stdin(Stdio::null());
    if geteuid().is_root() {
        let nobody = User::from_name("nobody").unwrap().unwrap();
        nix::unistd::chown(dir.path(), Some(nobody.uid), Some(nobody.gid)).unwrap();
        command.uid(nobody.uid.as_raw()).gid(nobody.gid.as_raw());
    }
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && printed.contains("1 passed"), "{printed}{errors}");
}

#[test]
fn an_ordinary_user_runs_it_as_itself() {
    run_as_ordinary_user(&[]);
}

#[test]
#[ignore = "needs user namespaces"]
fn it_works_in_a_user_namespace_that_keeps_the_uid() {
    let user = User::from_name("nobody").unwrap().filter(|_| geteuid().is_root());
    let uid = user.as_ref().map_or_else(geteuid, |user| user.uid).to_string();
    let gid = user.map_or_else(nix::unistd::getegid, |user| user.gid).to_string();
    let maps = [format!("--map-user={uid}"), format!("--map-group={gid}")];
    run_as_ordinary_user(&["unshare", "-U", &maps[0], &maps[1]]);
}

#[tokio::test]
async fn the_server_ends_with_its_owner_also_after_kill_nine() {
    let dir = temp_dir();
    let exe = std::env::current_exe().unwrap();
    let mut owner = Command::new(exe)
        .args(["--exact", "child_owns_until_killed", "--ignored", "--nocapture"])
        .env(DIR_VARIABLE, dir.path())
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
        .expect("it prints its server");
    line.split_once("server=").unwrap().1.trim().parse().unwrap()
}

#[tokio::test]
#[ignore = "run by other tests of this file as a process of its own"]
async fn child_owns_until_killed() {
    let dir = dir_of_variable();
    let _cluster = Cluster::start(options(&dir)).await.unwrap();
    println!("server={}", postmaster(&dir));
    std::future::pending::<()>().await;
}

#[test]
fn a_test_run_shares_one_throwaway_cluster() {
    let first = cluster::testing::socket_dir().unwrap();
    let second = cluster::testing::socket_dir().unwrap();
    assert_eq!(first, second);
    assert!(answers(&first));
}
