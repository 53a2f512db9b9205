//! Hierarchy of Internet address ranges: finds the smallest subnet of an address, its ancestors,
//! children and company.
//!
//! Modules in reading order:
//!
//! 1. [`Range`], [`Registry`], [`Country`] and [`Record`], which joins them: one range and what a
//!    registry records about it.
//! 2. [`Builder`] takes the records in any order, groups neighbours into blocks where asked
//!    (`blocks`), sorts everything and builds the tree in one pass (`nest`). Equal ranges are
//!    merged and crossing ones split; [`BuildReport`] counts both.
//! 3. [`Hierarchy`] answers queries. Subnets are numbered in pre-order ([`SubnetId`]), so that a
//!    subtree is a range of ids and most queries are a binary search in flat columns (`family`,
//!    `columns`). Address lookup has a table of its own (`segments`).
//! 4. [`Snapshot`] writes the columns to a file and reads them without building the tree again.
//! 5. [`Scope`] names a part of the hierarchy so that it has the same meaning in later generations.
//! 6. [`Hierarchy::split`] adds virtual subnets that are parts of others. [`SplitLeaves`] says
//!    which large leaves a loader splits by itself.
//! 7. [`Hierarchy::host_subnet`] says to which subnet a host belongs, and
//!    [`Hierarchy::with_unregistered`] adds virtual subnets of space that no registry assigned.
//!    [`special_purpose`] knows the addresses that are no part of the public internet.
//! 8. [`remap`] moves what is tied to the subnets of one generation to the next.
//! 9. [`flatten`](flatten()) turns nested ranges into disjoint ones.
//!
//! Invariants: nothing here reads a file, a clock or a database, and a hierarchy never changes once
//! it is built; a new generation replaces it as a whole.
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
//! let company = subnet.company().and_then(|id| hierarchy.company(id));
//! assert_eq!(company.map(|company| company.handle), Some("ORG-1"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
mod attributes;
mod blocks;
mod build_report;
mod builder;

mod columns;
mod company;
mod contact;
mod country;
mod family;
mod flatten;
mod id;
mod irregular;
mod nest;
mod range;
mod range_text;
mod record;
mod registry;
pub mod remap;
mod scope;
mod segments;
mod snapshot;
pub mod special_purpose;
mod split;
mod split_leaves;
mod strings;
mod tree;
mod unregistered;

pub use address::Address;
pub use blocks::BlockLevel;
pub use build_report::BuildReport;
pub use builder::Builder;
pub use company::{Companies, Company, CompanyIndex};
pub use contact::{InvalidContact, check_contact};
pub use country::{Country, InvalidCountry};
pub use flatten::flatten;
pub use id::{CompanyId, Generation, SubnetId};
pub use range::{Range, RangeError};
pub use record::{Record, SubnetKind};
pub use registry::{Registry, UnknownRegistry};
pub use scope::Scope;
pub use snapshot::{Snapshot, SnapshotError};
pub use split::SubnetSplit;
pub use split_leaves::{InvalidSplit, SplitLeaves};
pub use tree::{Hierarchy, Numbering, Subnet};
pub use unregistered::{HostSubnet, PrefixLengths};
