//! Synthetic full-size registry dumps, the same for the same seed.
//!
//! Real dumps may not be redistributed and change every day. These follow what is known of them:
//! the number of objects of each registry, their length, how allocations divide into assignments,
//! and the shares of ranges that are no prefix, name no organisation, or have no holder
//! ([`Shares`]). [`make`] writes the files; [`time`] reads them with the loader, beside `zcat | wc
//! -c`, which only unpacks.

mod arin;
mod lacnic;
mod made;
mod nets;
mod postgres;
mod rpsl;
#[cfg(test)]
mod tests;
mod timing;

pub use made::{Made, make};
pub use nets::{Shares, Size};
pub use postgres::{InPostgres, in_postgres};
pub use timing::{Timing, time};
