//! Arrows between crates go one way.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// Which of our crates each of our crates may know outside its own tests.
const MAY_KNOW: [(&str, &[&str]); 11] = [
    ("cluster", &[]),
    ("coordinator", &["cluster", "delegation", "hierarchy", "index", "protocol", "store"]),
    ("crawler-agent", &["delegation", "protocol"]),
    ("delegation", &["hierarchy", "protocol"]),
    ("hierarchy", &[]),
    ("index", &["protocol"]),
    ("lab", &["delegation", "hierarchy", "protocol"]),
    ("protocol", &[]),
    ("rir-loader", &["cluster", "hierarchy", "store"]),
    ("store", &["hierarchy", "protocol"]),
    ("xtask", &[]),
];

/// What decides knows neither the network nor the clock nor a runtime.
const PURE: [&str; 4] = ["delegation", "hierarchy", "lab", "protocol"];
const NOT_PURE: [&str; 8] =
    ["tokio", "sqlx", "axum", "reqwest", "hyper", "mio", "async-std", "tracing-subscriber"];

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    // What other systems would need has not been downloaded here.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let options = ["--offline".to_owned(), "--filter-platform".to_owned(), platform];
    MetadataCommand::new().manifest_path(manifest).other_options(options).exec().unwrap()
}

fn of_name<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == name)
        .expect("it is in the workspace")
}

/// The dependencies that are linked into what we ship. An optional one is there for tests alone
/// (`testing`).
fn shipped(package: &Package) -> BTreeSet<&str> {
    let kept = package.dependencies.iter().filter(|dependency| !dependency.optional);
    kept.filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

/// Names of everything that `name` links, through any number of steps.
fn links(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let nodes: BTreeMap<&PackageId, _> =
        metadata.resolve.as_ref().unwrap().nodes.iter().map(|node| (&node.id, node)).collect();
    let mut seen = BTreeSet::new();
    let mut todo = vec![&of_name(metadata, name).id];
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        let normal = |dep: &&cargo_metadata::NodeDep| {
            dep.dep_kinds.iter().any(|kind| kind.kind == DependencyKind::Normal)
        };
        todo.extend(nodes[id].deps.iter().filter(normal).map(|dep| &dep.pkg));
    }
    seen.into_iter().map(|id| metadata[id].name.to_string()).collect()
}

#[test]
fn arrows_between_our_crates_go_one_way() {
    let metadata = metadata();
    let ours: BTreeSet<&str> =
        metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let allowed: BTreeMap<&str, &[&str]> = MAY_KNOW.into_iter().collect();
    for package in metadata.workspace_packages() {
        if package.name == "tests" {
            continue; // it drives everything
        }
        let may = allowed.get(package.name.as_str()).unwrap_or_else(|| {
            panic!("{} is a new crate: write down in {} what it may know", package.name, file!())
        });
        for knows in shipped(package).intersection(&ours) {
            assert!(may.contains(knows), "{} must not depend on {knows}", package.name);
        }
    }
}

#[test]
fn pure_crates_link_no_runtime_and_no_network() {
    let metadata = metadata();
    for name in PURE {
        let linked = links(&metadata, name);
        for banned in NOT_PURE {
            assert!(!linked.contains(banned), "{name} links {banned}");
        }
    }
}

#[test]
fn the_agent_links_neither_sqlx_nor_tantivy() {
    let linked = links(&metadata(), "crawler-agent");
    for banned in ["sqlx", "sqlx-core", "tantivy"] {
        assert!(!linked.contains(banned), "crawler-agent links {banned}");
    }
}

#[test]
fn sql_has_one_home() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        let speaks = package
            .dependencies
            .iter()
            .any(|dep| dep.name.starts_with("sqlx") || dep.name.contains("postgres"));
        assert_eq!(speaks, package.name == "store", "{} and SQL", package.name);
    }
}

#[test]
fn nobody_links_a_second_tls_library() {
    let metadata = metadata();
    for banned in ["aws-lc-sys", "aws-lc-rs", "openssl-sys", "native-tls"] {
        assert!(
            !metadata.packages.iter().any(|package| package.name == banned),
            "{banned} is in the tree"
        );
    }
}
