//! `rir-loader fetch`

use std::path::PathBuf;

use anyhow::Context;
use futures_util::future::join_all;
use hierarchy::Registry;
use indicatif::HumanBytes;
use rir_loader::fetch::{FetchError, Fetched, Mirror, Patience, fetch};
use serde::Serialize;

use super::{print, print_json};
use crate::cli::FetchArgs;
use crate::failure::{Interrupted, NotAllFetched, sentence};
use crate::screen::Screen;

/// What came of one registry.
#[derive(Debug, Serialize)]
struct Line {
    registry: &'static str,
    url: String,
    file: Option<PathBuf>,
    bytes: Option<u64>,
    up_to_date: bool,
    error: Option<String>,
}

pub(crate) fn run(args: &FetchArgs) -> anyhow::Result<()> {
    let dir = &args.dir;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    let mirrors = mirrors(args)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let lines = runtime.block_on(async {
        tokio::select! {
            lines = each(args, &mirrors) => Ok(lines),
            _ = tokio::signal::ctrl_c() => Err(Interrupted),
        }
    })?;
    if args.json {
        print_json(&lines)?;
    }
    let failed = lines.iter().filter(|line| line.error.is_some()).count();
    if failed == 0 { Ok(()) } else { Err(NotAllFetched { failed, of: lines.len() }.into()) }
}

fn mirrors(args: &FetchArgs) -> anyhow::Result<Vec<Mirror>> {
    let mut wanted =
        if args.registries.is_empty() { Registry::ALL.to_vec() } else { args.registries.clone() };
    wanted.sort();
    wanted.dedup();
    let place = |registry: Registry| {
        let given = args.base_urls.iter().rev().find(|mirror| mirror.registry() == registry);
        given.cloned().map_or_else(|| Mirror::official(registry), Ok)
    };
    Ok(wanted.into_iter().map(place).collect::<Result<_, _>>()?)
}

/// All at the same time, since each is at a server of its own; what fails for one is no reason to leave out another.
async fn each(args: &FetchArgs, mirrors: &[Mirror]) -> Vec<Line> {
    let screen = Screen::new("downloading");
    let one = async |mirror: &Mirror| {
        let bar = screen.beside();
        let outcome = fetch(mirror, &args.dir, Patience::default(), &|step| bar.see(step)).await;
        let line = Line::of(mirror, outcome);
        drop(bar);
        if !args.json {
            line.tell(&screen);
        }
        line
    };
    join_all(mirrors.iter().map(one)).await
}

impl Line {
    fn of(mirror: &Mirror, outcome: Result<Fetched, FetchError>) -> Self {
        let (registry, url) = (mirror.registry().as_str(), mirror.url().to_string());
        match outcome {
            Ok(Fetched { path, bytes, up_to_date }) => {
                Self { registry, url, file: Some(path), bytes: Some(bytes), up_to_date, error: None }
            }
            Err(error) => {
                let error = Some(sentence(&error.into()));
                Self { registry, url, file: None, bytes: None, up_to_date: false, error }
            }
        }
    }

    fn tell(&self, screen: &Screen) {
        let registry = self.registry;
        if let Some(error) = &self.error {
            screen.say(&format!("rir-loader: {registry}: {error}"));
            return;
        }
        let file = self.file.as_ref().map_or_else(String::new, |file| file.display().to_string());
        let size = HumanBytes(self.bytes.unwrap_or(0));
        let how = if self.up_to_date { "was up to date" } else { "downloaded and checked" };
        // A closed stdout is no reason to stop downloading.
        drop(print(&format!("{registry}: {file} ({size}) {how}\n")));
    }
}
