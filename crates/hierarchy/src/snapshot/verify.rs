//! Whether columns that were read can be those of a hierarchy: each promise that the rest of this
//! crate relies on.

use super::SnapshotError;
use super::read::Ranges;
use crate::address::Address;
use crate::columns::Columns;
use crate::family::{Family, IRREGULAR};
use crate::id::CompanyId;
use crate::registry::Registry;
use crate::texts::Texts;

fn unless(holds: bool, contradiction: &'static str) -> Result<(), SnapshotError> {
    if holds { Ok(()) } else { Err(SnapshotError::Contradiction(contradiction)) }
}

/// A root first; every range has an end; the irregular ones are where the column says.
pub(super) fn ranges<A: Address>(ranges: &Ranges<A>) -> Result<(), SnapshotError> {
    let Ranges { heads, bits, irregular } = ranges;
    unless(u32::try_from(heads.len()).is_ok(), "there are more subnets than ids")?;
    let marked =
        (0_u32..).zip(bits).filter(|(_, bits)| **bits == IRREGULAR).map(|(place, _)| place);
    unless(marked.eq(irregular.places.iter().copied()), "a range without bits is not written out")?;
    let told = |(place, (first, last)): (&u32, (&A, &A))| {
        first <= last && heads.get(*place as usize) == Some(&first.head())
    };
    let ends = irregular.places.iter().zip(irregular.first.iter().zip(&irregular.last));
    unless(ends.into_iter().all(told), "a range that is written out is not where it should be")?;
    let fits = |(head, bits): (&A::Head, &u8)| {
        *bits == IRREGULAR || A::of_head(*head).last_of(*bits).is_some()
    };
    unless(heads.iter().zip(bits).all(fits), "a range ends beyond the last address")?;
    unless(heads.is_sorted(), "the subnets are not in order")?;
    let root = heads.first().zip(bits.first());
    let whole = |(head, bits): (&A::Head, &u8)| A::of_head(*head).last_of(*bits) == Some(A::MAX);
    unless(root.is_some_and(whole), "there is no root")
}

pub(super) fn registries(numbers: &[u8]) -> Result<Vec<Registry>, SnapshotError> {
    let known = |number: &u8| Registry::ALL.get(usize::from(*number)).copied();
    let all: Option<Vec<_>> = numbers.iter().map(known).collect();
    all.ok_or(SnapshotError::Contradiction("a company is of no registry"))
}

pub(super) fn texts((ends, joined): (Vec<u64>, Vec<u8>)) -> Result<Texts, SnapshotError> {
    unless(
        ends.is_sorted() && ends.last().copied().unwrap_or(0) == joined.len() as u64,
        "a text has no end",
    )?;
    let joined = String::from_utf8(joined).ok();
    let whole = |joined: &String| ends.iter().all(|end| joined.is_char_boundary(*end as usize));
    let joined = joined.filter(whole).ok_or(SnapshotError::Contradiction("a text is not UTF-8"))?;
    Ok(Texts { joined, ends })
}

/// Pre-order: each subnet lies in its parent, and the parent is the nearest around it.
pub(super) fn tree(
    (v4, v6): &(Family<u32>, Family<u128>),
    columns: &Columns,
) -> Result<(), SnapshotError> {
    unless(u32::try_from(v4.len() + v6.len()).is_ok(), "there are more subnets than ids")?;
    let parents = columns.parent.split_at_checked(v4.len());
    let (four, six) = parents.ok_or(SnapshotError::Contradiction("subnets without a parent"))?;
    family(v4, |place| four[place].index())?;
    family(v6, |place| six[place].index().wrapping_sub(v4.len()))
}

fn family<A: Address>(
    family: &Family<A>,
    parent: impl Fn(usize) -> usize,
) -> Result<(), SnapshotError> {
    unless(parent(0) == 0, "a root has a parent")?;
    // The subnets around the latest one, outermost first, each with its ends.
    let mut around: Vec<(usize, (A, A))> = vec![];
    for place in 0..family.len() {
        let ends =
            family.bounds(place).ok_or(SnapshotError::Contradiction("a range has no ends"))?;
        while around.last().is_some_and(|(_, (_, last))| *last < ends.0) {
            around.pop();
        }
        if let Some((nearest, outer)) = around.last() {
            unless(parent(place) == *nearest, "a subnet's parent is not the nearest around it")?;
            unless(
                outer.0 <= ends.0 && ends.1 <= outer.1 && *outer != ends,
                "a subnet is not in its parent",
            )?;
        }
        around.push((place, ends));
    }
    Ok(())
}

pub(super) fn holders(columns: &Columns, companies: usize) -> Result<(), SnapshotError> {
    let exists = |company: CompanyId| company.index() < companies;
    let known = columns.holder.iter().all(|holder| holder.company().is_none_or(exists));
    unless(known, "a subnet is held by a company that is not there")
}
