//! Dependencies between crates point one way, and some libraries stay out of some crates.

use std::collections::{BTreeMap, BTreeSet};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};

/// The crates of this workspace that each crate may depend on outside its own tests.
const ALLOWED: [(&str, &[&str]); 15] = [
    ("cluster", &[]),
    (
        "coordinator",
        &["cluster", "delegation", "hierarchy", "index", "model", "protocol", "region", "store"],
    ),
    ("crawl-bench", &["model", "protocol"]),
    ("crawler-agent", &["delegation", "hierarchy", "model", "protocol", "region"]),
    ("delegation", &["hierarchy", "model"]),
    ("hierarchy", &[]),
    ("index", &["model", "protocol"]),
    ("lab", &["delegation", "hierarchy", "model", "protocol", "region"]),
    ("model", &[]),
    ("protocol", &["model"]),
    ("region", &["model", "protocol"]),
    ("rir-loader", &["cluster", "hierarchy", "store"]),
    ("s3-server", &[]),
    ("store", &["hierarchy", "model", "protocol"]),
    ("xtask", &[]),
];

/// Crates that decide: they link no runtime, no network library and no clock.
const PURE: [&str; 6] = ["delegation", "hierarchy", "lab", "model", "protocol", "region"];
/// Libraries that a pure crate must not link.
const NOT_PURE: [&str; 8] =
    ["tokio", "sqlx", "axum", "reqwest", "hyper", "mio", "async-std", "tracing-subscriber"];

fn metadata() -> Metadata {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/../Cargo.toml");
    // Dependencies of other platforms are not downloaded, and --offline would fail on them.
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let options = ["--offline".to_owned(), "--filter-platform".to_owned(), platform];
    MetadataCommand::new().manifest_path(manifest).other_options(options).exec().unwrap()
}

fn package<'a>(metadata: &'a Metadata, name: &str) -> &'a Package {
    metadata
        .workspace_packages()
        .into_iter()
        .find(|package| package.name == name)
        .expect("it is in the workspace")
}

/// Dependencies that are linked into the shipped programs. Optional ones belong to tests
/// (`testing`) or to the API document (`openapi`).
fn shipped(package: &Package) -> BTreeSet<&str> {
    let kept = package.dependencies.iter().filter(|dependency| !dependency.optional);
    kept.filter(|dependency| dependency.kind != DependencyKind::Development)
        .map(|dependency| dependency.name.as_str())
        .collect()
}

/// Names of all packages that `name` links, directly or through others.
fn links(metadata: &Metadata, name: &str) -> BTreeSet<String> {
    let nodes: BTreeMap<&PackageId, _> =
        metadata.resolve.as_ref().unwrap().nodes.iter().map(|node| (&node.id, node)).collect();
    let mut seen = BTreeSet::new();
    let mut todo = vec![&package(metadata, name).id];
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
fn crates_depend_on_each_other_in_one_direction() {
    let metadata = metadata();
    let ours: BTreeSet<&str> =
        metadata.workspace_packages().iter().map(|package| package.name.as_str()).collect();
    let allowed: BTreeMap<&str, &[&str]> = ALLOWED.into_iter().collect();
    for package in metadata.workspace_packages() {
        if package.name == "tests" {
            continue; // The scenarios start every program.
        }
        let allowed_here = allowed.get(package.name.as_str()).unwrap_or_else(|| {
            panic!("{} is a new crate: list in {} what it may depend on", package.name, file!())
        });
        for used in shipped(package).intersection(&ours) {
            assert!(allowed_here.contains(used), "{} must not depend on {used}", package.name);
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
fn only_the_store_speaks_sql() {
    let metadata = metadata();
    for package in metadata.workspace_packages() {
        let speaks = package
            .dependencies
            .iter()
            .any(|dep| dep.name.starts_with("sqlx") || dep.name.contains("postgres"));
        assert_eq!(speaks, package.name == "store", "{} depends on an SQL library", package.name);
    }
}

#[test]
fn there_is_one_tls_library() {
    let metadata = metadata();
    for banned in ["aws-lc-sys", "aws-lc-rs", "openssl-sys", "native-tls"] {
        assert!(
            !metadata.packages.iter().any(|package| package.name == banned),
            "{banned} is in the tree"
        );
    }
}
