//! The command `rir-loader fetch`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use futures_util::future::join_all;
use hierarchy::Registry;
use indicatif::HumanBytes;
use rir_loader::fetch::{FetchError, FetchOptions, LocalFile, Mirror, RemoteFile, fetch};
use rir_loader::terms::{access_by_agreement, whois_terms};
use serde::Serialize;

use super::{print, print_json};
use crate::cli::FetchArgs;
use crate::failure::{Interrupted, NotAllFetched, sentence};
use crate::progress_bar::ProgressBars;

/// Result for one file.
#[derive(Debug, Serialize)]
struct FileResult {
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
    let bars = ProgressBars::new("downloading");
    let files = files_to_fetch(args, &bars)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let results = runtime.block_on(async {
        tokio::select! {
            results = fetch_all(args, files, &bars) => Ok(results),
            _ = tokio::signal::ctrl_c() => Err(Interrupted),
        }
    })?;
    if args.json {
        print_json(&results)?;
    }
    let failed = results.iter().filter(|result| result.error.is_some()).count();
    if failed == 0 { Ok(()) } else { Err(NotAllFetched { failed, of: results.len() }.into()) }
}

/// The files to download, registry by registry. Prints the terms of dumps, or how else to obtain
/// them.
fn files_to_fetch(args: &FetchArgs, bars: &ProgressBars) -> anyhow::Result<Vec<RemoteFile>> {
    let mut registries =
        if args.registries.is_empty() { Registry::ALL.to_vec() } else { args.registries.clone() };
    registries.sort();
    registries.dedup();
    let mut files = vec![];
    for registry in registries {
        let mirror = match mirror_in(&args.base_urls, registry) {
            Some(mirror) => mirror,
            None => Mirror::official(registry)?,
        };
        files.push(mirror.delegated());
        if args.whois {
            let mirror = match mirror_in(&args.whois_base_urls, registry) {
                Some(mirror) => Some(mirror),
                None => Mirror::official_whois(registry)?,
            };
            let dumps = mirror.map_or_else(Vec::new, |mirror| mirror.dumps());
            if let Some(how) = access_by_agreement(registry) {
                bars.print_line(&format!("{registry}: no WHOIS dump is fetched. {how}"));
            } else if !dumps.is_empty() {
                bars.print_line(&whois_terms(registry).to_string());
            }
            files.extend(dumps);
        }
    }
    Ok(files)
}

/// The mirror that the flags name for a registry; the last one counts.
fn mirror_in(mirrors: &[Mirror], registry: Registry) -> Option<Mirror> {
    mirrors.iter().rev().find(|mirror| mirror.registry() == registry).cloned()
}

/// Downloads from all servers at the same time, from each one file after the other. A failure does
/// not stop the other downloads.
async fn fetch_all(
    args: &FetchArgs,
    files: Vec<RemoteFile>,
    bars: &ProgressBars,
) -> Vec<FileResult> {
    let fetch_from_server = async |files: Vec<RemoteFile>| {
        let mut results = vec![];
        for file in &files {
            results.push(fetch_file(args, file, bars).await);
        }
        results
    };
    let servers = by_server(files).into_iter().map(fetch_from_server);
    let mut results: Vec<FileResult> = join_all(servers).await.into_iter().flatten().collect();
    results.sort_by_key(|result| result.registry);
    results
}

async fn fetch_file(args: &FetchArgs, file: &RemoteFile, bars: &ProgressBars) -> FileResult {
    let options = FetchOptions { contact: args.contact.as_deref(), ..FetchOptions::default() };
    let bar = bars.another();
    let result = fetch(file, &args.dir, options, &|step| bar.show(step)).await;
    drop(bar);
    let result = FileResult::of(file, result);
    if !args.json {
        result.print(bars);
    }
    result
}

fn by_server(files: Vec<RemoteFile>) -> Vec<Vec<RemoteFile>> {
    let mut servers: BTreeMap<String, Vec<RemoteFile>> = BTreeMap::new();
    for file in files {
        servers.entry(file.server()).or_default().push(file);
    }
    servers.into_values().collect()
}

impl FileResult {
    fn of(remote: &RemoteFile, result: Result<LocalFile, FetchError>) -> Self {
        let failed = Self {
            registry: remote.registry().as_str(),
            url: remote.url().to_string(),
            file: None,
            bytes: None,
            up_to_date: false,
            error: None,
        };
        match result {
            Ok(LocalFile { path, bytes, up_to_date }) => {
                Self { file: Some(path), bytes: Some(bytes), up_to_date, ..failed }
            }
            Err(error) => Self { error: Some(sentence(&error.into())), ..failed },
        }
    }

    fn print(&self, bars: &ProgressBars) {
        let registry = self.registry;
        if let Some(error) = &self.error {
            bars.print_line(&format!("rir-loader: {registry}: {error}"));
            return;
        }
        let file = self.file.as_ref().map_or_else(String::new, |file| file.display().to_string());
        let size = HumanBytes(self.bytes.unwrap_or(0));
        let how = if self.up_to_date { "was up to date" } else { "downloaded and checked" };
        // A closed stdout is no reason to stop downloading.
        drop(print(&format!("{registry}: {file} ({size}) {how}\n")));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_for_one_file_at_a_time() {
        let at = |registry, base| Mirror::at(registry, base).unwrap();
        let files = [
            vec![at(Registry::Apnic, "https://a.example/stats").delegated()],
            at(Registry::Apnic, "https://a.example/whois").dumps(),
            vec![at(Registry::Arin, "https://b.example/").delegated()],
            vec![at(Registry::Lacnic, "https://a.example:8443/").delegated()],
        ];
        let servers = by_server(files.concat());
        assert_eq!(servers.iter().map(Vec::len).collect::<Vec<_>>(), [4, 1, 1]);
        assert!(servers[0].iter().all(|file| file.server() == "https://a.example"));
    }
}
