//! Rooms are small, have names that say what they are for, and hold nothing unfinished.

use std::path::{Path, PathBuf};

/// No file of ours is longer.
const LONGEST_FILE: usize = 500;

/// A helper without a noun is a missing type.
const NO_NAMES: [&str; 6] = ["util", "utils", "common", "helpers", "misc", "shared_code"];

/// Folders that hold what others made, or what was built.
const NOT_OURS: [&str; 5] = ["target", "node_modules", "dist", ".git", "snapshots"];

/// Sources that decide; what they need to know of time and chance they are told.
const PURE: [&str; 4] =
    ["crates/delegation/src", "crates/hierarchy/src", "crates/lab/src", "crates/protocol/src"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// Every file below `dir` whose name ends in one of `endings`.
fn files(dir: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut todo = vec![dir.to_path_buf()];
    while let Some(dir) = todo.pop() {
        for entry in std::fs::read_dir(dir).unwrap().flatten() {
            let path = entry.path();
            let name = entry.file_name().into_string().unwrap_or_default();
            let kind = entry.file_type().unwrap();
            if kind.is_dir() && !NOT_OURS.contains(&name.as_str()) {
                todo.push(path);
            } else if kind.is_file() && endings.iter().any(|ending| name.ends_with(ending)) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn no_file_is_longer_than_five_hundred_lines() {
    let sources = [".rs", ".ts", ".svelte", ".css", ".mjs"];
    let too_long: Vec<_> = files(&root(), &sources)
        .into_iter()
        .filter(|path| !path.ends_with("web-ui/src/api.d.ts"))
        .map(|path| (std::fs::read_to_string(&path).unwrap().lines().count(), path))
        .filter(|(lines, _)| *lines > LONGEST_FILE)
        .collect();
    assert!(too_long.is_empty(), "split these: {too_long:#?}");
}

#[test]
fn no_room_is_a_lumber_room() {
    for path in files(&root(), &[".rs", ".ts", ".svelte"]) {
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let folder = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
        for name in NO_NAMES {
            assert!(stem != name && folder != name, "{}: find the noun", path.display());
        }
    }
}

#[test]
fn nothing_is_left_to_do_and_no_lint_is_allowed_away() {
    // Written in two pieces, so that this file does not find itself.
    let left = [
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("XX", "X"),
        concat!("#[", "allow("),
        concat!("#![", "allow("),
    ];
    for path in files(&root(), &[".rs", ".sql", ".ts", ".svelte"]) {
        let text = std::fs::read_to_string(&path).unwrap();
        for word in left {
            assert!(!text.contains(word), "{} holds {word}", path.display());
        }
    }
}

#[test]
fn pure_crates_do_not_look_at_the_clock_or_the_machine() {
    let outside = [
        "Instant::now",
        "SystemTime::now",
        "std::env::",
        "std::process::",
        "thread_rng",
        "rand::rng()",
        "std::thread::",
    ];
    // The lab times what it tries; this is its only watch.
    let watch = root().join("crates/lab/src/clock.rs");
    for folder in PURE {
        for path in files(&root().join(folder), &[".rs"]).into_iter().filter(|path| *path != watch)
        {
            let text = std::fs::read_to_string(&path).unwrap();
            for word in outside {
                assert!(
                    !text.contains(word),
                    "{} uses {word}: take it as an argument",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn no_test_file_is_forgotten() {
    for main in files(&root(), &["main.rs"]) {
        if !main.parent().unwrap().ends_with("tests/it") {
            continue;
        }
        let declared = std::fs::read_to_string(&main).unwrap();
        for file in files(main.parent().unwrap(), &[".rs"]) {
            let in_root = file.parent() == main.parent() && file != main;
            let name = file.file_stem().unwrap().to_str().unwrap();
            assert!(
                !in_root || declared.contains(&format!("mod {name};")),
                "{} is never run",
                file.display()
            );
        }
    }
}
