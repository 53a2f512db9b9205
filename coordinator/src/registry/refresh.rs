//! Registry data is fetched and loaded anew from time to time.
//!
//! > We have to rebuild the IP-address hierarchy every three months. (IPMicra III.C)
//!
//! The loader does it, as a process of its own: it may take memory and time, may be killed at any
//! moment, and the coordinator takes a new generation over however it came.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Mutex;

use model::UnixMillis;
use serde_json::json;
use store::{Store, StoreError, settings};
use tokio::process::Command;
use tokio_util::sync::CancellationToken;

use crate::runtime::config::{Config, Registries};

/// Hours between two attempts that nobody asked for.
pub const PAUSE_H: i64 = 6;
const HOUR_MS: i64 = 3_600_000;
const SETTING: &str = "refresh_asked_at";

/// When the data was loaded, and when somebody wanted or tried to have it anew.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Refresh {
    /// When the generation in use was swapped in.
    pub loaded_at: UnixMillis,
    /// When an admin last asked for new data.
    pub asked_at: Option<UnixMillis>,
    /// When this coordinator last tried.
    pub tried_at: Option<UnixMillis>,
}

impl Refresh {
    /// Whether to fetch and load now: somebody asked since the last load and attempt, or the data
    /// is `days` old (0: never mind) and the last attempt is a while ago.
    pub fn is_due(&self, days: u32, now: UnixMillis) -> bool {
        let wanted = self.asked_at > self.tried_at.max(Some(self.loaded_at));
        let old = days > 0 && now.0 - self.loaded_at.0 >= i64::from(days) * 24 * HOUR_MS;
        let rested = self.tried_at.is_none_or(|tried| now.0 - tried.0 >= PAUSE_H * HOUR_MS);
        wanted || (old && rested)
    }
}

/// When this process last tried; a new process may try at once.
#[derive(Debug, Default)]
pub struct LastAttempt(Mutex<Option<UnixMillis>>);

impl LastAttempt {
    /// When that was.
    pub fn get(&self) -> Option<UnixMillis> {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }

    /// It is now.
    pub fn set(&self, now: UnixMillis) {
        *self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(now);
    }
}

/// Notes that an admin wants new data, for whichever coordinator decides.
pub async fn ask(store: &Store, now: UnixMillis) -> Result<(), StoreError> {
    settings::set(store, SETTING, &json!(now.0)).await
}

/// When an admin last asked.
pub async fn asked_at(store: &Store) -> Result<Option<UnixMillis>, StoreError> {
    let value = settings::get(store, SETTING).await?;
    Ok(value.and_then(|value| value.as_i64()).map(UnixMillis))
}

/// Why there is no new data.
#[derive(Debug, thiserror::Error)]
pub enum RefreshError {
    /// The loader cannot be started.
    #[error(
        "cannot start {program}: {source}; set `loader` under [registries] to the path of rir-loader"
    )]
    Start {
        /// Its path.
        program: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The loader ended with an error.
    #[error("{0}")]
    Loader(String),
    /// The coordinator was told to stop meanwhile.
    #[error("stopped before the end")]
    Stopped,
}

/// Whether subnets are to be cut: the last cut was found after they last were, at `cut_at` or when
/// the generation in use was swapped in at `live_at`, and that was `hours` ago (0: never).
pub fn is_cut_due(
    found_at: Option<UnixMillis>,
    (live_at, cut_at): (UnixMillis, Option<UnixMillis>),
    hours: u32,
    now: UnixMillis,
) -> bool {
    // Parts that cross what is recorded make no generation: they are not tried again.
    let last = cut_at.map_or(live_at, |cut_at| cut_at.max(live_at));
    let found = found_at.is_some_and(|found_at| found_at > last);
    hours > 0 && found && now.0 - last.0 >= i64::from(hours) * HOUR_MS
}

/// Has the subnets cut that searches found not to be in one place. Ends early, without harm, when
/// `stop` is cancelled.
pub async fn cut(config: &Config, stop: &CancellationToken) -> Result<(), RefreshError> {
    let mut cut = loader(config)?;
    cut.arg("split").arg("--data-dir").arg(&config.data_dir);
    run_one(with_database(cut, config), stop).await
}

/// Has the files fetched and loaded. Ends early, without harm, when `stop` is cancelled.
pub async fn refresh(config: &Config, stop: &CancellationToken) -> Result<(), RefreshError> {
    let files = config.data_dir.join("registries");
    let mut fetch = loader(config)?;
    fetch.arg("fetch").arg("--dir").arg(&files).args(wishes(&config.registries));
    let mut load = loader(config)?;
    load.arg("load").arg("--data-dir").arg(&config.data_dir).arg(&files);
    for step in [fetch, with_database(load, config)] {
        run_one(step, stop).await?;
    }
    Ok(())
}

fn with_database(mut command: Command, config: &Config) -> Command {
    match &config.database_url {
        // Not as an argument, which every user of the machine could read.
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

/// What to fetch, and how, as arguments.
fn wishes(wishes: &Registries) -> Vec<String> {
    let places = |flag: &str, places: &BTreeMap<String, String>| {
        let each = places
            .iter()
            .flat_map(|(registry, url)| [flag.to_owned(), format!("{registry}={url}")]);
        each.collect::<Vec<_>>()
    };
    let mut arguments = places("--base-url", &wishes.mirrors);
    if wishes.whois {
        arguments.push("--whois".to_owned());
        arguments.extend(places("--whois-base-url", &wishes.whois_mirrors));
    }
    if let Some(contact) = &wishes.contact {
        arguments.extend(["--contact".to_owned(), contact.clone()]);
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
    let last = said.lines().map(str::trim).rfind(|line| !line.is_empty());
    Err(RefreshError::Loader(
        last.map_or_else(|| format!("rir-loader ended with {}", output.status), str::to_owned),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: i64 = 24 * HOUR_MS;

    #[test]
    fn cuts_wait_until_the_generation_is_old_enough() {
        let cut_due = |found_at: Option<i64>, cut_at: Option<i64>, hours, now| {
            let last = (UnixMillis(DAY), cut_at.map(UnixMillis));
            is_cut_due(found_at.map(UnixMillis), last, hours, UnixMillis(now))
        };
        let due = |found_at, hours, now| cut_due(found_at, None, hours, now);
        assert!(due(Some(DAY + 1), 24, 2 * DAY));
        assert!(!due(Some(DAY + 1), 24, 2 * DAY - 1), "not yet");
        assert!(!due(Some(DAY), 24, 3 * DAY), "the generation has it");
        assert!(!due(Some(DAY + 1), 0, 9 * DAY), "never");
        assert!(!due(None, 24, 9 * DAY));
        assert!(!cut_due(Some(2 * DAY), Some(2 * DAY + 1), 24, 9 * DAY), "no part of it fits");
        assert!(cut_due(Some(3 * DAY), Some(2 * DAY + 1), 24, 9 * DAY), "there is another");
    }

    fn due(loaded: i64, asked: Option<i64>, tried: Option<i64>, days: u32, now: i64) -> bool {
        let at = |time: Option<i64>| time.map(UnixMillis);
        let state =
            Refresh { loaded_at: UnixMillis(loaded), asked_at: at(asked), tried_at: at(tried) };
        state.is_due(days, UnixMillis(now))
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
    fn an_admin_need_not_wait_and_is_obeyed_once() {
        assert!(due(0, Some(5), None, 90, 6));
        assert!(due(0, Some(5), Some(4), 0, 6));
        assert!(!due(0, Some(5), Some(6), 90, 7), "it was tried since");
        assert!(!due(6, Some(5), None, 90, 7), "it was loaded since");
    }
}
