//! Side of the server: lines of commands on standard input, lines of JSON on standard output.

use std::io::{self, BufRead as _, Write as _};
use std::sync::Arc;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};
use tokio::runtime::{Builder, Runtime};

use super::report::{Progress, Report};
use super::server::{self, Server};
use crate::process::usage::Usage;
use crate::web::{Web, WebPlan};

/// Options of the referee's process.
#[derive(Debug, Clone, Copy, clap::Args)]
pub struct Options {
    #[command(flatten)]
    pub web: WebPlan,
    /// Threads that serve
    #[arg(long, default_value_t = 1)]
    pub threads: usize,
}

/// What the benchmark asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Question {
    /// Start empty records.
    Reset,
    /// How far the crawl has come.
    Progress,
    /// The whole report.
    Report,
}

/// What the referee says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RefereeMessage {
    /// All pages are made and served at this port.
    Ready(u16),
    Reset,
    Progress(Progress),
    Report(Box<Report>),
}

/// Serves the web until standard input ends.
pub fn run(options: &Options) -> anyhow::Result<()> {
    crate::machine::raise_file_limit()?;
    let web = Web::make(options.web).context("cannot compress the pages")?;
    let server = Arc::new(Server::new(web));
    let runtime = runtime(options.threads).context("cannot start a runtime")?;
    let entered = runtime.enter();
    let listener = server::listen().context("cannot listen")?;
    let port = listener.local_addr().context("cannot listen")?.port();
    drop(entered);
    runtime.spawn(Arc::clone(&server).serve(listener));
    say(&RefereeMessage::Ready(port))?;
    let mut cpu_before = 0.0;
    for line in io::stdin().lock().lines() {
        let question = serde_json::from_str(&line.context("cannot read commands")?)?;
        let saying = match question {
            Question::Reset => {
                server.reset();
                cpu_before = own_cpu_s();
                RefereeMessage::Reset
            }
            Question::Progress => RefereeMessage::Progress(server.records().progress()),
            Question::Report => {
                let referee_cpu_s = own_cpu_s() - cpu_before;
                RefereeMessage::Report(Box::new(Report {
                    referee_cpu_s,
                    ..server.records().report()
                }))
            }
        };
        say(&saying)?;
    }
    Ok(())
}

fn runtime(threads: usize) -> io::Result<Runtime> {
    Builder::new_multi_thread().worker_threads(threads.max(1)).enable_all().build()
}

fn say(saying: &RefereeMessage) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    serde_json::to_writer(&mut out, saying)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

fn own_cpu_s() -> f64 {
    Usage::read(std::process::id()).cpu_s
}
