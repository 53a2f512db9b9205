//! Runs the loader: to refresh the registries' data, and to split subnets.
//!
//! > We have to rebuild the IP-address hierarchy every three months. (IPMicra III.C)
//!
//! The loader is a process of its own: it takes memory and time and may be killed at any moment.
//! The coordinator puts a new generation in use no matter which process loaded it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;

use hierarchy::Registry;
use model::UnixMillis;
use serde_json::json;
use store::generations::Source;
use store::{Store, StoreError, settings};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;
use url::Url;

use crate::runtime::config::{Config, Registries};

/// Hours between two attempts that no admin asked for.
pub const PAUSE_H: i64 = 6;
const HOUR_MS: i64 = 3_600_000;
const SETTING: &str = "refresh_asked_at";

/// The times that decide whether a refresh is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refresh {
    /// When the generation in use was swapped in.
    pub loaded_at: UnixMillis,
    /// When an admin last asked for new data.
    pub asked_at: Option<UnixMillis>,
    /// When this coordinator began its last attempt that ended by itself.
    pub tried_at: Option<UnixMillis>,
}

impl Refresh {
    /// Whether to fetch and load now: an admin asked since the last load, or the data is `days` old
    /// (0: never). An attempt that failed is repeated after [`PAUSE_H`], or when an admin asks
    /// again.
    pub fn is_due(&self, days: u32, now: UnixMillis) -> bool {
        let wanted = self.asked_at > Some(self.loaded_at);
        let asked_again = self.asked_at > self.tried_at;
        let old = days > 0 && now.0 - self.loaded_at.0 >= i64::from(days) * 24 * HOUR_MS;
        let rested = self.tried_at.is_none_or(|tried| now.0 - tried.0 >= PAUSE_H * HOUR_MS);
        (wanted && asked_again) || ((wanted || old) && rested)
    }
}

/// How long ago data that was loaded then became `days` old; 0 before that, or where data never
/// does (0 days).
pub fn overdue_ms(loaded_at: UnixMillis, days: u32, now: UnixMillis) -> u64 {
    let due = loaded_at.plus_ms(i64::from(days) * 24 * HOUR_MS);
    let overdue = now.0.saturating_sub(due.0).max(0).unsigned_abs();
    if days == 0 { 0 } else { overdue }
}

/// When this process began the last run of the loader that ended by itself; a new process may run
/// it at once.
#[derive(Debug, Default)]
pub struct LastAttempt(Mutex<Option<UnixMillis>>);

impl LastAttempt {
    /// `None` before the first attempt of this process.
    pub fn get(&self) -> Option<UnixMillis> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// Stores the time of an attempt.
    pub fn set(&self, now: UnixMillis) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(now);
    }
}

/// Stores that an admin asked for new data. The leader finds it, whichever coordinator was asked.
pub async fn ask(store: &Store, now: UnixMillis) -> Result<(), StoreError> {
    settings::set(store, SETTING, &json!(now.0)).await
}

/// When an admin last asked for new data.
pub async fn asked_at(store: &Store) -> Result<Option<UnixMillis>, StoreError> {
    let value = settings::get(store, SETTING).await?;
    Ok(value.and_then(|value| value.as_i64()).map(UnixMillis))
}

/// Why the loader did not succeed.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The loader cannot be started.
    #[error(
        "cannot start {program}: {source}; set `loader` under [registries] to the path of \
         rir-loader"
    )]
    Start {
        /// Path of the executable.
        program: PathBuf,
        /// The error of the operating system.
        source: std::io::Error,
    },
    /// The loader ended with an error.
    #[error("{0}")]
    Loader(String),
    /// The coordinator is stopping.
    #[error("stopped before the end")]
    Stopped,
}

/// When the live generation was made.
#[derive(Debug, Clone, Copy)]
pub struct MadeAt {
    /// When the loader began; it has the splits that were proposed until then.
    pub started: UnixMillis,
    /// When it was swapped in.
    pub live: UnixMillis,
}

/// Whether to split subnets: a split was proposed since the last one, which was `hours` ago (0:
/// never). The last one began at `split_at`, or with the live generation.
pub fn is_split_due(
    proposed_at: Option<UnixMillis>,
    made_at: MadeAt,
    split_at: Option<UnixMillis>,
    hours: u32,
    now: UnixMillis,
) -> bool {
    // A split that contradicts the registries' records makes no generation, so the times of the
    // generation alone would have it tried again and again.
    let is_new = proposed_at > Some(made_at.started) && proposed_at > split_at;
    let last = split_at.map_or(made_at.live, |split_at| split_at.max(made_at.live));
    hours > 0 && is_new && now.0 - last.0 >= i64::from(hours) * HOUR_MS
}

/// Splits subnets that measurements showed to be in several places. Ends early, without harm, when
/// `stop` is cancelled.
pub async fn split(config: &Config, stop: &CancellationToken) -> Result<(), RefreshError> {
    let mut cut = loader(config)?;
    cut.arg("split").arg("--data-dir").arg(&config.data_dir);
    run_one(with_database(cut, config), stop).await
}

/// Fetches the files of the registries that `sources` are of, all five if of none, and loads what
/// is in the directory. Ends early, without harm, when `stop` is cancelled.
pub async fn refresh(
    config: &Config,
    sources: &[Source],
    stop: &CancellationToken,
) -> Result<(), RefreshError> {
    let files = config.data_dir.join("registries");
    let mut fetch = loader(config)?;
    fetch.arg("fetch").arg("--dir").arg(&files);
    fetch.args(registry_arguments(sources)).args(fetch_arguments(&config.registries));
    // It needs no database, whose URL may contain a password.
    fetch.env_remove("DATABASE_URL");
    let mut load = loader(config)?;
    load.arg("load").arg("--data-dir").arg(&config.data_dir);
    load.args(load_arguments(&config.registries)).arg(&files);
    for step in [fetch, with_database(load, config)] {
        run_one(step, stop).await?;
    }
    Ok(())
}

fn with_database(mut command: Command, config: &Config) -> Command {
    match &config.database_url {
        // An argument could be read by every user of the machine.
        Some(url) => command.env("DATABASE_URL", url),
        None => command.env_remove("DATABASE_URL"),
    };
    command
}

async fn run_one(command: Command, stop: &CancellationToken) -> Result<(), RefreshError> {
    tokio::select! {
        ended = run(command) => ended,
        () = stop.cancelled() => Err(RefreshError::Stopped),
    }
}

fn registry_arguments(sources: &[Source]) -> Vec<String> {
    // A table of routes is of no registry.
    let registries: BTreeSet<Registry> =
        sources.iter().filter_map(|source| source.registry.parse().ok()).collect();
    let each = registries.iter().flat_map(|one| ["--registry".to_owned(), one.to_string()]);
    each.collect()
}

fn fetch_arguments(registries: &Registries) -> Vec<String> {
    let places = |flag: &str, places: &BTreeMap<Registry, Url>| {
        let each = places
            .iter()
            .flat_map(|(registry, url)| [flag.to_owned(), format!("{registry}={url}")]);
        each.collect::<Vec<_>>()
    };
    let mut arguments = places("--base-url", &registries.mirrors);
    if registries.whois {
        arguments.push("--whois".to_owned());
        arguments.extend(places("--whois-base-url", &registries.whois_mirrors));
    }
    if let Some(contact) = &registries.contact {
        arguments.extend(["--contact".to_owned(), contact.clone()]);
    }
    arguments
}

fn load_arguments(registries: &Registries) -> Vec<String> {
    let mut arguments = Vec::new();
    for (flag, split) in
        [("--split-v4", &registries.split_v4), ("--split-v6", &registries.split_v6)]
    {
        if let Some(split) = split {
            arguments.extend([flag.to_owned(), split.clone()]);
        }
    }
    if registries.special_purpose {
        arguments.push("--special-purpose".to_owned());
    }
    arguments
}

fn loader(config: &Config) -> Result<Command, RefreshError> {
    let program = match &config.registries.loader {
        Some(program) => program.clone(),
        None => std::env::current_exe()
            .map_err(|source| RefreshError::Start { program: "rir-loader".into(), source })?
            .with_file_name("rir-loader"),
    };
    let mut command = Command::new(program);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).kill_on_drop(true);
    Ok(command)
}

async fn run(mut command: Command) -> Result<(), RefreshError> {
    let program = PathBuf::from(command.as_std().get_program());
    let output =
        command.output().await.map_err(|source| RefreshError::Start { program, source })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    tracing::warn!(stderr = said.trim(), status = %output.status, "the loader failed");
    Err(RefreshError::Loader(
        complaint(&said).unwrap_or_else(|| format!("rir-loader ended with {}", output.status)),
    ))
}

/// The errors in the loader's output: one for each registry that failed, then the summary. The last
/// line where it has none that looks like one.
fn complaint(said: &str) -> Option<String> {
    let lines = || said.lines().map(str::trim).filter(|line| !line.is_empty());
    let errors: Vec<&str> = lines()
        .filter_map(|line| line.strip_prefix("rir-loader: ").or(line.strip_prefix("error: ")))
        .collect();
    if errors.is_empty() {
        return lines().next_back().map(str::to_owned);
    }
    Some(format!("rir-loader: {}", errors.join("; ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * HOUR_MS;

    #[test]
    fn splits_wait_until_the_generation_is_old_enough() {
        let due_after = |proposed_at: Option<i64>, split_at: Option<i64>, hours, now| {
            let proposed_at = proposed_at.map(UnixMillis);
            let split_at = split_at.map(UnixMillis);
            let made_at = MadeAt { started: UnixMillis(DAY - 9), live: UnixMillis(DAY) };
            is_split_due(proposed_at, made_at, split_at, hours, UnixMillis(now))
        };
        let due = |proposed_at, hours, now| due_after(proposed_at, None, hours, now);
        assert!(due(Some(DAY + 1), 24, 2 * DAY));
        assert!(!due(Some(DAY + 1), 24, 2 * DAY - 1), "not yet");
        assert!(!due(Some(DAY - 9), 24, 3 * DAY), "the generation contains it");
        assert!(due(Some(DAY - 8), 24, 3 * DAY), "the loader had read the splits before");
        assert!(!due(Some(DAY + 1), 0, 9 * DAY), "never");
        assert!(!due(None, 24, 9 * DAY));
        assert!(
            !due_after(Some(2 * DAY), Some(2 * DAY + 1), 24, 9 * DAY),
            "it does not fit the records"
        );
        assert!(due_after(Some(3 * DAY), Some(2 * DAY + 1), 24, 9 * DAY), "there is another");
    }

    fn due(loaded: i64, asked: Option<i64>, tried: Option<i64>, days: u32, now: i64) -> bool {
        let at = |time: Option<i64>| time.map(UnixMillis);
        let state =
            Refresh { loaded_at: UnixMillis(loaded), asked_at: at(asked), tried_at: at(tried) };
        state.is_due(days, UnixMillis(now))
    }

    #[test]
    fn data_is_overdue_once_it_is_old() {
        let overdue = |days, hours| overdue_ms(UnixMillis(0), days, UnixMillis(hours * HOUR_MS));
        assert_eq!((overdue(1, 24), overdue(1, 25)), (0, HOUR_MS.unsigned_abs()));
        assert_eq!(overdue(0, 1_000), 0, "it never becomes old");
    }

    #[test]
    fn old_data_is_due_and_not_tried_all_the_time() {
        assert!(!due(0, None, None, 90, 90 * DAY - 1));
        assert!(due(0, None, None, 90, 90 * DAY));
        assert!(!due(0, None, Some(90 * DAY), 90, 90 * DAY + 6 * HOUR_MS - 1));
        assert!(due(0, None, Some(90 * DAY), 90, 90 * DAY + 6 * HOUR_MS));
        assert!(!due(0, None, None, 0, 900 * DAY), "0 is never");
    }

    #[test]
    fn all_errors_of_the_loader_are_told() {
        let said = "1 MiB of apnic\nrir-loader: arin: the server answered 503\n\
                    rir-loader: 1 of 2 files could not be fetched\n";
        assert_eq!(
            complaint(said).unwrap(),
            "rir-loader: arin: the server answered 503; 1 of 2 files could not be fetched"
        );
        let usage = "error: invalid value 'x' for '--base-url'\n\nFor more, try '--help'.\n";
        assert_eq!(complaint(usage).unwrap(), "rir-loader: invalid value 'x' for '--base-url'");
        assert_eq!(complaint("first\nKilled\n\n").unwrap(), "Killed");
        assert_eq!(complaint("\n"), None);
    }

    #[test]
    fn a_refresh_fetches_the_registries_in_use() {
        let source = |registry: &str| Source {
            registry: registry.to_owned(),
            file: String::new(),
            serial: String::new(),
            date: None,
            records: 1,
        };
        let sources = ["ripencc", "apnic", "ripencc", Source::ROUTES].map(source);
        let expected = ["--registry", "apnic", "--registry", "ripencc"];
        assert_eq!(registry_arguments(&sources), expected);
        assert!(registry_arguments(&[]).is_empty());
    }

    #[test]
    fn a_refresh_splits_like_the_first_load() {
        assert!(load_arguments(&Registries::default()).is_empty());
        let registries = Registries {
            split_v4: Some("16/22".into()),
            split_v6: Some("32/40".into()),
            special_purpose: true,
            ..Registries::default()
        };
        assert_eq!(
            load_arguments(&registries),
            ["--split-v4", "16/22", "--split-v6", "32/40", "--special-purpose"]
        );
    }

    #[test]
    fn an_admin_need_not_wait_and_is_obeyed_once() {
        assert!(due(0, Some(5), None, 90, 6));
        assert!(due(0, Some(5), Some(4), 0, 6));
        assert!(!due(0, Some(5), Some(6), 90, 7), "it was tried since");
        assert!(due(0, Some(5), Some(6), 90, 6 + 6 * HOUR_MS), "the attempt failed");
        assert!(!due(6, Some(5), None, 90, 7), "it was loaded since");
    }
}
