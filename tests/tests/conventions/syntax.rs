//! Rules about Rust syntax that neither rustc nor clippy checks.

use std::path::Path;

use syn::spanned::Spanned as _;
use syn::visit::Visit;

use crate::files::{files, name, root, text};

/// Fields that hold one of a closed set of words; their types are enumerations.
const CLOSED_SETS: [&str; 6] = ["state", "phase", "strategy", "method", "verdict", "presence"];

/// Collects the places of a file that break a rule.
struct Collector {
    file: String,
    packed_lets: Vec<String>,
    untyped_states: Vec<String>,
}

impl<'ast> Visit<'ast> for Collector {
    /// `let (a, b) = (x, y);` hides which value is which.
    fn visit_local(&mut self, local: &'ast syn::Local) {
        // A `let … else` tests several values at once, which two bindings could not.
        let plain = local.init.as_ref().filter(|init| init.diverge.is_none());
        let is_tuple = plain.is_some_and(|init| matches!(*init.expr, syn::Expr::Tuple(_)));
        if is_tuple && matches!(&local.pat, syn::Pat::Tuple(_)) {
            self.packed_lets.push(format!("{}:{}", self.file, local.span().start().line));
        }
        syn::visit::visit_local(self, local);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        let public = matches!(field.vis, syn::Visibility::Public(_));
        let name = field.ident.as_ref().map(ToString::to_string).unwrap_or_default();
        let syn::Type::Path(path) = &field.ty else { return };
        let text = path.path.segments.last().is_some_and(|last| last.ident == "String");
        if public && text && CLOSED_SETS.contains(&name.as_str()) {
            let line = field.span().start().line;
            self.untyped_states.push(format!("{}:{line}: {name}", self.file));
        }
    }
}

fn collect(file: String, code: &str) -> Collector {
    let parsed = syn::parse_file(code).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut found = Collector { file, packed_lets: Vec::new(), untyped_states: Vec::new() };
    found.visit_file(&parsed);
    found
}

fn collect_file(path: &Path) -> Collector {
    collect(name(path), &text(path))
}

#[test]
fn a_let_binds_one_value() {
    let sources = files(&root(), &[".rs"]);
    let found: Vec<String> =
        sources.iter().flat_map(|path| collect_file(path).packed_lets).collect();
    assert!(found.is_empty(), "unpack these {} lets: {found:#?}", found.len());
}

#[test]
fn states_are_enumerations() {
    let sources = files(&root(), &[".rs"]);
    let found: Vec<String> =
        sources.iter().flat_map(|path| collect_file(path).untyped_states).collect();
    assert!(found.is_empty(), "type these {} fields: {found:#?}", found.len());
}

#[test]
fn both_rules_find_what_breaks_them() {
    let code = "pub struct Row { pub state: String, pub name: String }
        fn f() { let (a, b) = (1, 2); let (c, d) = pair(); let (1, 2) = (c, d) else { return }; }
        ";
    let found = collect("example".to_owned(), code);
    assert_eq!(found.packed_lets, ["example:2"]);
    assert_eq!(found.untyped_states, ["example:1: state"]);
}
