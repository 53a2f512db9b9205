//! Verification: checks every property of the columns that the rest of this crate relies on.

use super::SnapshotError;
use crate::address::ColumnAddress;
use crate::columns::Columns;
use crate::family::{Family, IRREGULAR};
use crate::id::CompanyId;
use crate::registry::Registry;
use crate::strings::StringColumn;

fn ensure(holds: bool, violation: &'static str) -> Result<(), SnapshotError> {
    if holds { Ok(()) } else { Err(SnapshotError::Inconsistent(violation)) }
}

/// The ranges are in order, the first is the root, every range has an end, and the irregular ranges
/// are those that the column of bits marks.
pub(super) fn ranges<A: ColumnAddress>(ranges: &Family<A>) -> Result<(), SnapshotError> {
    let Family { heads, bits, irregular } = ranges;
    ensure(u32::try_from(heads.len()).is_ok(), "there are more subnets than ids")?;
    let marked = (0_u32..).zip(bits).filter(|(_, bits)| **bits == IRREGULAR);
    let marked = marked.map(|(place, _)| place);
    ensure(
        marked.eq(irregular.places.iter().copied()),
        "the marked irregular ranges are not those listed",
    )?;
    let is_at_its_place = |(place, (first, last)): (&u32, (&A, &A))| {
        first <= last && heads.get(*place as usize) == Some(&first.head())
    };
    let listed = irregular.places.iter().zip(irregular.first.iter().zip(&irregular.last));
    ensure(
        listed.into_iter().all(is_at_its_place),
        "an irregular range does not begin at its place",
    )?;
    let fits = |(head, bits): (&A::Head, &u8)| {
        *bits == IRREGULAR || A::of_head(*head).last_of(*bits).is_some()
    };
    ensure(heads.iter().zip(bits).all(fits), "a range ends beyond the last address")?;
    ensure(heads.is_sorted(), "the subnets are not in order")?;
    let root = heads.first().zip(bits.first());
    let holds_all =
        |(head, bits): (&A::Head, &u8)| A::of_head(*head).last_of(*bits) == Some(A::MAX);
    ensure(root.is_some_and(holds_all), "there is no root")
}

pub(super) fn registries(numbers: &[u8]) -> Result<Vec<Registry>, SnapshotError> {
    let registry = |number: &u8| Registry::ALL.get(usize::from(*number)).copied();
    let all: Option<Vec<_>> = numbers.iter().map(registry).collect();
    all.ok_or(SnapshotError::Inconsistent("a company has an unknown registry"))
}

pub(super) fn strings((ends, joined): (Vec<u64>, Vec<u8>)) -> Result<StringColumn, SnapshotError> {
    ensure(
        ends.is_sorted() && ends.last().copied().unwrap_or(0) == joined.len() as u64,
        "the ends of strings are out of order",
    )?;
    let joined = String::from_utf8(joined).ok();
    let is_split_at_ends =
        |joined: &String| ends.iter().all(|end| joined.is_char_boundary(*end as usize));
    let joined = joined
        .filter(is_split_at_ends)
        .ok_or(SnapshotError::Inconsistent("a string is not UTF-8"))?;
    Ok(StringColumn { joined, ends })
}

/// The subnets are in pre-order: each lies in its parent, which is the nearest subnet around it.
pub(super) fn tree(
    (v4, v6): &(Family<u32>, Family<u128>),
    columns: &Columns,
) -> Result<(), SnapshotError> {
    ensure(u32::try_from(v4.len() + v6.len()).is_ok(), "there are more subnets than ids")?;
    let parents = columns.parent.split_at_checked(v4.len());
    let (v4_parents, v6_parents) =
        parents.ok_or(SnapshotError::Inconsistent("subnets have no parent"))?;
    family(v4, |place| v4_parents[place].index())?;
    family(v6, |place| v6_parents[place].index().wrapping_sub(v4.len()))
}

fn family<A: ColumnAddress>(
    family: &Family<A>,
    parent: impl Fn(usize) -> usize,
) -> Result<(), SnapshotError> {
    ensure(parent(0) == 0, "a root has a parent")?;
    // The subnets around the current one, outermost first, each with its ends.
    let mut around: Vec<(usize, (A, A))> = vec![];
    for place in 0..family.len() {
        let ends =
            family.bounds(place).ok_or(SnapshotError::Inconsistent("a range has no ends"))?;
        while around.last().is_some_and(|(_, (_, last))| *last < ends.0) {
            around.pop();
        }
        if let Some((nearest, outer)) = around.last() {
            ensure(
                parent(place) == *nearest,
                "the parent of a subnet is not the nearest around it",
            )?;
            ensure(
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
    let all_exist = columns.holder.iter().all(|holder| holder.company().is_none_or(exists));
    ensure(all_exist, "the company of a subnet does not exist")
}
