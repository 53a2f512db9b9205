//! Progress on stderr: bars on a terminal, a line every few seconds in a log.

use std::io::{IsTerminal, Write as _};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, MultiProgress, ProgressBar, ProgressStyle};
use rir_loader::Step;
use rir_loader::Thousands;

/// Interval between two lines about the same task in a log.
const LOG_INTERVAL: Duration = Duration::from_secs(5);

pub(crate) struct ProgressBars {
    /// What is done with files: "reading" or "downloading".
    verb: &'static str,
    is_terminal: bool,
    /// All bars of the command; several downloads have one each.
    bars: MultiProgress,
    task: Mutex<Option<Task>>,
}

struct Task {
    name: String,
    done: u64,
    total: Option<u64>,
    bar: ProgressBar,
    logged: Instant,
}

impl ProgressBars {
    pub(crate) fn new(verb: &'static str) -> Self {
        let is_terminal = std::io::stderr().is_terminal();
        Self { verb, is_terminal, bars: MultiProgress::new(), task: Mutex::new(None) }
    }

    /// Another bar on the same terminal.
    pub(crate) fn another(&self) -> Self {
        Self { bars: self.bars.clone(), task: Mutex::new(None), ..*self }
    }

    pub(crate) fn show(&self, step: Step<'_>) {
        match step {
            Step::File { name, bytes, present } => self.begin_file(name, bytes, present),
            Step::Bytes(more) => self.update(|task| task.done += more),
            Step::Build { ranges } => {
                let name = format!("building the hierarchy of {} ranges", Thousands(ranges));
                self.begin(name, None, "{msg:60} {spinner}");
            }
            Step::Copy { rows } => {
                let name = format!("copying {} rows into Postgres", Thousands(rows));
                self.begin(name, Some(rows), "{msg:60} {bar:24} {percent:>3} %");
            }
            Step::Copied(rows) => self.update(|task| task.done = rows),
            Step::WaitForOtherLoad => self
                .print_line("another rir-loader is loading a generation; waiting until it is done"),
            Step::Retry { reason } => self.print_line(&format!("{reason}; trying again")),
            Step::Done => self.end(),
        }
    }

    /// Prints a line above the bars.
    pub(crate) fn print_line(&self, line: &str) {
        self.bars.suspend(|| write_line(line));
    }

    fn begin_file(&self, name: &str, bytes: Option<u64>, present: u64) {
        let size = bytes.map(|bytes| format!(" ({})", HumanBytes(bytes))).unwrap_or_default();
        let mut text = format!("{} {name}{size}", self.verb);
        if present > 0 {
            text = format!("{text}, continuing after {}", HumanBytes(present));
        }
        let template = match bytes {
            Some(_) => "{msg:60} {bar:24} {percent:>3} % {bytes_per_sec:>12}",
            None => "{msg:60} {bytes} {bytes_per_sec}",
        };
        self.begin(text, bytes, template);
        self.update(|task| task.done = present);
    }

    fn begin(&self, name: String, total: Option<u64>, template: &str) {
        self.end();
        let bar = if self.is_terminal {
            let bar = self.bars.add(total.map_or_else(ProgressBar::new_spinner, ProgressBar::new));
            let style = ProgressStyle::with_template(template);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(Duration::from_millis(100));
            bar
        } else {
            ProgressBar::hidden()
        };
        bar.set_message(name.clone());
        if !self.is_terminal {
            self.print_line(&name);
        }
        let task = Task { name, done: 0, total, bar, logged: Instant::now() };
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    fn update(&self, change: impl FnOnce(&mut Task)) {
        let mut guard = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(task) = guard.as_mut() else { return };
        change(task);
        if self.is_terminal {
            task.bar.set_position(task.done);
        } else if task.logged.elapsed() >= LOG_INTERVAL {
            task.logged = Instant::now();
            write_line(&format!("{}: {}", task.name, task.share()));
        }
    }

    fn end(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.bar.finish_and_clear();
        }
    }
}

/// Removes an unfinished bar, however the command ends.
impl Drop for ProgressBars {
    fn drop(&mut self) {
        self.end();
    }
}

impl Task {
    fn share(&self) -> String {
        match self.total.filter(|total| *total > 0) {
            Some(total) => format!("{} %", self.done.min(total).saturating_mul(100) / total),
            None => Thousands(self.done).to_string(),
        }
    }
}

/// Writes a line to standard error. A reader that has gone away is not an error.
pub(crate) fn write_line(line: &str) {
    drop(writeln!(std::io::stderr(), "{line}"));
}
