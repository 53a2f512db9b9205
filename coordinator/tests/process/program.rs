//! The program as a child process.

use std::io::{BufRead as _, BufReader};
use std::net::TcpListener;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

/// Longest wait for a line or for the end.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running program; killed when dropped.
pub(crate) struct Program {
    child: Child,
    lines: mpsc::Receiver<String>,
}

/// A program that ended by itself.
pub(crate) struct Ended {
    pub(crate) status: ExitStatus,
    pub(crate) stderr: String,
}

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = bare();
    command.arg("serve").args(arguments);
    command
}

/// Without a subcommand.
pub(crate) fn bare() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_nearcrawl-coordinator"));
    command.env_remove("DATABASE_URL").env_remove("NEARCRAWL_ADMIN_PASSWORD");
    command
}

/// Runs a program that is expected to end at once.
pub(crate) fn run(arguments: &[&str]) -> Ended {
    let output = command(arguments).stdin(Stdio::null()).output().unwrap();
    Ended { status: output.status, stderr: String::from_utf8(output.stderr).unwrap() }
}

impl Program {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = mpsc::channel();
        std::thread::spawn(move || {
            for line in stdout.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Self { child, lines }
    }

    /// The rest of the first line that begins so; lines before it are given to `before`.
    pub(crate) fn line(&self, beginning: &str, before: &mut Vec<String>) -> String {
        loop {
            let line = self
                .lines
                .recv_timeout(PATIENCE)
                .unwrap_or_else(|_| panic!("no line began {beginning:?}"));
            match line.strip_prefix(beginning) {
                Some(rest) => return rest.to_owned(),
                None => before.push(line),
            }
        }
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.child.id()).unwrap()), signal).unwrap();
    }

    /// Waits for the end; how it ended, and after how long.
    pub(crate) fn wait(&mut self) -> (ExitStatus, Duration) {
        let begun = Instant::now();
        while begun.elapsed() < PATIENCE {
            if let Some(status) = self.child.try_wait().unwrap() {
                return (status, begun.elapsed());
            }
            std::thread::yield_now();
        }
        panic!("the program did not end");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that is taken as long as the value lives.
pub(crate) fn taken_port() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    (listener, address)
}

/// A client of the API.
pub(crate) fn client() -> reqwest::Client {
    // Another test may have done it already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().unwrap()
}
