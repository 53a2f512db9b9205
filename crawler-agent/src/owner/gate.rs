//! Gate: asked before each request and each read of the whole agent.
//!
//! What was used is written to the usage file after each thousandth of a budget and every second,
//! and synced every few seconds. So a killed process forgets at most a thousandth of a budget, and
//! a power failure what was used since the last sync.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{Arc, Mutex},
    time::Duration,
};

use jiff::Timestamp;
use tokio::time::Instant;

use super::{
    allowance::{Allowance, RestReason, Sleep},
    bandwidth::{self, ReadGrant},
    budget::{Budget, Usage, UsedUp},
    usage_file::{UsageFile, UsageFileError},
};
use crate::{clock, config::BudgetRules, config::Config, lock::lock, token_bucket::TokenBucket};

/// Name of the usage file in the data directory.
const FILE: &str = "usage";
/// Part of a budget that may be used before the usage file is written again.
const UNWRITTEN_PART: u64 = 1_000;
/// Bytes that may be used before that where no budget of bytes says less.
const UNWRITTEN_BYTES: u64 = 1 << 20;
/// Pause where running fetches may take what is left of a budget.
const PAUSE: Duration = Duration::from_millis(200);
/// Reads that may wait for bandwidth, as time, before no further fetch starts.
const LONGEST_BACKLOG: Duration = Duration::from_secs(1);

/// What the owner gives; one for the whole agent.
#[derive(Debug)]
pub struct Gate {
    state: Mutex<State>,
    /// None where the owner sets no rate.
    bucket: Option<Mutex<TokenBucket>>,
    started: Instant,
    limits_reads: bool,
}

#[derive(Debug)]
struct State {
    allowance: Allowance,
    file: UsageFile,
    /// What the file says.
    written: Usage,
    /// Requests and bytes after which the file is written.
    unwritten: (u64, u64),
    /// The last write failed.
    failing: bool,
}

/// Whether a fetch may start.
#[derive(Debug)]
pub enum Admission {
    /// It may start, and counts as running while this is kept.
    Start(Permit),
    /// It should be tried again after this time, or when another one has ended.
    Wait(Duration),
    /// Not before a later time.
    Withheld(RestReason),
}

/// A running fetch.
#[derive(Debug)]
pub struct Permit(Arc<Gate>);

impl Gate {
    /// The gate of an agent with the data directory `dir`.
    pub fn open(config: &Config, dir: &Path) -> Result<Self, UsageFileError> {
        let now = clock::timestamp(clock::now());
        let budget = |usage| Budget::new(config.budget, config.zone.clone(), usage, now);
        let (file, written) = UsageFile::open(&dir.join(FILE), &budget(None).usage(now))?;
        let allowance = Allowance::new(config.spans.clone(), budget(Some(written)), now);
        let unwritten = unwritten(&config.budget);
        let state = State { allowance, file, written, unwritten, failing: false };
        let rate = config.limits.bytes_per_second;
        let bytes = config.budget.bytes_per_day.or(config.budget.bytes_per_month);
        Ok(Self {
            limits_reads: rate.or(bytes).is_some(),
            state: Mutex::new(state),
            bucket: rate.map(|rate| Mutex::new(bandwidth::bucket(rate))),
            started: Instant::now(),
        })
    }

    /// Whether a fetch may start now.
    pub fn start(self: &Arc<Self>) -> Admission {
        let mut state = lock(&self.state);
        match state.allowance.may_start(now()) {
            Err(withheld) => return Admission::Withheld(withheld),
            Ok(false) => return Admission::Wait(PAUSE),
            Ok(true) => {}
        }
        let backlog = self.with_bucket(|bucket, now| bucket.backlog(now)).unwrap_or_default();
        // Otherwise more and more fetches would share the rate, until all of them were too slow.
        let excess = backlog.saturating_sub(LONGEST_BACKLOG);
        if !excess.is_zero() {
            return Admission::Wait(excess);
        }
        state.allowance.budget.start();
        Admission::Start(Permit(Arc::clone(self)))
    }

    /// Counts a request that is about to be sent; an error if none may be.
    pub fn request(&self) -> Result<(), RestReason> {
        let mut state = lock(&self.state);
        let counted = state.allowance.request(now());
        state.write_if_due();
        counted
    }

    /// Whether reads must be reserved. If not, what was read is only counted.
    pub fn limits_reads(&self) -> bool {
        self.limits_reads
    }

    /// Reserves a read of at most `wanted` bytes.
    pub fn read(&self, wanted: u64) -> ReadGrant {
        let reserved = self.with_bucket(|bucket, now| bandwidth::reserve(bucket, wanted, now));
        let ReadGrant { bytes, wait } =
            reserved.unwrap_or(ReadGrant { bytes: wanted, wait: Duration::ZERO });
        let bytes = self.with_budget(|budget, now| budget.read(bytes, now));
        ReadGrant { bytes, wait }
    }

    /// Takes reserved bytes back that were not there to be read.
    pub fn unread(&self, bytes: u64) {
        self.with_bucket(|bucket, _| bucket.give_back(bytes));
        self.with_budget(|budget, _| budget.unread(bytes));
    }

    /// Counts bytes that were sent, or that no socket of the agent's sees.
    pub fn count(&self, bytes: u64) {
        self.with_budget(|budget, now| {
            budget.usage(now);
            budget.count(bytes);
        });
    }

    /// Present outside the owner's spans.
    pub fn asleep(&self) -> Option<Sleep> {
        lock(&self.state).allowance.asleep(now())
    }

    /// The budget that is used up, if any.
    pub fn used_up(&self) -> Option<UsedUp> {
        self.with_budget(Budget::used_up)
    }

    /// What was used of the present day and month.
    pub fn usage(&self) -> Usage {
        self.with_budget(Budget::usage)
    }

    /// Writes what was used, and syncs it if `durably`.
    pub fn write(&self, durably: bool) -> io::Result<()> {
        let file: Arc<File> = {
            let mut state = lock(&self.state);
            let usage = state.allowance.budget.usage(now());
            if usage != state.written {
                state.write(&usage)?;
            }
            state.file.handle()
        };
        if durably { file.sync_data() } else { Ok(()) }
    }

    fn with_budget<T>(&self, work: impl FnOnce(&mut Budget, Timestamp) -> T) -> T {
        let mut state = lock(&self.state);
        let result = work(&mut state.allowance.budget, now());
        state.write_if_due();
        result
    }

    fn with_bucket<T>(&self, work: impl FnOnce(&mut TokenBucket, Duration) -> T) -> Option<T> {
        let mut bucket = lock(self.bucket.as_ref()?);
        Some(work(&mut bucket, self.started.elapsed()))
    }
}

impl State {
    fn write_if_due(&mut self) {
        let usage = self.allowance.budget.last_usage();
        let (pages, bytes) = self.unwritten;
        let due = usage.date != self.written.date
            || usage.pages >= self.written.pages + pages
            || usage.bytes >= self.written.bytes.saturating_add(bytes);
        if due && let Err(error) = self.write(&usage) {
            // Once for each run of failures: this is the hot path.
            if !std::mem::replace(&mut self.failing, true) {
                tracing::error!(%error, "what was used of the budgets cannot be written");
            }
        }
    }

    fn write(&mut self, usage: &Usage) -> io::Result<()> {
        // Also after a failure: the next attempt is due after as much again.
        self.written = *usage;
        self.file.write(usage)?;
        self.failing = false;
        Ok(())
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        lock(&self.0.state).allowance.budget.end();
    }
}

fn now() -> Timestamp {
    clock::timestamp(clock::now())
}

/// Requests and bytes that may be used before the usage file is written again.
fn unwritten(rules: &BudgetRules) -> (u64, u64) {
    let least = [rules.bytes_per_day, rules.bytes_per_month].into_iter().flatten().min();
    let bytes = least.map_or(UNWRITTEN_BYTES, |bytes| bytes / UNWRITTEN_PART);
    ((rules.pages_per_day / UNWRITTEN_PART).max(1), bytes.min(UNWRITTEN_BYTES))
}

#[cfg(test)]
impl Gate {
    /// The gate of an agent with the least configuration and these lines besides.
    pub(crate) fn of(lines: &str) -> Arc<Self> {
        let text = format!(
            "coordinator = \"https://c.example\"\ncontact = \"https://o.example\"\n{lines}"
        );
        let config = Config::parse(&text, Path::new("agent.toml")).unwrap();
        let dir = tempfile::TempDir::new().unwrap();
        Arc::new(Self::open(&config, dir.path()).unwrap())
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_killed_process_forgets_at_most_a_thousandth() {
        let config = "coordinator = \"https://c.example\"\ncontact = \"https://o.example\"\n\
                      [budget]\npages_per_day = 2000\nmib_per_day = 100";
        let config = Config::parse(config, Path::new("agent.toml")).unwrap();
        let dir = TempDir::new().unwrap();
        let gate = Gate::open(&config, dir.path()).unwrap();
        for _ in 0..1_001 {
            gate.request().unwrap();
            gate.count(50_000);
        }
        let used = gate.usage();
        // The process ends without a last write.
        std::mem::forget(gate);
        let found = Gate::open(&config, dir.path()).unwrap().usage();
        assert!((used.pages - 2..=used.pages).contains(&found.pages), "{used:?} {found:?}");
        assert!(used.bytes - found.bytes <= 2 * (100 << 20) / 1_000, "{used:?} {found:?}");
        assert_eq!(used.bytes, used.month_bytes);
    }

    #[test]
    fn permits_are_given_back() {
        let gate = Gate::of("[budget]\npages_per_day = 2");
        let first = gate.start();
        let second = gate.start();
        assert!(matches!((&first, &second), (Admission::Start(_), Admission::Start(_))));
        assert!(matches!(gate.start(), Admission::Wait(_)));
        drop(first);
        assert!(matches!(gate.start(), Admission::Start(_)));
        gate.request().unwrap();
        gate.request().unwrap();
        assert!(matches!(gate.start(), Admission::Withheld(RestReason::UsedUp(_))));
        assert!(matches!(gate.request(), Err(RestReason::UsedUp(_))));
        assert_eq!(gate.usage().pages, 2);
    }

    #[test]
    fn no_fetch_starts_while_reads_wait_for_bandwidth() {
        let gate = Gate::of("[limits]\nkib_per_second = 8");
        assert_eq!(gate.read(1 << 20).bytes, 16 << 10);
        assert!(gate.read(1 << 20).wait > Duration::from_secs(1));
        assert!(matches!(gate.start(), Admission::Wait(_)));
        gate.unread(32 << 10);
        assert!(matches!(gate.start(), Admission::Start(_)));
        assert_eq!(gate.usage().bytes, 0);
    }
}
