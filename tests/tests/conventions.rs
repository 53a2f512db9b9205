//! Conventions of the project that a machine can check: dependencies between crates and modules,
//! the language of code and documents, and the links between documents.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "helpers of the tests fail like the tests themselves"
)]

#[path = "conventions/comments.rs"]
mod comments;
#[path = "conventions/crates.rs"]
mod crates;
#[path = "conventions/documents.rs"]
mod documents;
#[path = "conventions/files.rs"]
mod files;
#[path = "conventions/modules.rs"]
mod modules;
#[path = "conventions/syntax.rs"]
mod syntax;
#[path = "conventions/vocabulary.rs"]
mod vocabulary;
