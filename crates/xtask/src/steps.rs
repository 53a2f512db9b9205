//! Named steps of a run, their times and outcomes, and the summary at the end.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// A step that has ended.
#[derive(Debug)]
pub(crate) struct Step {
    name: &'static str,
    duration: Duration,
    /// None when the step passed.
    failure: Option<String>,
}

impl Step {
    /// Does the work of a step.
    pub(crate) fn of(name: &'static str, work: impl FnOnce() -> anyhow::Result<()>) -> Self {
        let begun = Instant::now();
        let failure = work().err().map(|error| format!("{error:#}"));
        Self { name, duration: begun.elapsed(), failure }
    }
}

/// A check or a test that was not run.
#[derive(Debug)]
struct LeftOut {
    name: String,
    reason: String,
}

/// The steps that were run so far. A failed step does not stop the next one, so that the summary
/// names all failures.
#[derive(Debug)]
pub(crate) struct Steps {
    begun: Instant,
    done: Vec<Step>,
    left_out: Vec<LeftOut>,
    /// Tests that are only run by hand.
    by_hand: Vec<String>,
    /// Lines of the steps' output that the summary repeats.
    highlights: Vec<String>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        let begun = Instant::now();
        Self {
            begun,
            done: Vec::new(),
            left_out: Vec::new(),
            by_hand: Vec::new(),
            highlights: Vec::new(),
        }
    }

    /// Runs a command as a step.
    pub(crate) fn run(&mut self, name: &'static str, mut command: Command) {
        self.record(name, || {
            let status = command
                .status()
                .with_context(|| format!("cannot run {}", command.get_program().display()))?;
            if !status.success() {
                bail!("{status}");
            }
            Ok(())
        });
    }

    /// Runs a command as a step. The summary repeats the last line of its standard error that
    /// contains `word`.
    pub(crate) fn run_with_highlight(&mut self, name: &'static str, command: Command, word: &str) {
        let mut highlight = None;
        self.record(name, || {
            let (status, line) = forward_stderr(command, word)?;
            highlight = line;
            if !status.success() {
                bail!("{status}");
            }
            Ok(())
        });
        self.highlights.extend(highlight);
    }

    /// Runs a function as a step.
    pub(crate) fn record(&mut self, name: &'static str, work: impl FnOnce() -> anyhow::Result<()>) {
        println!("── {name}");
        self.done.push(Step::of(name, work));
    }

    /// Whether the last step passed.
    pub(crate) fn last_passed(&self) -> bool {
        self.done.last().is_some_and(|step| step.failure.is_none())
    }

    /// Adds steps that ran beside others.
    pub(crate) fn extend(&mut self, steps: Vec<Step>) {
        self.done.extend(steps);
    }

    /// Records that a check or a test is not run, and why.
    pub(crate) fn leave_out(&mut self, name: impl Into<String>, reason: impl Into<String>) {
        self.left_out.push(LeftOut { name: name.into(), reason: reason.into() });
    }

    /// Records that a test takes too long for every run.
    pub(crate) fn leave_to_hand(&mut self, name: String) {
        self.by_hand.push(name);
    }

    /// Prints the summary; an error when any step failed.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        println!("\n{}", self.summary());
        let failed: Vec<&str> =
            self.done.iter().filter(|step| step.failure.is_some()).map(|step| step.name).collect();
        if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
    }

    fn summary(&self) -> String {
        let mut lines = Vec::new();
        for step in &self.done {
            let outcome = match &step.failure {
                None => "passed".to_owned(),
                Some(failure) => format!("FAILED: {failure}"),
            };
            lines.push(format!(
                "{:>7.1} s  {:<14} {outcome}",
                step.duration.as_secs_f64(),
                step.name
            ));
        }
        lines.push(format!("{:>7.1} s  everything", self.begun.elapsed().as_secs_f64()));
        lines.extend(self.highlights.iter().map(|line| line.trim().to_owned()));
        if !self.by_hand.is_empty() {
            lines.push(format!("long tests, which are run by hand: {}", self.by_hand.len()));
        }
        lines.extend(self.by_hand.iter().map(|name| format!("  {name}")));
        lines.push(match self.left_out.len() {
            0 => "nothing was left out".to_owned(),
            count => format!("left out: {count}"),
        });
        for LeftOut { name, reason } in &self.left_out {
            lines.push(format!("  {name}: {reason}"));
        }
        lines.join("\n")
    }
}

/// Runs a command, passes every line of its standard error on, and returns the last one that
/// contains `word`.
fn forward_stderr(
    mut command: Command,
    word: &str,
) -> anyhow::Result<(std::process::ExitStatus, Option<String>)> {
    let mut child = command.stderr(Stdio::piped()).spawn().context("cannot run it")?;
    let line = match child.stderr.take() {
        Some(stderr) => forward(stderr, word)?,
        None => None,
    };
    Ok((child.wait()?, line))
}

fn forward(lines: impl std::io::Read, word: &str) -> anyhow::Result<Option<String>> {
    let mut last = None;
    for line in BufReader::new(lines).split(b'\n') {
        let line = String::from_utf8_lossy(&line?).into_owned();
        writeln!(std::io::stderr(), "{line}")?;
        if line.contains(word) {
            last = Some(line);
        }
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_step_is_named_and_the_next_one_still_runs() {
        let mut steps = Steps::new();
        steps.run("first", Command::new("false"));
        assert!(!steps.last_passed());
        steps.run("second", Command::new("true"));
        assert_eq!(steps.done.len(), 2);
        assert!(steps.last_passed());
        assert_eq!(steps.finish().unwrap_err().to_string(), "failed: first");
    }

    #[test]
    fn what_was_left_out_is_counted_and_named() {
        let mut steps = Steps::new();
        assert!(steps.summary().ends_with("nothing was left out"));
        steps.leave_out("one", "reason");
        steps.leave_out("two", "other reason");
        steps.leave_to_hand("long".to_owned());
        assert!(steps.summary().contains("run by hand: 1\n  long\nleft out: 2\n"));
        assert!(steps.summary().ends_with("left out: 2\n  one: reason\n  two: other reason"));
    }

    #[test]
    fn the_last_line_with_the_word_is_repeated() {
        let text = "a\nSummary 1\nSummary 2\nb\n";
        assert_eq!(forward(text.as_bytes(), "Summary").unwrap().unwrap(), "Summary 2");
    }
}
