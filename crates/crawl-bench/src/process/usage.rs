//! What a process used, from the files of `/proc/PID`.

use serde::{Deserialize, Serialize};

/// Ticks a second in `/proc/PID/stat`; the kernel's interface has used this number since 2.6,
/// whatever its own clock.
const TICKS_A_SECOND: f64 = 100.0;

/// What a process used since it started. What could not be read is zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Usage {
    /// User and system time, in seconds.
    pub cpu_s: f64,
    /// Most memory that was ever resident, in bytes.
    pub peak_bytes: u64,
    /// Bytes passed to write calls, files and sockets alike.
    pub written_bytes: u64,
    /// Bytes that went to the disk or will.
    pub disk_bytes: u64,
    /// Whether the process has ended and only its status is left.
    pub ended: bool,
}

impl Usage {
    /// Reads everything about a process.
    pub fn read(pid: u32) -> Self {
        let file = |name| std::fs::read_to_string(format!("/proc/{pid}/{name}")).ok();
        let stat = file("stat").and_then(|text| stat(&text));
        let status = file("status").unwrap_or_default();
        let io = file("io").unwrap_or_default();
        Self {
            cpu_s: stat.map_or(0.0, |stat| stat.cpu_s),
            ended: stat.is_none_or(|stat| stat.ended),
            peak_bytes: field(&status, "VmHWM:").map_or(0, |kib| kib << 10),
            written_bytes: field(&io, "wchar:").unwrap_or(0),
            disk_bytes: field(&io, "write_bytes:").unwrap_or(0),
        }
    }

    /// This and an earlier reading together: a process that has ended no longer has its memory, and
    /// perhaps not its counters of bytes.
    #[must_use]
    pub fn or_earlier(self, earlier: Self) -> Self {
        Self {
            cpu_s: self.cpu_s.max(earlier.cpu_s),
            peak_bytes: self.peak_bytes.max(earlier.peak_bytes),
            written_bytes: self.written_bytes.max(earlier.written_bytes),
            disk_bytes: self.disk_bytes.max(earlier.disk_bytes),
            ended: self.ended,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Stat {
    cpu_s: f64,
    ended: bool,
}

/// State, utime and stime of `/proc/PID/stat`. The name of the program, in parentheses, may hold
/// anything.
fn stat(text: &str) -> Option<Stat> {
    let after_name = &text[text.rfind(')')? + 1..];
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    let user: u64 = fields.get(11)?.parse().ok()?;
    let system: u64 = fields.get(12)?.parse().ok()?;
    let ended = matches!(*fields.first()?, "Z" | "X");
    Some(Stat { cpu_s: (user + system) as f64 / TICKS_A_SECOND, ended })
}

/// The number after a name at the start of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let rest = text.lines().find_map(|line| line.strip_prefix(name))?;
    rest.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_behind_any_name() {
        let text = "7 (a (b) 3) S 1 7 7 0 -1 4194560 900 0 0 0 250 50 0 0 20 0 4 0 55 1 2\n";
        assert_eq!(stat(text), Some(Stat { cpu_s: 3.0, ended: false }));
        let zombie = text.replace(") S ", ") Z ");
        assert_eq!(stat(&zombie), Some(Stat { cpu_s: 3.0, ended: true }));
        assert_eq!(stat("7 (a"), None);
        assert_eq!(stat(""), None);
    }

    #[test]
    fn fields_are_found_by_name() {
        let status = "Name:\tx\nVmPeak:\t  900 kB\nVmHWM:\t     512 kB\n";
        assert_eq!(field(status, "VmHWM:"), Some(512));
        assert_eq!(field("wchar: 12\nwrite_bytes: 4096\n", "write_bytes:"), Some(4_096));
        assert_eq!(field(status, "VmRSS:"), None);
    }

    #[test]
    fn this_process_has_used_something() {
        let usage = Usage::read(std::process::id());
        assert!(usage.peak_bytes > 0 && !usage.ended);
        let gone = Usage::default().or_earlier(usage);
        assert_eq!(gone.peak_bytes, usage.peak_bytes);
    }
}
