//! One throwaway cluster for a whole test run, however many processes the run has.
//!
//! Under nextest every test is a process of its own; the first one that needs a database starts the
//! server, the others find it, and a small shell process ends it and removes everything when the
//! run itself has ended, also when that was by `kill -9`.

use std::fs::File;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use nix::unistd::getppid;

use crate::binaries::Binaries;
use crate::identity::Identity;
use crate::initdb::{clean_command, initdb};
use crate::layout::Layout;
use crate::pidfile::PidFile;
use crate::postmaster::{arguments, last_words};
use crate::{ClusterError, Durability};

/// `$1` is the run's process, `$2` the directory, `$3` the log, the rest is the server's command
/// line.
const KEEPER: &str = r#"
run=$1 dir=$2 log=$3; shift 3
"$@" >>"$log" 2>&1 &
server=$!
while [ -d "/proc/$run" ] && [ -d "/proc/$server" ]; do sleep 0.5; done
kill -QUIT "$server" 2>/dev/null
wait "$server"
rm -rf "$dir"
"#;

const START_LIMIT: Duration = Duration::from_mins(1);

/// The socket directory of the run's cluster; starts it when this is the first call of the run.
/// Blocks.
pub fn socket_dir() -> Result<PathBuf, ClusterError> {
    let run = Run::of_process();
    let identity = Identity::choose()?;
    let layout = Layout::open(&run.dir, &identity)?;
    let lock = layout.lock_file();
    let file = File::create(&lock).map_err(ClusterError::prepare(&lock))?;
    file.lock().map_err(ClusterError::prepare(&lock))?;
    match PidFile::of_live_server(&layout.data())? {
        Some(live) if live.ready => Ok(live.socket_dir),
        _ => start(&run, &layout, &identity),
    }
}

struct Run {
    /// The process whose end ends the run.
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
        let dir = std::env::temp_dir().join(format!("nearcrawl-test-{:016x}", hasher.finish()));
        Self { process, dir }
    }
}

fn start(run: &Run, layout: &Layout, identity: &Identity) -> Result<PathBuf, ClusterError> {
    let bin = Binaries::of_process().find(None)?;
    identity.check_reach(&bin)?;
    // The keeper runs as the server's user and removes the directory in the end.
    identity.own(&run.dir)?;
    if layout.version()?.is_none() {
        initdb(layout, &bin, identity, Durability::Throwaway)?;
    }
    let socket_dir = layout.socket_dir(identity)?;
    let log = layout.start_log();
    File::create(&log).map_err(ClusterError::prepare(&log))?;
    identity.own(&log)?;
    keeper(run, layout, &bin, &socket_dir, identity)?;
    wait_ready(layout)?;
    Ok(socket_dir)
}

fn keeper(
    run: &Run,
    layout: &Layout,
    bin: &Path,
    socket_dir: &Path,
    identity: &Identity,
) -> Result<(), ClusterError> {
    let program = PathBuf::from("/bin/sh");
    let mut command = clean_command(&program);
    command.args(["-c", KEEPER, "keeper", &run.process.to_string()]);
    command.arg(&run.dir).arg(layout.start_log()).arg(bin.join("postgres"));
    command.args(arguments(layout, socket_dir, Durability::Throwaway));
    // No pipe of the test may stay open in it, and no signal to the test's group may reach it.
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    identity.apply(&mut command);
    command.spawn().map(drop).map_err(|source| ClusterError::Spawn { program, source })
}

fn wait_ready(layout: &Layout) -> Result<(), ClusterError> {
    let data = layout.data();
    let begun = Instant::now();
    let (_never, pause) = std::sync::mpsc::channel::<()>();
    while begun.elapsed() < START_LIMIT {
        if PidFile::of_live_server(&data)?.is_some_and(|live| live.ready) {
            return Ok(());
        }
        // The sender is kept, so this can only time out: a wait of ten milliseconds.
        if pause.recv_timeout(Duration::from_millis(10)).is_ok() {
            break;
        }
    }
    Err(ClusterError::Start { path: data, said: last_words(layout) })
}
