//! Documents: their links lead somewhere, each can be reached from the README, and the ways that
//! ARCHITECTURE describes name real files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::files::{files, name, root, text};

/// Most files that a way may name, so that it can be read in one sitting.
const MAX_FILES_OF_A_WAY: usize = 25;

/// Targets of the inline links of a Markdown text.
fn links(markdown: &str) -> Vec<&str> {
    let after = markdown.split("](").skip(1);
    after.filter_map(|rest| rest.split(')').next()).collect()
}

/// The file that a relative link of `page` leads to; none for a link to another site or within the
/// page.
fn target(page: &Path, link: &str) -> Option<PathBuf> {
    let file = link.split('#').next().unwrap_or_default();
    let local = !file.is_empty() && !file.contains("://") && !file.starts_with("mailto:");
    local.then(|| page.parent().unwrap().join(file))
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut broken = Vec::new();
    for page in files(&root(), &[".md"]) {
        for link in links(&text(&page)) {
            if target(&page, link).is_some_and(|target| !target.exists()) {
                broken.push(format!("{}: {link}", name(&page)));
            }
        }
    }
    assert!(broken.is_empty(), "broken links: {broken:#?}");
}

#[test]
fn every_document_can_be_reached_from_the_readme() {
    let mut reached = BTreeSet::new();
    let mut next = vec![root().join("README.md")];
    while let Some(page) = next.pop() {
        let page = page.canonicalize().unwrap();
        if !reached.insert(page.clone()) || page.extension().is_none_or(|end| end != "md") {
            continue;
        }
        let text = text(&page);
        next.extend(links(&text).into_iter().filter_map(|link| target(&page, link)));
    }
    let documents = files(&root().join("docs"), &[".md"]);
    let unlinked: Vec<String> =
        documents.iter().filter(|page| !reached.contains(*page)).map(|page| name(page)).collect();
    assert!(unlinked.is_empty(), "no document links to {unlinked:#?}");
}

/// The sections of ARCHITECTURE whose titles begin with "The way of", each with its numbered files.
fn ways(architecture: &str) -> Vec<(&str, Vec<&str>)> {
    let mut ways = Vec::new();
    for section in architecture.split("\n### ").skip(1) {
        let title = section.lines().next().unwrap_or_default();
        if !title.starts_with("The way of") {
            continue;
        }
        let body = section.split("\n## ").next().unwrap_or_default();
        let steps = body.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
        let files = steps.filter_map(|step| step.split('`').nth(1));
        ways.push((title, files.collect()));
    }
    ways
}

#[test]
fn the_ways_in_architecture_are_short_and_real() {
    let architecture = text(&root().join("ARCHITECTURE.md"));
    let ways = ways(&architecture);
    assert_eq!(ways.len(), 3, "ARCHITECTURE describes the ways of a URL, a probe and a record");
    for (title, files) in ways {
        assert!(files.len() >= 5, "{title} names only {} files", files.len());
        assert!(files.len() <= MAX_FILES_OF_A_WAY, "{title} names {} files", files.len());
        let distinct: BTreeSet<&&str> = files.iter().collect();
        assert_eq!(distinct.len(), files.len(), "{title} opens a file twice");
        for file in files {
            assert!(root().join(file).is_file(), "{title} names {file}, which does not exist");
        }
    }
}

/// Every `path/to/file.rs` or folder in backquotes in ARCHITECTURE exists.
#[test]
fn paths_in_architecture_exist() {
    let architecture = text(&root().join("ARCHITECTURE.md"));
    let quoted = architecture.split('`').skip(1).step_by(2);
    let is_path = |word: &&str| word.contains('/') && !word.contains([' ', '<', '*', '{', ':']);
    let is_route = |word: &str| word.starts_with('/');
    for path in quoted.filter(is_path).filter(|word| !is_route(word)) {
        assert!(root().join(path).exists(), "ARCHITECTURE names {path}, which does not exist");
    }
}
