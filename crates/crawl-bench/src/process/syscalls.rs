//! Counts calls of fsync by a program that is started under perf or strace.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context as _;

const EVENTS: &str = "syscalls:sys_enter_fsync,syscalls:sys_enter_fdatasync";

/// A program that counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counter {
    /// Counts in the kernel, at no cost.
    Perf,
    /// Stops the program at each call, which slows it down.
    Strace,
}

impl Counter {
    /// The best that works here; none when neither does.
    pub fn available() -> Option<Self> {
        let works = |program: &str, arguments: &[&str]| {
            let mut command = Command::new(program);
            command.args(arguments).arg("true").stdin(Stdio::null());
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
            status.is_ok_and(|status| status.success())
        };
        if works("perf", &["stat", "-e", EVENTS]) {
            Some(Self::Perf)
        } else {
            works("strace", &["--quiet=all", "--trace=fsync"]).then_some(Self::Strace)
        }
    }

    /// The command that counts into a file; the program and its arguments are to be added.
    pub fn command(self, file: &Path) -> Command {
        match self {
            Self::Perf => {
                let mut command = Command::new("perf");
                command.args(["stat", "-x,", "-e", EVENTS, "-o"]).arg(file).arg("--");
                command
            }
            Self::Strace => {
                let mut command = Command::new("strace");
                command.args(["--follow-forks", "--seccomp-bpf", "--quiet=all"]);
                command.args(["--trace=fsync,fdatasync", "--output"]).arg(file);
                command
            }
        }
    }

    /// The number in the file of a command that has ended.
    pub fn read(self, file: &PathBuf) -> anyhow::Result<u64> {
        let text = std::fs::read_to_string(file).context("no calls were counted")?;
        Ok(match self {
            Self::Perf => perf(&text),
            Self::Strace => strace(&text),
        })
    }
}

/// The sum of the first column of the events.
fn perf(text: &str) -> u64 {
    let events = text.lines().filter(|line| line.contains("syscalls:"));
    events.filter_map(|line| line.split(',').next()?.parse::<u64>().ok()).sum()
}

/// Lines that begin a call. The second half of a call that another thread interrupted says
/// `resumed`.
fn strace(text: &str) -> u64 {
    let begins = |line: &&str| line.contains("sync(") && !line.contains("resumed");
    text.lines().filter(begins).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_are_read() {
        let text = "# started on a day\n\n3,,syscalls:sys_enter_fsync,3002,100.00,,\n\
            40,,syscalls:sys_enter_fdatasync,3002,100.00,,\n";
        assert_eq!(perf(text), 43);
        let text = "7 fsync(3) = 0\n8 fdatasync(4 <unfinished ...>\n7 fsync(5) = 0\n\
            8 <... fdatasync resumed>) = 0\n7 +++ exited with 0 +++\n";
        assert_eq!(strace(text), 3);
    }
}
