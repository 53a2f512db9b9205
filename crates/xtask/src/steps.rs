//! Named steps, with the time each took and how it ended.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

/// How a step ended.
#[derive(Debug)]
enum End {
    Passed,
    Skipped(String),
    Failed(String),
}

#[derive(Debug)]
struct Step {
    name: &'static str,
    took: Duration,
    end: End,
}

/// What was done so far. A failed step does not stop the next one: whoever reads the end wants to
/// know everything.
#[derive(Debug)]
pub(crate) struct Steps {
    begun: Instant,
    done: Vec<Step>,
    /// Lines worth repeating at the very end.
    memorable: Vec<String>,
}

impl Steps {
    pub(crate) fn new() -> Self {
        Self { begun: Instant::now(), done: Vec::new(), memorable: Vec::new() }
    }

    /// Runs a command as a step.
    pub(crate) fn run(&mut self, name: &'static str, mut command: Command) {
        self.record(name, |_| {
            let status = command
                .status()
                .with_context(|| format!("cannot run {}", command.get_program().display()))?;
            if !status.success() {
                bail!("{status}");
            }
            Ok(())
        });
    }

    /// Runs a command as a step and remembers the last line of its standard error with `word` in
    /// it.
    pub(crate) fn run_remembering(&mut self, name: &'static str, mut command: Command, word: &str) {
        self.record(name, |memorable| {
            let mut child = command.stderr(Stdio::piped()).spawn().context("cannot run it")?;
            if let Some(lines) = child.stderr.take() {
                memorable.extend(repeat(lines, word)?);
            }
            let status = child.wait()?;
            if !status.success() {
                bail!("{status}");
            }
            Ok(())
        });
    }

    /// Does something else as a step.
    pub(crate) fn record(
        &mut self,
        name: &'static str,
        work: impl FnOnce(&mut Vec<String>) -> anyhow::Result<()>,
    ) {
        println!("── {name}");
        let begun = Instant::now();
        let end = match work(&mut self.memorable) {
            Ok(()) => End::Passed,
            Err(error) => End::Failed(format!("{error:#}")),
        };
        self.done.push(Step { name, took: begun.elapsed(), end });
    }

    /// Notes what is not done here, and why.
    pub(crate) fn skip(&mut self, name: &'static str, reason: impl Into<String>) {
        let reason = reason.into();
        println!("── {name}: skipped, {reason}");
        self.done.push(Step { name, took: Duration::ZERO, end: End::Skipped(reason) });
    }

    /// Prints the table; an error when any step failed.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        println!();
        for step in &self.done {
            println!("{:>7.1} s  {:<14} {}", step.took.as_secs_f64(), step.name, step.end.words());
        }
        println!("{:>7.1} s  everything", self.begun.elapsed().as_secs_f64());
        for line in &self.memorable {
            println!("{}", line.trim());
        }
        let failed: Vec<_> = self
            .done
            .iter()
            .filter(|step| matches!(step.end, End::Failed(_)))
            .map(|step| step.name)
            .collect();
        if failed.is_empty() { Ok(()) } else { bail!("failed: {}", failed.join(", ")) }
    }
}

impl End {
    fn words(&self) -> String {
        match self {
            Self::Passed => "passed".to_owned(),
            Self::Skipped(reason) => format!("skipped: {reason}"),
            Self::Failed(reason) => format!("FAILED: {reason}"),
        }
    }
}

/// Passes every line on; the last one that holds `word` is returned.
fn repeat(lines: impl std::io::Read, word: &str) -> anyhow::Result<Option<String>> {
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
        steps.run("second", Command::new("true"));
        steps.skip("third", "for no reason");
        assert_eq!(steps.done.len(), 3);
        assert_eq!(steps.finish().unwrap_err().to_string(), "failed: first");
    }

    #[test]
    fn the_last_line_with_the_word_is_remembered() {
        let text = "a\nSummary 1\nSummary 2\nb\n";
        assert_eq!(repeat(text.as_bytes(), "Summary").unwrap().unwrap(), "Summary 2");
    }
}
