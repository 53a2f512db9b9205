//! Steps that run beside another one, on processors that it leaves idle.

use std::panic;
use std::process::Command;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::machine::has_program;
use crate::steps::Steps;

/// Commands that run one after another in a thread of their own.
#[derive(Debug)]
pub(crate) struct Background {
    commands: JoinHandle<Vec<Finished>>,
}

#[derive(Debug)]
struct Finished {
    name: &'static str,
    duration: Duration,
    outcome: anyhow::Result<()>,
}

impl Background {
    /// Starts the commands.
    pub(crate) fn start(commands: Vec<(&'static str, Command)>) -> Self {
        let run = |(name, command)| {
            let begun = Instant::now();
            let outcome = run(name, &mut idle(&command));
            Finished { name, duration: begun.elapsed(), outcome }
        };
        Self { commands: thread::spawn(move || commands.into_iter().map(run).collect()) }
    }

    /// Waits for the end of the commands, and records each as a step.
    pub(crate) fn join(self, steps: &mut Steps) {
        let finished = self.commands.join().unwrap_or_else(|panic| panic::resume_unwind(panic));
        for Finished { name, duration, outcome } in finished {
            steps.add(name, duration, outcome);
        }
    }
}

/// Runs a command. Its output is printed at its end, so that it does not interleave with that of
/// the other step.
fn run(name: &str, command: &mut Command) -> anyhow::Result<()> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let printed = [output.stdout, output.stderr].concat();
    println!("── {name}, which ran beside\n{}", String::from_utf8_lossy(&printed));
    if !output.status.success() {
        bail!("{}", output.status);
    }
    Ok(())
}

/// The same command with a priority that delays no other program, where the machine has `chrt`.
fn idle(command: &Command) -> Command {
    let mut idle = if has_program("chrt") {
        let mut chrt = Command::new("chrt");
        chrt.args(["--idle", "0"]).arg(command.get_program());
        chrt
    } else {
        Command::new(command.get_program())
    };
    idle.args(command.get_args());
    if let Some(directory) = command.get_current_dir() {
        idle.current_dir(directory);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => idle.env(name, value),
            None => idle.env_remove(name),
        };
    }
    idle
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("WORD", "kept").current_dir("/");
        command
    }

    #[test]
    fn commands_run_in_their_environment_and_failures_are_recorded() {
        let mut steps = Steps::new();
        let commands = vec![
            ("first", shell("exit 3")),
            ("second", shell("test \"$WORD\" = kept && test \"$PWD\" = /")),
        ];
        Background::start(commands).join(&mut steps);
        assert_eq!(steps.finish().unwrap_err().to_string(), "failed: first");
    }

    #[test]
    fn a_program_that_does_not_exist_fails() {
        let outcome = run("nothing", &mut Command::new("/nowhere/nothing"));
        assert_eq!(outcome.unwrap_err().to_string(), "cannot run /nowhere/nothing");
    }
}
