//! Retired words: `docs/glossary.md` has the terms that replaced them.

use crate::files::{files, name, root, text};

/// Words that must not occur as whole words, in any case. Each is written in two pieces, so that a
/// search of the repository for them finds nothing.
const RETIRED: [&str; 20] = [
    concat!("po", "ke"),
    concat!("be", "ll"),
    concat!("wa", "kes"),
    concat!("gos", "sip"),
    concat!("un", "said"),
    concat!("deci", "der"),
    concat!("at", "las"),
    concat!("que", "st"),
    concat!("stran", "ded"),
    concat!("hea", "ring"),
    concat!("ex", "ile"),
    concat!("fore", "sight"),
    concat!("where", "abouts"),
    concat!("so", "wing"),
    concat!("so", "wn"),
    concat!("ru", "ling"),
    concat!("war", "den"),
    concat!("quic", "ken"),
    concat!("de", "ed"),
    concat!("rub", "_out"),
];

/// Names as rustc and git split them: an underscore is part of the word.
fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[test]
fn no_retired_word_is_used() {
    let endings = [".rs", ".sql", ".ts", ".svelte", ".mjs", ".css", ".html", ".md", ".toml"];
    let mut found = Vec::new();
    for path in files(&root(), &endings) {
        for (number, line) in text(&path).lines().enumerate() {
            let retired = words(line)
                .find(|word| RETIRED.iter().any(|retired| retired.eq_ignore_ascii_case(word)));
            if let Some(word) = retired {
                found.push(format!("{}:{}: {word}", name(&path), number + 1));
            }
        }
    }
    assert!(found.is_empty(), "{} uses of retired words: {found:#?}", found.len());
}

#[test]
fn an_underscore_is_part_of_a_word() {
    let line = "let rub_a_dub = bellow(&x); // Bellow!";
    assert_eq!(words(line).collect::<Vec<_>>(), ["let", "rub_a_dub", "bellow", "x", "Bellow"]);
}
