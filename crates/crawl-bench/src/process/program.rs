//! A program under measurement.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::Context as _;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::time::{Instant, sleep};

use super::usage::Usage;

/// Between two readings of what it uses.
const STEP: Duration = Duration::from_millis(20);

/// Lines of its output that an error tells.
const LAST_LINES: usize = 8;

/// Whether a program had ended when a time limit was over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitState {
    Yes,
    No,
}

/// A running program; it is killed when this is dropped.
#[derive(Debug)]
pub struct Program {
    child: Child,
    usage: Usage,
    log: PathBuf,
    /// Whether the program runs as a child of one that counts its system calls.
    under_counter: bool,
}

impl Program {
    /// Starts a command whose output goes to the file `log`.
    pub fn start(command: Command, log: &Path) -> anyhow::Result<Self> {
        Self::start_as(command, log, false)
    }

    /// Starts a command that counts system calls of a program, which is measured and stopped in its
    /// place.
    pub fn start_under_counter(command: Command, log: &Path) -> anyhow::Result<Self> {
        Self::start_as(command, log, true)
    }

    fn start_as(mut command: Command, log: &Path, under_counter: bool) -> anyhow::Result<Self> {
        let file = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
        let copy = file.try_clone().context("cannot share the log")?;
        command.stdin(Stdio::null()).stdout(file).stderr(copy);
        let program = command.get_program().display().to_string();
        let child = command.spawn().with_context(|| format!("cannot start {program}"))?;
        Ok(Self { child, usage: Usage::default(), log: log.to_path_buf(), under_counter })
    }

    /// Reads what it uses; kept when it ends later.
    pub fn look(&mut self) -> Usage {
        self.usage = Usage::read(self.child.id()).or_earlier(self.usage);
        self.usage
    }

    /// Waits for its end or for the end of `limit`. The process is not reaped, because its status
    /// tells the time that it used.
    pub async fn wait(&mut self, limit: Duration) -> ExitState {
        let end = Instant::now() + limit;
        loop {
            if self.look().ended {
                return ExitState::Yes;
            }
            if Instant::now() >= end {
                return ExitState::No;
            }
            sleep(STEP).await;
        }
    }

    /// Asks it to end and waits; kills it after `limit`.
    pub async fn stop(&mut self, limit: Duration) -> anyhow::Result<()> {
        for signal in [Signal::SIGTERM, Signal::SIGKILL] {
            kill(self.target(), signal).context("cannot send a signal")?;
            if self.wait(limit).await == ExitState::Yes {
                break;
            }
        }
        Ok(())
    }

    /// Whether it has loaded this library. One that is linked statically ignores what is preloaded.
    pub fn has_loaded(&self, library: &Path) -> bool {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", self.target()));
        maps.is_ok_and(|maps| library.to_str().is_some_and(|library| maps.contains(library)))
    }

    /// The program itself. A counter that is stopped in its place would leave it running.
    fn target(&self) -> Pid {
        let own = self.child.id();
        let children = || std::fs::read_to_string(format!("/proc/{own}/task/{own}/children")).ok();
        let below = children().filter(|_| self.under_counter);
        let below = below.and_then(|text| text.split_whitespace().next()?.parse().ok());
        Pid::from_raw(below.unwrap_or(own.cast_signed()))
    }

    /// The end of its output.
    pub fn last_words(&self) -> String {
        let text = std::fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended by itself; then there is nothing to kill, only to reap.
        if !Usage::read(self.child.id()).ended {
            let _ = kill(self.target(), Signal::SIGKILL);
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
