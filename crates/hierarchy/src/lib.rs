//! Here is an address: its subnet, ancestors, siblings, company.
//!
//! The road through this crate, in reading order:
//!
//! 1. [`Range`], [`Registry`], [`Country`]: the words. [`Record`] joins them: one range and what a
//!    registry says about it.
//! 2. [`CompanyIndex`] numbers the companies, [`Builder`] takes the records in any order, sorts
//!    them and nests them in one pass with a stack (`nest`), after grouping neighbours into
//!    `blocks` where asked. Equal ranges are merged and crossing ones cut, and [`BuildReport`]
//!    counts both.
//! 3. [`Hierarchy`] answers. Subnets are numbered in pre-order ([`SubnetId`]), so that a subtree is
//!    a span of ids and most questions are answered by arithmetic or by a binary search in flat
//!    columns (`family`, `columns`). The smallest subnet of an address comes from the tree
//!    flattened into disjoint `segments`, kept in a `trie`.
//! 4. [`Snapshot`] writes a hierarchy down as the bytes it consists of and takes it up again
//!    without nesting anything.
//! 5. [`Scope`] names a part of the hierarchy in words that later generations understand.
//! 6. [`Hierarchy::split`] adds virtual subnets.
//! 7. [`remap`] moves what is tied to the subnets of one generation to the next.
//!
//! Nothing here reads a file, a clock or a database, and a built hierarchy never changes: a new
//! generation replaces it whole.
//!
//! ```
//! use hierarchy::{Builder, CompanyIndex, Generation, Record, Registry, SubnetKind};
//!
//! let mut companies = CompanyIndex::default();
//! let mut builder = Builder::default();
//! builder.add(Record {
//!     range: "193.0.0.0/21".parse()?,
//!     kind: SubnetKind::Delegated,
//!     registry: Some(Registry::RipeNcc),
//!     company: Some(companies.number(Registry::RipeNcc, "ORG-1")),
//!     country: Some("NL".parse()?),
//! });
//! let (hierarchy, _report) = builder.build(Generation::new(1), companies.into_companies());
//!
//! let subnet = hierarchy.subnet(hierarchy.smallest("193.0.6.139".parse()?));
//! assert_eq!(subnet.range().to_string(), "193.0.0.0/21");
//! assert_eq!(subnet.company().and_then(|id| hierarchy.company(id)).map(|c| c.handle), Some("ORG-1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod attributes;
mod blocks;
mod builder;

mod columns;
mod company;
mod country;
mod family;
mod holdings;
mod id;
mod nest;
mod odd;
mod range;
mod range_text;
mod record;
mod registry;
pub mod remap;
mod scope;
mod segments;
mod snapshot;
mod split;
mod subnet;
mod texts;
mod tree;
mod trie;
mod walk;

pub use blocks::BlockLevel;
pub use builder::{BuildReport, Builder};
pub use company::{Companies, Company, CompanyIndex};
pub use country::{Country, NotACountry};
pub use id::{CompanyId, Generation, SubnetId};
pub use range::{Range, RangeError};
pub use record::{Record, SubnetKind};
pub use registry::{Registry, UnknownRegistry};
pub use scope::Scope;
pub use snapshot::{Snapshot, SnapshotError};
pub use split::SubnetSplit;
pub use subnet::Subnet;
pub use tree::{HeapBytes, Hierarchy};
pub use walk::{Ancestors, Children};
