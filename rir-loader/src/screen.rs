//! Progress on stderr: a bar where a person looks on, a line now and then where a log is kept.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{HumanBytes, MultiProgress, ProgressBar, ProgressStyle};
use rir_loader::Step;
use rir_loader::report::Thousands;

/// How often a log hears that something long is still going on.
const EVERY: Duration = Duration::from_secs(5);

pub(crate) struct Screen {
    /// What is done with files: "reading" or "downloading".
    doing: &'static str,
    terminal: bool,
    /// All bars of the command; several downloads have one each.
    bars: MultiProgress,
    task: Mutex<Option<Task>>,
}

struct Task {
    name: String,
    done: u64,
    of: Option<u64>,
    bar: ProgressBar,
    told: Instant,
}

impl Screen {
    pub(crate) fn new(doing: &'static str) -> Self {
        let terminal = std::io::stderr().is_terminal();
        Self { doing, terminal, bars: MultiProgress::new(), task: Mutex::new(None) }
    }

    /// One more bar on the same terminal.
    pub(crate) fn beside(&self) -> Self {
        Self { bars: self.bars.clone(), task: Mutex::new(None), ..*self }
    }

    pub(crate) fn see(&self, step: Step<'_>) {
        match step {
            Step::File { name, bytes, there } => self.begin_file(name, bytes, there),
            Step::Bytes(more) => self.with_task(|task| task.done += more),
            Step::Nest { records } => {
                self.begin(format!("nesting {} ranges", Thousands(records)), None, Look::Spinner);
            }
            Step::Copy { rows } => {
                self.begin(
                    format!("copying {} rows into Postgres", Thousands(rows)),
                    Some(rows),
                    Look::Rows,
                );
            }
            Step::Copied(rows) => self.with_task(|task| task.done = rows),
            Step::WaitForOther => {
                self.say("another rir-loader is loading a generation; waiting until it is done");
            }
            Step::Again { why } => self.say(&format!("{why}; trying again")),
            Step::Done => self.end(),
        }
    }

    /// A line for the person, above the bars.
    pub(crate) fn say(&self, line: &str) {
        self.bars.suspend(|| eprintln!("{line}"));
    }

    fn begin_file(&self, name: &str, bytes: Option<u64>, there: u64) {
        let size = bytes.map_or_else(String::new, |bytes| format!(" ({})", HumanBytes(bytes)));
        let again = if there > 0 {
            format!(", going on after {}", HumanBytes(there))
        } else {
            String::new()
        };
        self.begin(format!("{} {name}{size}{again}", self.doing), bytes, Look::Bytes);
        self.with_task(|task| task.done = there);
    }

    fn begin(&self, name: String, of: Option<u64>, look: Look) {
        self.end();
        let bar = if self.terminal { look.bar(of, &self.bars) } else { ProgressBar::hidden() };
        bar.set_message(name.clone());
        if !self.terminal {
            self.say(&name);
        }
        let task = Task { name, done: 0, of, bar, told: Instant::now() };
        *self.task.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }

    fn with_task(&self, change: impl FnOnce(&mut Task)) {
        let mut guard = self.task.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(task) = guard.as_mut() else { return };
        change(task);
        if self.terminal {
            task.bar.set_position(task.done);
        } else if task.told.elapsed() >= EVERY {
            task.told = Instant::now();
            eprintln!("{}: {}", task.name, task.share());
        }
    }

    fn end(&self) {
        if let Some(task) = self.task.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.bar.finish_and_clear();
        }
    }
}

/// However the command ends, no half bar is left behind.
impl Drop for Screen {
    fn drop(&mut self) {
        self.end();
    }
}

impl Task {
    fn share(&self) -> String {
        match self.of.filter(|of| *of > 0) {
            Some(of) => format!("{} %", self.done.min(of).saturating_mul(100) / of),
            None => Thousands(self.done).to_string(),
        }
    }
}

#[derive(Clone, Copy)]
enum Look {
    Bytes,
    Rows,
    Spinner,
}

impl Look {
    fn bar(self, of: Option<u64>, bars: &MultiProgress) -> ProgressBar {
        let template = match (self, of) {
            (Self::Bytes, Some(_)) => "{msg:60} {bar:24} {percent:>3} % {bytes_per_sec:>12}",
            (Self::Bytes, None) => "{msg:60} {bytes} {bytes_per_sec}",
            (Self::Rows, _) => "{msg:60} {bar:24} {percent:>3} %",
            (Self::Spinner, _) => "{msg:60} {spinner}",
        };
        let bar = bars.add(of.map_or_else(ProgressBar::new_spinner, ProgressBar::new));
        bar.set_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        );
        bar.enable_steady_tick(Duration::from_millis(100));
        bar
    }
}
