//! `rir-loader fetch`

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::Context;
use futures_util::future::join_all;
use hierarchy::Registry;
use indicatif::HumanBytes;
use rir_loader::fetch::{FetchError, Fetched, Manners, Mirror, Remote, fetch};
use rir_loader::terms::{agreement, whois_terms};
use serde::Serialize;

use super::{print, print_json};
use crate::cli::FetchArgs;
use crate::failure::{Interrupted, NotAllFetched, sentence};
use crate::screen::Screen;

/// What came of one file.
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
    let screen = Screen::new("downloading");
    let remotes = remotes(args, &screen)?;
    let runtime = tokio::runtime::Runtime::new().context("cannot start the runtime")?;
    let lines = runtime.block_on(async {
        tokio::select! {
            lines = each(args, remotes, &screen) => Ok(lines),
            _ = tokio::signal::ctrl_c() => Err(Interrupted),
        }
    })?;
    if args.json {
        print_json(&lines)?;
    }
    let failed = lines.iter().filter(|line| line.error.is_some()).count();
    if failed == 0 { Ok(()) } else { Err(NotAllFetched { failed, of: lines.len() }.into()) }
}

/// What to fetch, registry by registry; says on the way under which terms a dump is given, or how
/// else one gets it.
fn remotes(args: &FetchArgs, screen: &Screen) -> anyhow::Result<Vec<Remote>> {
    let mut wanted =
        if args.registries.is_empty() { Registry::ALL.to_vec() } else { args.registries.clone() };
    wanted.sort();
    wanted.dedup();
    let mut remotes = vec![];
    for registry in wanted {
        let official = || Mirror::official(registry);
        remotes.push(given(&args.base_urls, registry).map_or_else(official, Ok)?.delegated());
        if args.whois {
            let mirror = match given(&args.whois_base_urls, registry) {
                Some(mirror) => Some(mirror),
                None => Mirror::official_whois(registry)?,
            };
            let dumps = mirror.map_or_else(Vec::new, |mirror| mirror.dumps());
            tell_terms(registry, &dumps, screen);
            remotes.extend(dumps);
        }
    }
    Ok(remotes)
}

fn given(mirrors: &[Mirror], registry: Registry) -> Option<Mirror> {
    mirrors.iter().rev().find(|mirror| mirror.registry() == registry).cloned()
}

fn tell_terms(registry: Registry, dumps: &[Remote], screen: &Screen) {
    if let Some(how) = agreement(registry) {
        screen.say(&format!("{registry}: no WHOIS dump is fetched. {how}"));
    } else if !dumps.is_empty() {
        screen.say(&whois_terms(registry).to_string());
    }
}

/// Servers at the same time, files of one server one after the other; what fails for one is no
/// reason to leave out another.
async fn each(args: &FetchArgs, remotes: Vec<Remote>, screen: &Screen) -> Vec<Line> {
    let manners = Manners { contact: args.contact.as_deref(), ..Manners::default() };
    let one = async |remote: &Remote| {
        let bar = screen.beside();
        let outcome = fetch(remote, &args.dir, manners, &|step| bar.see(step)).await;
        let line = Line::of(remote, outcome);
        drop(bar);
        if !args.json {
            line.tell(screen);
        }
        line
    };
    let server = async |files: Vec<Remote>| {
        let mut lines = vec![];
        for remote in &files {
            lines.push(one(remote).await);
        }
        lines
    };
    join_all(by_server(remotes).into_iter().map(server)).await.into_iter().flatten().collect()
}

/// Files of the same server together, in the order of their servers' first files.
fn by_server(remotes: Vec<Remote>) -> Vec<Vec<Remote>> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut servers: Vec<Vec<Remote>> = vec![];
    for remote in remotes {
        let place = *places.entry(remote.server()).or_insert(servers.len());
        match servers.get_mut(place) {
            Some(files) => files.push(remote),
            None => servers.push(vec![remote]),
        }
    }
    servers
}

impl Line {
    fn of(remote: &Remote, outcome: Result<Fetched, FetchError>) -> Self {
        let (registry, url) = (remote.registry().as_str(), remote.url().to_string());
        match outcome {
            Ok(Fetched { path, bytes, up_to_date }) => Self {
                registry,
                url,
                file: Some(path),
                bytes: Some(bytes),
                up_to_date,
                error: None,
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_asked_for_one_file_at_a_time() {
        let at = |registry, base| Mirror::at(registry, base).unwrap();
        let remotes = [
            vec![at(Registry::Apnic, "https://a.example/stats").delegated()],
            at(Registry::Apnic, "https://a.example/whois").dumps(),
            vec![at(Registry::Arin, "https://b.example/").delegated()],
            vec![at(Registry::Lacnic, "https://a.example:8443/").delegated()],
        ];
        let servers = by_server(remotes.concat());
        assert_eq!(servers.iter().map(Vec::len).collect::<Vec<_>>(), [4, 1, 1]);
        assert!(servers[0].iter().all(|remote| remote.server() == "https://a.example"));
    }
}
