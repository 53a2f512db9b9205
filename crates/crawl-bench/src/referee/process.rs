//! Side of the benchmark: starts the server's process and asks it.

use std::process::Stdio;

use anyhow::{Context as _, bail};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use super::control::{Options, Question, RefereeMessage};
use super::report::{Progress, Report};
use crate::web::WebPlan;

/// A running referee. Its process ends with this value, and with this process, because its
/// standard input ends then.
#[derive(Debug)]
pub struct Referee {
    plan: WebPlan,
    port: u16,
    questions: ChildStdin,
    sayings: Lines<BufReader<ChildStdout>>,
    _process: Child,
}

impl Referee {
    /// Starts it and waits until all pages are made.
    pub async fn start(options: Options) -> anyhow::Result<Self> {
        let plan = options.web;
        let program = std::env::current_exe().context("cannot find the own program")?;
        let mut command = Command::new(program);
        command.arg("referee");
        command.args(["--hosts", &plan.hosts.to_string(), "--pages", &plan.pages.to_string()]);
        command.args(["--threads", &options.threads.to_string()]);
        command.args(plan.one_address.then_some("--one-address"));
        command.args(plan.gzip.then_some("--gzip"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().context("cannot start the referee")?;
        let questions = process.stdin.take().context("the referee has no standard input")?;
        let output = process.stdout.take().context("the referee has no standard output")?;
        let sayings = BufReader::new(output).lines();
        let mut referee = Self { plan, port: 0, questions, sayings, _process: process };
        match referee.saying().await? {
            RefereeMessage::Ready(port) => referee.port = port,
            other => bail!("the referee began with {other:?}"),
        }
        Ok(referee)
    }

    /// The web that it serves.
    pub fn plan(&self) -> &WebPlan {
        &self.plan
    }

    /// Port of all hosts.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Starts empty records.
    pub async fn reset(&mut self) -> anyhow::Result<()> {
        match self.ask(Question::Reset).await? {
            RefereeMessage::Reset => Ok(()),
            other => bail!("the referee answered {other:?}"),
        }
    }

    /// How far the crawl has come.
    pub async fn progress(&mut self) -> anyhow::Result<Progress> {
        match self.ask(Question::Progress).await? {
            RefereeMessage::Progress(progress) => Ok(progress),
            other => bail!("the referee answered {other:?}"),
        }
    }

    /// Everything so far.
    pub async fn report(&mut self) -> anyhow::Result<Report> {
        match self.ask(Question::Report).await? {
            RefereeMessage::Report(report) => Ok(*report),
            other => bail!("the referee answered {other:?}"),
        }
    }

    async fn ask(&mut self, question: Question) -> anyhow::Result<RefereeMessage> {
        let line = serde_json::to_string(&question)? + "\n";
        self.questions.write_all(line.as_bytes()).await.context("the referee is gone")?;
        self.saying().await
    }

    async fn saying(&mut self) -> anyhow::Result<RefereeMessage> {
        let line = self.sayings.next_line().await.context("cannot read from the referee")?;
        Ok(serde_json::from_str(&line.context("the referee has ended")?)?)
    }
}
