//! Source files: where they are, how long and how wide they may be, and what they must not hold.

use std::path::{Path, PathBuf};

/// Longest source file, in lines.
const MAX_LINES: usize = 400;

/// Widest line of code or prose, in characters.
const MAX_COLUMNS: usize = 100;

/// File and folder names that do not say what they hold.
const VAGUE_NAMES: [&str; 6] = ["util", "utils", "common", "helpers", "misc", "shared_code"];

/// Folders with files that are not written by hand.
const GENERATED: [&str; 6] = ["target", "node_modules", "dist", ".git", "snapshots", "corpus"];

/// Source folders of the pure crates: time, chance and the environment are arguments there.
const PURE_SOURCES: [&str; 6] = [
    "crates/delegation/src",
    "crates/hierarchy/src",
    "crates/lab/src",
    "crates/model/src",
    "crates/protocol/src",
    "crates/region/src",
];

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Every file below `dir` whose name ends in one of `endings`, generated folders left out.
pub(crate) fn files(dir: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![dir.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap_or_default();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !GENERATED.contains(&name.as_str()) {
                folders.push(path);
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// A file's text.
pub(crate) fn text(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The path as a person names it: relative to the root.
pub(crate) fn name(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn source_files_are_short() {
    let sources = [".rs", ".ts", ".svelte", ".css", ".mjs"];
    let too_long: Vec<String> = files(&root(), &sources)
        .into_iter()
        .filter(|path| !path.ends_with("web-ui/src/api.d.ts"))
        .map(|path| (text(&path).lines().count(), path))
        .filter(|(lines, _)| *lines > MAX_LINES)
        .map(|(lines, path)| format!("{}: {lines} lines", name(&path)))
        .collect();
    assert!(too_long.is_empty(), "split these files: {too_long:#?}");
}

/// Tables and links cannot be wrapped; string literals are wrapped by hand where rustfmt does not.
#[test]
fn lines_fit_into_a_hundred_columns() {
    let mut too_wide = Vec::new();
    for path in files(&root(), &[".rs", ".sql", ".md"]) {
        for (number, line) in text(&path).lines().enumerate() {
            let unbreakable = line.contains("http") || line.trim_start().starts_with('|');
            let snapshot = line.contains("@\"") || line.contains("@r");
            let link = path.extension().is_some_and(|end| end == "md") && line.contains("](");
            if line.chars().count() > MAX_COLUMNS && !unbreakable && !snapshot && !link {
                too_wide.push(format!("{}:{}", name(&path), number + 1));
            }
        }
    }
    assert!(too_wide.is_empty(), "wrap these {} lines: {too_wide:#?}", too_wide.len());
}

#[test]
fn file_names_say_what_they_hold() {
    for path in files(&root(), &[".rs", ".ts", ".svelte"]) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        for vague in VAGUE_NAMES {
            assert!(stem != vague && folder != vague, "{}: name what it holds", name(&path));
        }
    }
}

#[test]
fn nothing_is_unfinished_and_no_lint_is_switched_off() {
    // Written in two pieces, so that this file does not contain them.
    let unfinished = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("#[", "allow("),
        concat!("#![", "allow("),
    ];
    for path in files(&root(), &[".rs", ".sql", ".ts", ".svelte"]) {
        let text = text(&path);
        for word in unfinished {
            assert!(!text.contains(word), "{} contains {word}", name(&path));
        }
    }
}

#[test]
fn pure_crates_read_neither_the_clock_nor_the_environment() {
    let outside = [
        "Instant::now",
        "SystemTime::now",
        "std::env::",
        "std::process::",
        "thread_rng",
        "rand::rng()",
        "std::thread::",
    ];
    // The lab times its own computations, in this one file.
    let timer = root().join("crates/lab/src/stopwatch.rs");
    for folder in PURE_SOURCES {
        for path in files(&root().join(folder), &[".rs"]) {
            if path == timer {
                continue;
            }
            let text = text(&path);
            for word in outside {
                assert!(!text.contains(word), "{} uses {word}: pass it in", name(&path));
            }
        }
    }
}

#[test]
fn the_coordinator_is_at_most_twelve_stages() {
    let entries = std::fs::read_dir(root().join("coordinator/src")).unwrap().count();
    assert!(entries <= 12, "coordinator/src has {entries} entries");
}

/// A file beside the `main.rs` of a multi-file test binary that it does not declare never runs.
#[test]
fn every_test_file_is_declared() {
    for main in files(&root(), &["main.rs"]) {
        let folder = main.parent().unwrap();
        if folder.parent().is_none_or(|parent| !parent.ends_with("tests")) {
            continue;
        }
        let declared = text(&main);
        for file in files(folder, &[".rs"]) {
            if file.parent() != main.parent() || file == main {
                continue;
            }
            let module = file.file_stem().unwrap().to_str().unwrap();
            let declaration = format!("mod {module};");
            assert!(declared.contains(&declaration), "{} never runs", name(&file));
        }
    }
}
