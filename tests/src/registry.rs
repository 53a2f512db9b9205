//! Full-size registry dumps that nobody wrote: seeded, so that they are the same every time.
//!
//! Real dumps may not be passed on, and they change every day. These are written after what is
//! known of them: how many objects each registry has, how long they are, how allocations divide
//! into assignments, which share of the ranges is no prefix, names no organisation, or stands for
//! no holder ([`Shares`]). [`make`] writes the files, [`time`] reads them with the loader and
//! beside it with `zcat | wc -c`, which does nothing but unpack.

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
