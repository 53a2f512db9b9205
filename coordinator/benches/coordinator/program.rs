//! The program itself, on the database of the bench.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use cluster::Cluster;
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStderr, Command};

/// Password of the first admin.
pub(crate) const PASSWORD: &str = "a password of the bench";
/// The tasks rest when the program uses less than a twentieth of a core for so long.
const WINDOW: Duration = Duration::from_secs(15);
/// How long the hierarchy and the first runs of the tasks may take.
const SETTLED: Duration = Duration::from_secs(300);

/// The program on the database of the bench.
pub(crate) struct Program {
    child: Child,
    pub(crate) base: String,
}

/// The log of the program, line by line.
pub(crate) struct Log {
    lines: Lines<BufReader<ChildStderr>>,
    begun: Instant,
}

impl Program {
    pub(crate) fn start(cluster: &Cluster, dir: &Path) -> (Self, Log) {
        let socket = cluster.socket_dir().display().to_string().replace('/', "%2F");
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let begun = Instant::now();
        let mut child = Command::new(binary())
            .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data-dir"])
            .arg(dir)
            .env("DATABASE_URL", format!("postgres://nearcrawl@{socket}/nearcrawl"))
            .env("NEARCRAWL_ADMIN_PASSWORD", PASSWORD)
            .env("RUST_LOG", "info")
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        (Self { child, base: format!("http://127.0.0.1:{port}") }, Log { lines, begun })
    }

    /// Ends the program at once.
    pub(crate) async fn kill(mut self) {
        self.child.kill().await.unwrap();
    }

    /// Waits until the first runs of the tasks are over, which work through the whole database.
    pub(crate) async fn settle(&self) {
        let rested = async {
            loop {
                let before = self.processor_time();
                tokio::time::sleep(WINDOW).await;
                if self.processor_time().saturating_sub(before) < WINDOW / 20 {
                    return;
                }
            }
        };
        tokio::time::timeout(SETTLED, rested).await.unwrap();
    }

    /// Processor time so far, of all threads.
    pub(crate) fn processor_time(&self) -> Duration {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.child.id().unwrap()));
        let stat = stat.unwrap();
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
        let ticks: u64 = fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        // Linux counts in hundredths of a second.
        Duration::from_millis(ticks * 10)
    }
}

impl Log {
    /// Waits until the log has a line with each of these texts, in whatever order they come.
    /// Returns the times since the start.
    pub(crate) async fn until_all<const N: usize>(&mut self, texts: [&str; N]) -> [Duration; N] {
        let mut seen = [None; N];
        let read = async {
            while seen.contains(&None) {
                let line = self.lines.next_line().await.unwrap();
                let line = line.unwrap_or_else(|| panic!("the program ended before {texts:?}"));
                for (text, at) in texts.iter().zip(&mut seen) {
                    if line.contains(text) {
                        at.get_or_insert(self.begun.elapsed());
                    }
                }
            }
        };
        tokio::time::timeout(SETTLED, read).await.unwrap();
        seen.map(Option::unwrap)
    }

    /// Reads on, so that the program can write on.
    pub(crate) async fn drain(mut self) {
        while let Ok(Some(_)) = self.lines.next_line().await {}
    }
}

/// The program beside this one.
fn binary() -> PathBuf {
    let this = std::env::current_exe().unwrap();
    this.ancestors().nth(2).unwrap().join("nearcrawl-coordinator")
}
