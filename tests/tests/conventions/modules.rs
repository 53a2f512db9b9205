//! Modules of a crate depend on each other in one direction.
//!
//! The top-level modules of each crate are the nodes of a graph; a path that starts with `crate` or
//! `super` is an edge from the module that contains it to the module that it names. Names that
//! `lib.rs` re-exports count as the module they come from. Test code is left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use syn::visit::Visit;

use crate::files::{files, name, root, text};

/// For each module, the modules it uses, each with one file that does.
type Uses = BTreeMap<String, BTreeMap<String, String>>;

/// Names that `lib.rs` re-exports, each with the module that it comes from.
type Exports = BTreeMap<String, String>;

/// Every crate's source folder.
fn source_folders() -> Vec<PathBuf> {
    let manifests = files(&root(), &["Cargo.toml"]);
    let folders = manifests.iter().map(|manifest| manifest.parent().unwrap().join("src"));
    folders.filter(|folder| folder.join("lib.rs").is_file()).collect()
}

/// The module of a file, as the names from the crate's root down.
fn module_of(folder: &Path, file: &Path) -> Vec<String> {
    let relative = file.strip_prefix(folder).unwrap().with_extension("");
    let mut names: Vec<String> =
        relative.iter().map(|part| part.to_str().unwrap().to_owned()).collect();
    if names.last().is_some_and(|last| last == "mod") {
        names.pop();
    }
    names
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let list = attribute.meta.require_list();
        attribute.path().is_ident("cfg")
            && list.is_ok_and(|list| list.tokens.to_string().contains("test"))
    })
}

/// Flattens a `use` tree into paths.
fn paths(tree: &syn::UseTree, prefix: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = prefix.to_vec();
    match tree {
        syn::UseTree::Path(step) => {
            path.push(step.ident.to_string());
            paths(&step.tree, &path, found);
        }
        syn::UseTree::Group(group) => group.items.iter().for_each(|item| paths(item, &path, found)),
        syn::UseTree::Name(last) => {
            path.push(last.ident.to_string());
            found.push(path);
        }
        syn::UseTree::Rename(last) => {
            path.push(last.ident.to_string());
            found.push(path);
        }
        syn::UseTree::Glob(_) => found.push(path),
    }
}

/// The names that a crate's root re-exports from its own modules.
fn exports(folder: &Path) -> Exports {
    let file = syn::parse_file(&text(&folder.join("lib.rs"))).unwrap();
    let mut exports = Exports::new();
    for item in &file.items {
        let syn::Item::Use(item) = item else { continue };
        let mut found = Vec::new();
        paths(&item.tree, &[], &mut found);
        for path in found {
            let local = path.iter().position(|step| step != "self" && step != "crate");
            if let (Some(at), Some(last)) = (local, path.last()) {
                exports.insert(last.clone(), path[at].clone());
            }
        }
    }
    exports
}

/// Collects the top-level modules that a file names.
struct Collector {
    /// The file's own module, from the crate's root down.
    module: Vec<String>,
    used: BTreeSet<String>,
}

impl Collector {
    fn add(&mut self, path: &[String]) {
        let supers = path.iter().take_while(|step| *step == "super").count();
        let mut full: Vec<String> = match path.first().map(String::as_str) {
            Some("crate") => path[1..].to_vec(),
            Some("super") if supers <= self.module.len() => {
                let mut full = self.module[..self.module.len() - supers].to_vec();
                full.extend_from_slice(&path[supers..]);
                full
            }
            _ => return,
        };
        full.truncate(1);
        self.used.extend(full.pop());
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if item.content.is_some() && !is_test(&item.attrs) {
            self.module.push(item.ident.to_string());
            syn::visit::visit_item_mod(self, item);
            self.module.pop();
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        if is_test(&item.attrs) {
            return;
        }
        let mut found = Vec::new();
        paths(&item.tree, &[], &mut found);
        for path in &found {
            self.add(path);
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let steps: Vec<String> = path.segments.iter().map(|step| step.ident.to_string()).collect();
        self.add(&steps);
        syn::visit::visit_path(self, path);
    }
}

/// The graph of a crate's top-level modules.
fn uses(folder: &Path) -> Uses {
    let exports = exports(folder);
    let mut uses = Uses::new();
    for file in files(folder, &[".rs"]) {
        let module = module_of(folder, &file);
        let top = module.first().cloned().unwrap_or_default();
        let tests = module.iter().any(|part| part == "tests" || part == "testing");
        if tests || top == "lib" || top == "main" || top == "bin" {
            continue;
        }
        let parsed = syn::parse_file(&text(&file)).unwrap();
        let mut collector = Collector { module, used: BTreeSet::new() };
        collector.visit_file(&parsed);
        let entry = uses.entry(top.clone()).or_default();
        for named in collector.used {
            let module = exports.get(&named).cloned().unwrap_or(named);
            if module != top {
                entry.entry(module).or_insert_with(|| name(&file));
            }
        }
    }
    uses
}

/// The modules that can be reached from `start`.
fn reachable<'u>(uses: &'u Uses, start: &str) -> BTreeSet<&'u str> {
    let mut reached = BTreeSet::new();
    let mut next: Vec<&str> = vec![start];
    while let Some(module) = next.pop() {
        for used in uses.get(module).into_iter().flat_map(BTreeMap::keys) {
            if reached.insert(used.as_str()) {
                next.push(used);
            }
        }
    }
    reached
}

/// Edges that are part of a cycle, each with a file that makes it.
fn cycles(uses: &Uses) -> Vec<String> {
    let mut found = Vec::new();
    for (module, used) in uses {
        for (other, file) in used {
            if reachable(uses, other).contains(module.as_str()) {
                found.push(format!("{module} uses {other} in {file}"));
            }
        }
    }
    found
}

#[test]
fn modules_of_a_crate_form_no_cycle() {
    let found: Vec<String> =
        source_folders().iter().flat_map(|folder| cycles(&uses(folder))).collect();
    assert!(found.is_empty(), "{} edges are part of cycles: {found:#?}", found.len());
}

/// Whether a module has children beside its tests although it is not `x/mod.rs`.
fn has_children_elsewhere(file: &Path) -> bool {
    let children = std::fs::read_dir(file.with_extension("")).into_iter().flatten().flatten();
    let mut paths = children.map(|child| child.path());
    paths.any(|path| {
        path.extension().is_some_and(|ending| ending == "rs") && !path.ends_with("tests.rs")
    })
}

#[test]
fn a_module_with_children_is_in_their_folder() {
    let all = source_folders().into_iter().flat_map(|folder| files(&folder, &[".rs"]));
    let found: Vec<String> =
        all.filter(|file| has_children_elsewhere(file)).map(|file| name(&file)).collect();
    assert!(found.is_empty(), "move these to x/mod.rs: {found:#?}");
}

#[test]
fn a_cycle_is_found() {
    let edge = |to: &str| BTreeMap::from([(to.to_owned(), "file".to_owned())]);
    let names = ["a", "b", "c"].map(str::to_owned);
    let [a, b, c] = names;
    let line = Uses::from([(a.clone(), edge("b")), (b.clone(), edge("c"))]);
    assert!(cycles(&line).is_empty());
    let circle = Uses::from([(a, edge("b")), (b, edge("c")), (c, edge("a"))]);
    assert_eq!(cycles(&circle).len(), 3);
}

#[test]
fn relative_names_are_resolved() {
    let module = vec!["search".to_owned(), "walk".to_owned()];
    let mut collector = Collector { module, used: BTreeSet::new() };
    let code = "use super::super::dns; use crate::{Table, seeds::{a, b}}; fn f(x: super::Own) {}
        #[cfg(test)] mod tests { use crate::hidden; }";
    collector.visit_file(&syn::parse_file(code).unwrap());
    let used: Vec<&str> = collector.used.iter().map(String::as_str).collect();
    assert_eq!(used, ["Table", "dns", "search", "seeds"]);
}
