//! Readings of the machine, from /proc and /sys.
//!
//! Load and pressure are differences of counters between two readings, and the agent's own part is
//! taken out: its processor time, and the time for which its threads waited for a processor. The
//! kernel's averages would be simpler, but contain the agent, which runs at the lowest priority
//! and so waits whenever others work.

use std::path::{Path, PathBuf};

use crate::{config::IdleRules, file::FileError};

/// Ticks a second of the times in /proc/stat and /proc/self/stat (USER_HZ).
const TICKS_PER_SECOND: f64 = 100.0;

/// A reading that the owner's configuration needs, and that cannot be taken.
#[derive(Debug, thiserror::Error)]
pub enum ReadingError {
    /// A file cannot be read.
    #[error("[idle] in the configuration needs what this machine does not offer")]
    File(#[from] FileError),
    /// A file has another form than expected.
    #[error("[idle] in the configuration needs {0}, which is not in a known form")]
    Form(PathBuf),
}

/// What the machine does.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MachineState {
    /// Processor time that other programs used, per processor.
    pub load_per_cpu: Option<f64>,
    /// Share of the time in which another program waited for a processor.
    pub cpu_pressure: Option<f64>,
    /// Whether the machine runs on its battery.
    pub on_battery: bool,
}

/// Reads the machine's counters.
#[derive(Debug, Clone)]
pub struct MachineReader {
    /// Directory that holds `proc` and `sys`.
    root: PathBuf,
    rules: IdleRules,
}

/// Counters of one moment.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Counters {
    /// Time of all processors together, in ticks.
    total: u64,
    /// The part of it in which they worked.
    busy: u64,
    /// The part of that for the agent.
    own: u64,
    /// Number of processors.
    cpus: u64,
    /// Time in which some program waited, in microseconds.
    stalled_us: Option<u64>,
    /// Time for which the agent's threads waited, in nanoseconds.
    own_wait_ns: u64,
    on_battery: bool,
}

impl MachineReader {
    /// A reader of what `rules` need, of the machine whose `proc` and `sys` are in `root`.
    pub fn new(root: &Path, rules: IdleRules) -> Self {
        Self { root: root.to_owned(), rules }
    }

    pub fn read(&self) -> Result<Counters, ReadingError> {
        let mut counters = Counters::default();
        if self.rules.max_load_per_cpu.is_some() || self.rules.max_cpu_pressure.is_some() {
            self.read_processors(&mut counters)?;
        }
        if self.rules.max_cpu_pressure.is_some() {
            let stalled = self.parsed("proc/pressure/cpu", stalled)?;
            counters.stalled_us = Some(stalled);
            counters.own_wait_ns = self.own_wait();
        }
        counters.on_battery = self.rules.not_on_battery && self.on_battery();
        Ok(counters)
    }

    fn read_processors(&self, counters: &mut Counters) -> Result<(), ReadingError> {
        (counters.busy, counters.total, counters.cpus) = self.parsed("proc/stat", processors)?;
        counters.own = self.parsed("proc/self/stat", own_time)?;
        Ok(())
    }

    fn parsed<T>(
        &self,
        file: &str,
        parse: impl FnOnce(&str) -> Option<T>,
    ) -> Result<T, ReadingError> {
        let path = self.root.join(file);
        let text = std::fs::read_to_string(&path).map_err(FileError::at(&path, "read"))?;
        parse(&text).ok_or(ReadingError::Form(path))
    }

    /// Time for which the agent's threads waited for a processor. Kernels without this statistic
    /// make others seem to wait longer, so that the agent rests too often rather than too rarely.
    fn own_wait(&self) -> u64 {
        let Ok(threads) = std::fs::read_dir(self.root.join("proc/self/task")) else { return 0 };
        let wait = |thread: std::fs::DirEntry| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).ok()?;
            text.split_whitespace().nth(1)?.parse::<u64>().ok()
        };
        threads.flatten().filter_map(wait).sum()
    }

    /// Whether a battery of the machine discharges and no other supply is online. Batteries of
    /// devices, such as a mouse, do not count.
    fn on_battery(&self) -> bool {
        let Ok(supplies) = std::fs::read_dir(self.root.join("sys/class/power_supply")) else {
            return false;
        };
        let mut discharges = false;
        for supply in supplies.flatten() {
            let value = |file: &str| {
                let text = std::fs::read_to_string(supply.path().join(file)).unwrap_or_default();
                text.trim().to_owned()
            };
            if value("type") == "Battery" {
                discharges |= value("scope") != "Device" && value("status") == "Discharging";
            } else if value("online") == "1" {
                return false;
            }
        }
        discharges
    }
}

impl Counters {
    /// What the machine did from `before` until this moment.
    pub fn since(&self, before: &Self) -> MachineState {
        let total = self.total.saturating_sub(before.total);
        let share = |part: f64, whole: f64| (whole > 0.0).then(|| (part / whole).max(0.0));
        let others = self.busy.saturating_sub(before.busy) as f64
            - self.own.saturating_sub(before.own) as f64;
        let seconds = total as f64 / TICKS_PER_SECOND / self.cpus.max(1) as f64;
        let waited = self
            .stalled_us
            .zip(before.stalled_us)
            .map(|(after, before)| after.saturating_sub(before) as f64 / 1e6);
        let own_wait = self.own_wait_ns.saturating_sub(before.own_wait_ns) as f64 / 1e9;
        MachineState {
            load_per_cpu: share(others, total as f64),
            cpu_pressure: waited.and_then(|waited| share(waited - own_wait, seconds)),
            on_battery: self.on_battery,
        }
    }
}

/// Ticks in which the processors worked, all their ticks, and their number, from /proc/stat.
fn processors(text: &str) -> Option<(u64, u64, u64)> {
    let all = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user, nice, system, idle, iowait, irq, softirq, steal; guests are in user and nice already.
    let times: Vec<u64> =
        all.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
    let total: u64 = times.iter().sum();
    let rest: u64 = times.get(3..5)?.iter().sum();
    let cpus = text.lines().filter(|line| {
        line.strip_prefix("cpu").is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    });
    Some((total - rest, total, cpus.count() as u64))
}

/// Ticks that the process used, from /proc/self/stat.
fn own_time(text: &str) -> Option<u64> {
    // The name of the program may hold spaces and brackets.
    let (_, fields) = text.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: u64 = fields.next()?.parse().ok()?;
    let system: u64 = fields.next()?.parse().ok()?;
    Some(user + system)
}

/// Microseconds in which some program waited, from /proc/pressure/cpu.
fn stalled(text: &str) -> Option<u64> {
    let some = text.lines().find(|line| line.split_whitespace().next() == Some("some"))?;
    some.split_whitespace().find_map(|field| field.strip_prefix("total="))?.parse().ok()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn write(root: &TempDir, file: &str, text: &str) {
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn rules() -> IdleRules {
        IdleRules {
            max_load_per_cpu: Some(0.5),
            max_cpu_pressure: Some(0.5),
            not_on_battery: true,
            ..IdleRules::default()
        }
    }

    /// Two processors after `seconds`, of which others worked for `others` and the agent for `own`.
    fn counters(root: &TempDir, seconds: u64, others: u64, own: u64) {
        let idle = seconds * 200 - others - own;
        let cpu = format!("cpu  {} 10 {own} {idle} 0 0 0 0 5 0\ncpu0 1\ncpu1 1\n", others + 90);
        write(root, "proc/stat", &format!("{cpu}intr 1 2\nctxt 3\n"));
        let own = format!("7 (a) b (c) S 1 1 1 0 -1 4194560 1 0 0 0 {own} 0 0 0 20 0 1");
        write(root, "proc/self/stat", &own);
    }

    fn waiting(root: &TempDir, all_us: u64, own_ns: u64) {
        let text = format!(
            "some avg10=1.00 avg60=2.00 avg300=3.00 total={all_us}\n\
             full avg10=0.00 avg60=0.00 avg300=0.00 total=9\n"
        );
        write(root, "proc/pressure/cpu", &text);
        write(root, "proc/self/task/7/schedstat", &format!("5 {own_ns} 3\n"));
        write(root, "proc/self/task/8/schedstat", &format!("5 {own_ns} 3\n"));
    }

    #[test]
    fn load_and_pressure_are_those_of_others() {
        let root = TempDir::new().unwrap();
        let reader = MachineReader::new(root.path(), rules());
        counters(&root, 100, 5_000, 1_000);
        waiting(&root, 1_000_000, 100_000_000);
        let before = reader.read().unwrap();
        // In ten seconds others worked for five, the agent for two.
        counters(&root, 110, 5_500, 1_200);
        waiting(&root, 6_000_000, 600_000_000);
        let readings = reader.read().unwrap().since(&before);
        assert!((readings.load_per_cpu.unwrap() - 0.25).abs() < 1e-9, "{readings:?}");
        assert!((readings.cpu_pressure.unwrap() - 0.4).abs() < 1e-9, "{readings:?}");
        assert!(!readings.on_battery, "there is none");
        let nothing = before.since(&before);
        assert_eq!((nothing.load_per_cpu, nothing.cpu_pressure), (None, None));
    }

    #[test]
    fn batteries_count_without_another_supply() {
        let root = TempDir::new().unwrap();
        let rules = IdleRules { not_on_battery: true, ..IdleRules::default() };
        let reader = MachineReader::new(root.path(), rules);
        let on_battery = || reader.read().unwrap().on_battery;
        write(&root, "sys/class/power_supply/mouse/type", "Battery\n");
        write(&root, "sys/class/power_supply/mouse/scope", "Device\n");
        write(&root, "sys/class/power_supply/mouse/status", "Discharging\n");
        assert!(!on_battery());
        write(&root, "sys/class/power_supply/BAT0/type", "Battery\n");
        write(&root, "sys/class/power_supply/BAT0/status", "Discharging\n");
        assert!(on_battery());
        write(&root, "sys/class/power_supply/AC/type", "Mains\n");
        write(&root, "sys/class/power_supply/AC/online", "0\n");
        assert!(on_battery());
        write(&root, "sys/class/power_supply/AC/online", "1\n");
        assert!(!on_battery());
    }

    #[test]
    fn what_is_missing_is_named() {
        let root = TempDir::new().unwrap();
        let reader = MachineReader::new(root.path(), rules());
        let error = |reader: &MachineReader| crate::error_line::of(&reader.read().unwrap_err());
        assert!(error(&reader).contains("proc/stat cannot be read"), "{}", error(&reader));
        counters(&root, 1, 0, 0);
        assert!(error(&reader).contains("pressure/cpu cannot be read"), "{}", error(&reader));
        write(&root, "proc/pressure/cpu", "full total=1\n");
        assert!(error(&reader).contains("not in a known form"), "{}", error(&reader));
        let off = MachineReader::new(root.path(), IdleRules::default());
        assert_eq!(off.read().unwrap(), Counters::default());
    }

    #[test]
    fn this_machine_can_be_read() {
        let rules = IdleRules { max_load_per_cpu: Some(0.5), ..IdleRules::default() };
        let counters = MachineReader::new(Path::new("/"), rules).read().unwrap();
        assert!(counters.cpus > 0 && counters.busy <= counters.total, "{counters:?}");
    }
}
