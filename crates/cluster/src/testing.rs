//! One throwaway cluster for a whole test run.
//!
//! Under nextest every test is a process of its own. The first test that needs a database starts
//! the server, and the others use it. A shell process stops the server and removes its directory
//! when the run has ended, also after `kill -9`.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::sys::statfs::{TMPFS_MAGIC, statfs};
use nix::unistd::getppid;

use crate::binaries::Binaries;
use crate::initdb::{clean_command, initdb};
use crate::layout::Layout;
use crate::pid_file::PidFile;
use crate::postmaster::{arguments, last_output};
use crate::server_user::ServerUser;
use crate::{ClusterError, Durability};

/// Runs the server until the run has ended. `$1` is the run's process, `$2` the directory, `$3` the
/// log, the rest is the server's command line.
const SERVER_SCRIPT: &str = r#"
run=$1 dir=$2 log=$3; shift 3
"$@" >>"$log" 2>&1 &
server=$!
while [ -d "/proc/$run" ] && [ -d "/proc/$server" ]; do sleep 0.5; done
kill -QUIT "$server" 2>/dev/null
wait "$server"
rm -rf "$dir"
"#;

/// Where Linux keeps shared memory as files.
const SHARED_MEMORY: &str = "/dev/shm";
/// Bytes that the file system of shared memory must have, used ones included. A whole run takes a
/// tenth of it.
const LEAST_MEMORY: u64 = 4 << 30;

const START_LIMIT: Duration = Duration::from_mins(1);

/// The socket directory of the run's cluster, which the first call of the run starts. Blocks.
pub fn socket_dir() -> Result<PathBuf, ClusterError> {
    let run = Run::of_process();
    let user = ServerUser::choose(&run.dir)?;
    let layout = Layout::open(&run.dir, &user)?;
    let lock = layout.lock_file();
    let file = File::create(&lock).map_err(ClusterError::prepare(&lock))?;
    file.lock().map_err(ClusterError::prepare(&lock))?;
    match PidFile::of_running_server(&layout.data())? {
        Some(server) if server.ready => Ok(server.socket_dir),
        _ => start(&run, &layout, &user),
    }
}

struct Run {
    /// Number of the process whose end is the end of the run.
    process: u32,
    dir: PathBuf,
}

impl Run {
    fn of_process() -> Self {
        let nextest = std::env::var("NEXTEST_RUN_ID").ok();
        let process = match nextest {
            Some(_) => getppid().as_raw().cast_unsigned(),
            None => std::process::id(),
        };
        let mut hasher = DefaultHasher::new();
        (process, nextest).hash(&mut hasher);
        let dir = parent().join(format!("nearcrawl-test-{:016x}", hasher.finish()));
        Self { process, dir }
    }
}

/// Where the directory of a run is made: in memory where there is room. Each test makes and deletes
/// a thousand files, and ext4 searches long for inodes that were not deleted a moment ago.
///
/// All tests of a run must find the same place, so that what is free does not count.
fn parent() -> PathBuf {
    match statfs(SHARED_MEMORY) {
        Ok(found) if found.filesystem_type() == TMPFS_MAGIC => {
            let block = u64::try_from(found.block_size()).unwrap_or(0);
            let size = found.blocks() * block;
            if size >= LEAST_MEMORY { SHARED_MEMORY.into() } else { std::env::temp_dir() }
        }
        _ => std::env::temp_dir(),
    }
}

fn start(run: &Run, layout: &Layout, user: &ServerUser) -> Result<PathBuf, ClusterError> {
    let bin = Binaries::of_process().find(None)?;
    user.check_reach(&bin)?;
    // The shell runs as the server's user, and it removes the directory in the end.
    user.chown(&run.dir)?;
    if layout.version()?.is_none() {
        initdb(layout, &bin, user, Durability::Throwaway)?;
    }
    let socket_dir = layout.socket_dir(user)?;
    let log = layout.start_log();
    File::create(&log).map_err(ClusterError::prepare(&log))?;
    user.chown(&log)?;
    spawn_server(run, layout, &bin, &socket_dir, user)?;
    wait_ready(layout)?;
    Ok(socket_dir)
}

fn spawn_server(
    run: &Run,
    layout: &Layout,
    bin: &Path,
    socket_dir: &Path,
    user: &ServerUser,
) -> Result<(), ClusterError> {
    let program = PathBuf::from("/bin/sh");
    let mut command = clean_command(&program);
    command.args(["-c", SERVER_SCRIPT, "nearcrawl-test-server", &run.process.to_string()]);
    command.arg(&run.dir).arg(layout.start_log()).arg(bin.join("postgres"));
    command.args(arguments(layout, socket_dir, Durability::Throwaway));
    // An inherited pipe would keep the test runner waiting, and a signal to the test's process
    // group must not reach the shell.
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    user.apply_to(&mut command);
    command.spawn().map(drop).map_err(|source| ClusterError::Spawn { program, source })
}

fn wait_ready(layout: &Layout) -> Result<(), ClusterError> {
    let data = layout.data();
    let begun = Instant::now();
    while begun.elapsed() < START_LIMIT {
        if PidFile::of_running_server(&data)?.is_some_and(|server| server.ready) {
            return Ok(());
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    Err(ClusterError::Start { path: data, output: last_output(layout) })
}
