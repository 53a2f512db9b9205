//! Comments say something that the name beside them does not.

use crate::files::{files, name, root, text};

/// The marker of a comment line and its text; none for other lines.
fn comment(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let marker = ["///", "//!", "//"].into_iter().find(|marker| line.starts_with(marker))?;
    Some((marker, line[marker.len()..].trim()))
}

/// Comments of a file, each with the number of its first line: consecutive lines with the same
/// marker are one comment.
fn comments(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let mut previous = None;
    for (number, line) in text.lines().enumerate() {
        let current = comment(line);
        if let Some((marker, words)) = current {
            match found.last_mut() {
                Some((_, text)) if previous == Some(marker) => {
                    text.push(' ');
                    text.push_str(words);
                }
                _ => found.push((number + 1, words.to_owned())),
            }
        }
        previous = current.map(|(marker, _)| marker);
    }
    found
}

/// Whether a comment is too short to say anything.
fn is_empty_talk(comment: &str) -> bool {
    let words = comment.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric));
    (1..=2).contains(&words.count())
}

#[test]
fn no_comment_is_one_or_two_words() {
    let mut short = Vec::new();
    for path in files(&root(), &[".rs"]) {
        for (line, comment) in comments(&text(&path)) {
            if is_empty_talk(&comment) {
                short.push(format!("{}:{line}: {comment}", name(&path)));
            }
        }
    }
    assert!(short.is_empty(), "delete or extend these {} comments: {short:#?}", short.len());
}

#[test]
fn consecutive_lines_are_one_comment() {
    let text = "/// One\n/// two three.\nfn f() {\n    // Four.\n}\n";
    let found = comments(text);
    assert_eq!(found, [(1, "One two three.".to_owned()), (4, "Four.".to_owned())]);
    assert!(!is_empty_talk(&found[0].1));
    assert!(is_empty_talk(&found[1].1));
}
