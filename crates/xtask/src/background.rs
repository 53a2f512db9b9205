//! Steps that run beside another one.

use std::panic;
use std::process::Command;
use std::thread::{self, JoinHandle};

use anyhow::{Context, ensure};

use crate::steps::{Step, Steps};

/// Commands that run one after another in a thread of their own.
#[derive(Debug)]
pub(crate) struct Background {
    steps: JoinHandle<Vec<Step>>,
}

impl Background {
    /// Starts the commands.
    pub(crate) fn start(commands: Vec<(&'static str, Command)>) -> Self {
        let step = |(name, command)| Step::of(name, || run(name, command));
        Self { steps: thread::spawn(move || commands.into_iter().map(step).collect()) }
    }

    /// Waits for the end of the commands, and records each as a step.
    pub(crate) fn join(self, steps: &mut Steps) {
        steps.extend(self.steps.join().unwrap_or_else(|panic| panic::resume_unwind(panic)));
    }
}

/// Runs a command. Its output is printed at its end, so that it does not interleave with that of
/// the other step.
fn run(name: &str, mut command: Command) -> anyhow::Result<()> {
    let program = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot run {program}"))?;
    let printed = [output.stdout, output.stderr].concat();
    println!("── {name}, which ran beside\n{}", String::from_utf8_lossy(&printed));
    ensure!(output.status.success(), "{}", output.status);
    Ok(())
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
        let outcome = run("nothing", Command::new("/nowhere/nothing"));
        assert_eq!(outcome.unwrap_err().to_string(), "cannot run /nowhere/nothing");
    }
}
