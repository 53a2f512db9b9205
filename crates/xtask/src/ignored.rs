//! Tests that are marked `#[ignore = "reason"]`, and what each needs from the machine.
//!
//! The reason decides: a test that `needs` something runs when that is there, else the summary
//! names it. A reason that begins with `run by hand` marks a test that takes too long for every
//! run: the summary names it. Any other one that begins with `run by` marks the body of another
//! test, which starts it as a process of its own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

/// Data beside the repository that is not part of a clone.
const SHARED_DATA: &str = "../shared/data";
/// Beginning of the attribute. A line of source begins with it.
const ATTRIBUTE: &str = "#[ignore = \"";
/// Directories without sources of this workspace.
const NO_SOURCES: [&str; 2] = ["target", "node_modules"];

/// A test that cargo does not run unless it is asked to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct IgnoredTest {
    /// Source file, relative to the root of the repository.
    pub(crate) file: PathBuf,
    /// Name of the function.
    pub(crate) name: String,
    /// Text of the attribute.
    pub(crate) reason: String,
}

/// What an ignored test needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// A TUN device and network namespaces for the user who runs the tests.
    Tun,
    /// The same for a user without privileges.
    TunForEveryUser,
    /// User namespaces for a user without privileges.
    UserNamespaces,
    /// The server and the tool of Prometheus.
    Prometheus,
    /// Files or directories below `../shared/data`.
    SharedData(Vec<PathBuf>),
    /// Time: somebody runs it alone.
    ByHand,
    /// Another test starts it.
    AnotherTest,
    /// Something that this program does not know.
    Unknown,
}

impl IgnoredTest {
    /// File and name, for the summary.
    pub(crate) fn title(&self) -> String {
        format!("{} {}", self.file.display(), self.name)
    }

    pub(crate) fn need(&self) -> Need {
        match self.reason.as_str() {
            "needs a TUN device" => Need::Tun,
            "needs a TUN device that every user may open" => Need::TunForEveryUser,
            "needs user namespaces" => Need::UserNamespaces,
            "needs Prometheus" => Need::Prometheus,
            reason if reason.starts_with("run by hand") => Need::ByHand,
            reason if reason.starts_with("run by ") => Need::AnotherTest,
            reason if reason.contains(SHARED_DATA) => Need::SharedData(shared_paths(reason)),
            _ => Need::Unknown,
        }
    }
}

/// The paths in a reason such as `needs latency/oracle-2018 of ../shared/data`.
fn shared_paths(reason: &str) -> Vec<PathBuf> {
    let words = reason.split_whitespace().map(|word| word.trim_matches([',', ';']));
    words.filter(|word| word.contains('/') && *word != SHARED_DATA).map(PathBuf::from).collect()
}

/// Why shared data is missing; `None` when everything of it is there.
pub(crate) fn missing_data(root: &Path, paths: &[PathBuf]) -> Option<String> {
    let data = root.join(SHARED_DATA);
    if !data.is_dir() {
        return Some(format!("{} does not exist", data.display()));
    }
    let missing = paths.iter().map(|path| data.join(path)).find(|path| !path.exists())?;
    Some(format!("{} does not exist", missing.display()))
}

/// All ignored tests below `root`, by file and line.
pub(crate) fn scan(root: &Path) -> anyhow::Result<Vec<IgnoredTest>> {
    let mut files = Vec::new();
    rust_files(root, &mut files).context("cannot list the sources")?;
    files.sort();
    let mut tests = Vec::new();
    for file in files {
        let text =
            fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let relative = file.strip_prefix(root).unwrap_or(&file);
        tests.extend(ignored_in(relative, &text));
    }
    Ok(tests)
}

fn rust_files(dir: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if !name.starts_with('.') && !NO_SOURCES.contains(&&*name) {
                rust_files(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

fn ignored_in(file: &Path, text: &str) -> Vec<IgnoredTest> {
    let mut tests = Vec::new();
    let mut reason = None;
    for line in text.lines().map(str::trim) {
        if let Some(rest) = line.strip_prefix(ATTRIBUTE) {
            reason = rest.split('"').next().map(str::to_owned);
        }
        // Other attributes may stand between this one and the function.
        let Some((_, rest)) = line.split_once("fn ").filter(|_| !line.starts_with("//")) else {
            continue;
        };
        if let Some(reason) = reason.take() {
            let name = rest.split(['(', '<']).next().unwrap_or_default().to_owned();
            tests.push(IgnoredTest { file: file.to_owned(), name, reason });
        }
    }
    tests
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(reason: &str) -> IgnoredTest {
        IgnoredTest { file: "a.rs".into(), name: "one".into(), reason: reason.into() }
    }

    #[test]
    fn reasons_are_found_in_sources() {
        // Written in pieces: the sources of this crate are scanned, too.
        let text = [
            "#[test]\n    #[ignore",
            " = \"needs a TUN device\"]\n    #[should_panic]\n    fn one() {}\n#[test]\n",
            "fn two() {}\n#[ignore",
            " = \"run by one\"]\nasync fn three<T>() {}\n#[ignore",
            " = \"run by hand: takes an hour\"]\nfn four() {}\n",
        ];
        let found = ignored_in(Path::new("a.rs"), &text.concat());
        let names: Vec<_> = found.iter().map(|test| (test.name.as_str(), test.need())).collect();
        let needs = [("one", Need::Tun), ("three", Need::AnotherTest), ("four", Need::ByHand)];
        assert_eq!(names, needs);
    }

    #[test]
    fn the_reason_names_the_shared_data() {
        let need = test("needs rir/2018, and latency/oracle of ../shared/data").need();
        assert_eq!(need, Need::SharedData(vec!["rir/2018".into(), "latency/oracle".into()]));
        assert_eq!(test("takes an hour").need(), Need::Unknown);
    }

    #[test]
    fn every_ignored_test_of_this_repository_has_a_known_need() {
        for test in scan(&crate::repository::root()).unwrap() {
            assert_ne!(test.need(), Need::Unknown, "{}: {}", test.file.display(), test.name);
        }
    }

    #[test]
    fn missing_data_is_named() {
        let missing = missing_data(Path::new("/nonexistent/repository"), &[]).unwrap();
        assert!(missing.contains("shared/data"), "{missing}");
    }
}
