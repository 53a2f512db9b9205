//! A running program: its output, its memory, its exit.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use crawl_bench::process::usage::Usage;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use tokio::sync::watch;

use super::{HarnessError, spawner, until};

/// How much of a log is told when something goes wrong.
const LAST_LINES: usize = 12;

/// A process that ends with this value, and with us.
#[derive(Debug)]
pub struct Process {
    name: String,
    child: Child,
    lines: watch::Receiver<Vec<String>>,
    log: PathBuf,
    status: Option<ExitStatus>,
}

impl Process {
    /// Starts `command`. Its standard output is read line by line; its standard error is appended
    /// to `log`.
    pub fn start(name: &str, mut command: Command, log: &Path) -> Result<Self, HarnessError> {
        let mut options = File::options();
        let file =
            options.create(true).append(true).open(log).map_err(HarnessError::prepare(log))?;
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(file);
        let mut child = spawner::spawn(command).map_err(HarnessError::handle("start", name))?;
        let (sender, lines) = watch::channel(Vec::new());
        if let Some(output) = child.stdout.take() {
            read_on(output, sender);
        }
        Ok(Self { name: name.to_owned(), child, lines, log: log.to_path_buf(), status: None })
    }

    /// How the harness calls it.
    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Waits until a line of its output yields something, or fails when the process ends before.
    pub async fn line<T>(
        &mut self,
        wanted: &str,
        limit: Duration,
        pick: impl Fn(&str) -> Option<T>,
    ) -> Result<T, HarnessError> {
        let mut lines = self.lines.clone();
        let found = tokio::time::timeout(limit, async {
            loop {
                let found = lines.borrow_and_update().iter().find_map(|line| pick(line));
                if found.is_some() || lines.changed().await.is_err() {
                    return found.or_else(|| lines.borrow().iter().find_map(|line| pick(line)));
                }
            }
        });
        match found.await {
            Ok(Some(found)) => Ok(found),
            Ok(None) => Err(self.ended(wanted).await),
            Err(_) => Err(HarnessError::Late {
                wanted: wanted.to_owned(),
                limit,
                seen: self.last_words(),
            }),
        }
    }

    async fn ended(&mut self, wanted: &str) -> HarnessError {
        let status = match self.wait(Duration::from_secs(5)).await {
            Ok(status) => status.to_string(),
            Err(_) => "its output is closed, but it runs".to_owned(),
        };
        let program = self.name.clone();
        let wanted = wanted.to_owned();
        HarnessError::Ended { program, status, wanted, said: self.last_words() }
    }

    /// Everything it has written to its standard output so far.
    pub fn output(&self) -> Vec<String> {
        self.lines.borrow().clone()
    }

    /// Waits for its end and for the end of its standard output, which may be read only after that;
    /// both.
    pub async fn finish(
        &mut self,
        limit: Duration,
    ) -> Result<(ExitStatus, Vec<String>), HarnessError> {
        let status = self.wait(limit).await?;
        let mut lines = self.lines.clone();
        let closed = async { while lines.changed().await.is_ok() {} };
        let late = |_| HarnessError::Late {
            wanted: format!("end of the output of {}", self.name),
            limit,
            seen: self.last_words(),
        };
        tokio::time::timeout(limit, closed).await.map_err(late)?;
        Ok((status, self.output()))
    }

    /// The end of its log.
    pub fn last_words(&self) -> String {
        let text = std::fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        lines[lines.len().saturating_sub(LAST_LINES)..].join("\n")
    }

    /// Whether it has not ended yet.
    pub fn is_running(&mut self) -> bool {
        if self.status.is_none() {
            self.status = self.child.try_wait().unwrap_or_default();
        }
        self.status.is_none()
    }

    /// What it has used so far; zero when it has ended.
    pub fn usage(&self) -> Usage {
        Usage::read(self.id())
    }

    /// `kill -9`, at once.
    pub fn kill(&mut self) {
        if self.is_running() {
            // It may end by itself in this very moment; then there is nothing to kill.
            let _ = self.child.kill();
            self.status = self.child.wait().ok();
        }
    }

    /// Sends a signal to a running process.
    pub fn signal(&self, signal: Signal) -> Result<(), HarnessError> {
        let pid = Pid::from_raw(self.id().cast_signed());
        kill(pid, signal).map_err(|errno| HarnessError::handle("signal", &self.name)(errno.into()))
    }

    /// Asks it to end (SIGTERM) and waits; the exit status.
    pub async fn stop(&mut self, limit: Duration) -> Result<ExitStatus, HarnessError> {
        if self.is_running() {
            self.signal(Signal::SIGTERM)?;
        }
        self.wait(limit).await
    }

    /// Waits for its end.
    pub async fn wait(&mut self, limit: Duration) -> Result<ExitStatus, HarnessError> {
        let wanted = format!("end of {}", self.name);
        let cell = std::cell::RefCell::new(self);
        until(&wanted, limit, || {
            let mut process = cell.borrow_mut();
            process.is_running();
            std::future::ready(process.status.ok_or("still running"))
        })
        .await
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A thread per process: it ends with the process' output, and so with the process.
fn read_on(output: ChildStdout, lines: watch::Sender<Vec<String>>) {
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            lines.send_modify(|all| all.push(line));
        }
    });
}
