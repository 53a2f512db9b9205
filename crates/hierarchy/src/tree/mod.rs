//! One generation of the hierarchy and its queries.

mod subnet;

use std::fmt;
use std::iter;
use std::net::IpAddr;
use std::ops;

use crate::columns::Columns;
use crate::company::{Companies, Company};
use crate::country::Country;
use crate::family::Family;
use crate::id::{CompanyId, Generation, SubnetId};
use crate::range::Range;
use crate::segments::Segments;

pub use subnet::Subnet;

/// The upper bits of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
const MAPPED: u128 = 0xffff;

/// All subnets of one generation below two roots, 0.0.0.0/0 and ::/0, which always exist.
///
/// Ids are places in pre-order. One beyond the last subnet cannot come from this generation; it has
/// no parent, no ancestors and no children, and [`Hierarchy::get`] answers `None` for it.
#[derive(Clone)]
pub struct Hierarchy {
    generation: Generation,
    v4: Family<u32>,
    v6: Family<u128>,
    v4_segments: Segments<u32>,
    v6_segments: Segments<u128>,
    columns: Columns,
    companies: Companies,
}

impl Hierarchy {
    /// Adds the lookup tables to columns that were built, or read and verified.
    pub(crate) fn assemble(
        generation: Generation,
        (v4, v6): (Family<u32>, Family<u128>),
        columns: Columns,
        mut companies: Companies,
    ) -> Self {
        companies.shrink();
        let v4_segments = Segments::new(&v4);
        let v6_segments = Segments::new(&v6);
        Self { generation, v4, v6, v4_segments, v6_segments, columns, companies }
    }

    /// The loaded version of the registries' data that this hierarchy holds.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// What the ids of subnets belong to: ids of two hierarchies mean the same subnets only where
    /// this is equal.
    pub fn numbering(&self) -> Numbering {
        // Virtual subnets that are added within a generation change the ids after them.
        Numbering { generation: self.generation, subnets: self.len() }
    }

    /// The number of subnets, including the two roots and the blocks.
    pub fn len(&self) -> usize {
        self.columns.parent.len()
    }

    /// Always false, because of the roots. A hierarchy without data has a `len` of 2.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The smallest subnet that holds the address; a root where nothing smaller does. An
    /// IPv4-mapped IPv6 address counts as the IPv4 address in it.
    // `IpAddr::to_canonical` would write the address to memory, and the processor could not read it
    // until all earlier work is done, so that lookups would no longer overlap.
    #[inline]
    pub fn smallest(&self, address: IpAddr) -> SubnetId {
        match address {
            IpAddr::V4(address) => self.smallest_v4(address.to_bits()),
            IpAddr::V6(address) => match address.to_bits() {
                bits if bits >> u32::BITS == MAPPED => self.smallest_v4(bits as u32),
                bits => self.smallest_v6(bits),
            },
        }
    }

    /// The smallest subnet that holds the address and may be delegated; `None` where only blocks
    /// and a root hold it.
    pub fn smallest_delegable(&self, address: IpAddr) -> Option<SubnetId> {
        self.delegable_around(self.smallest(address))
    }

    /// The subnet or the nearest one around it that may be delegated.
    pub(crate) fn delegable_around(&self, id: SubnetId) -> Option<SubnetId> {
        let may_be_delegated = |id: &SubnetId| self.subnet(*id).may_be_delegated();
        iter::once(id).chain(self.ancestors(id)).find(may_be_delegated)
    }

    /// Country of the smallest subnet that holds the address and may be delegated.
    pub fn country_at(&self, address: IpAddr) -> Option<Country> {
        self.subnet(self.smallest_delegable(address)?).country()
    }

    /// The subnet of an id that was stored or came from outside; `None` where this generation has
    /// none.
    pub fn get(&self, id: SubnetId) -> Option<Subnet<'_>> {
        (id.index() < self.len()).then(|| Subnet::new(self, id))
    }

    /// The subnet of an id that this hierarchy gave out. Any other id beyond the last subnet is a
    /// mistake of the caller: debug builds panic, others answer with the root 0.0.0.0/0.
    pub fn subnet(&self, id: SubnetId) -> Subnet<'_> {
        debug_assert!(
            id.index() < self.len(),
            "subnet {id} is not of generation {}",
            self.generation
        );
        self.get(id).unwrap_or_else(|| Subnet::new(self, SubnetId::new(0)))
    }

    /// All subnets in the order of their ids.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = Subnet<'_>> + ExactSizeIterator {
        (0..self.len() as u32).map(|place| Subnet::new(self, SubnetId::new(place)))
    }

    /// The subnet of exactly this range.
    pub fn find(&self, range: &Range) -> Option<SubnetId> {
        // Subnets with the same first address are nested, so that they are few.
        let ops::Range { start, end } = self.beginning_in(&Range::from(range.first()));
        let mut ids = (start.get()..end.get()).map(SubnetId::new);
        ids.find(|id| self.range(*id) == Some(*range))
    }

    /// The subnet of exactly this range, where it may be delegated.
    pub fn find_delegable(&self, range: &Range) -> Option<SubnetId> {
        self.find(range).filter(|id| self.subnet(*id).may_be_delegated())
    }

    /// The smallest subnet that holds the whole range, which may be the range itself; a root where
    /// nothing smaller does.
    pub fn smallest_holding(&self, range: &Range) -> SubnetId {
        let from = match range.first() {
            IpAddr::V4(first) => self.smallest_v4(first.to_bits()),
            IpAddr::V6(first) => self.smallest_v6(first.to_bits()),
        };
        let holds = |id: &SubnetId| self.subnet(*id).range().contains_range(range);
        iter::once(from).chain(self.ancestors(from)).find(holds).unwrap_or(from)
    }

    /// The largest subnets that may be delegated and lie wholly inside the range, in order; the
    /// range itself where it is one.
    pub fn inside(&self, range: &Range) -> impl Iterator<Item = SubnetId> {
        let mut id = self.first_from(range);
        iter::from_fn(move || {
            while let Some(subnet) = self.get(id) {
                let current = subnet.range();
                if current.is_v4() != range.is_v4() || current.first() > range.last() {
                    return None;
                }
                if subnet.may_be_delegated() && range.contains_range(&current) {
                    // Subnets below this one are inside the range, but not the largest.
                    let found = id;
                    id = self.subtree(id).end;
                    return Some(found);
                }
                id = SubnetId::new(id.get() + 1);
            }
            None
        })
    }

    /// The subnets that begin inside the range, as ids from `start` up to, not including, `end`.
    pub fn beginning_in(&self, range: &Range) -> ops::Range<SubnetId> {
        self.first_from(range)..self.first_after(range.last())
    }

    /// The first subnet that begins after the address.
    pub(crate) fn first_after(&self, address: IpAddr) -> SubnetId {
        let place = match address {
            IpAddr::V4(address) => self.v4.last_begun(address.to_bits()) + 1,
            IpAddr::V6(address) => {
                self.v6_root().index() + self.v6.last_begun(address.to_bits()) + 1
            }
        };
        SubnetId::new(place as u32)
    }

    /// The first subnet that begins where the range begins, or after.
    fn first_from(&self, range: &Range) -> SubnetId {
        let place = match range.first() {
            IpAddr::V4(first) => self.v4.first_from(first.to_bits()),
            IpAddr::V6(first) => self.v6_root().index() + self.v6.first_from(first.to_bits()),
        };
        SubnetId::new(place as u32)
    }

    /// The smallest subnet around the subnet; `None` for a root.
    pub fn parent(&self, id: SubnetId) -> Option<SubnetId> {
        self.columns.parent.get(id.index()).copied().filter(|parent| *parent != id)
    }

    /// The subnets around the subnet, nearest first, the root last.
    pub fn ancestors(&self, id: SubnetId) -> impl Iterator<Item = SubnetId> {
        iter::successors(self.parent(id), |parent| self.parent(*parent))
    }

    /// The subnets directly below, in order.
    pub fn children(&self, id: SubnetId) -> impl Iterator<Item = SubnetId> {
        let ops::Range { start, end } = self.subtree(id);
        // Pre-order: the first child follows its parent, and each other child follows the subtree
        // of the child before it.
        let first = SubnetId::new(start.get().saturating_add(1));
        let child = move |id: SubnetId| (id < end).then_some(id);
        iter::successors(child(first), move |id| child(self.subtree(*id).end))
    }

    /// The subnet and everything below it: ids from `start` up to, not including, `end`.
    fn subtree(&self, id: SubnetId) -> ops::Range<SubnetId> {
        let root = self.v6_root().index();
        let end = match id.index().checked_sub(root) {
            None => self.v4.subtree_end(id.index()),
            Some(place) => root + self.v6.subtree_end(place),
        };
        id..SubnetId::new(end as u32)
    }

    pub fn company(&self, id: CompanyId) -> Option<Company<'_>> {
        self.companies.get(id)
    }

    /// All companies of this generation.
    pub fn companies(&self) -> &Companies {
        &self.companies
    }

    /// Memory on the heap that the subnets take: ranges, tree, lookup tables and attributes.
    pub fn heap_bytes(&self) -> usize {
        let ranges = self.v4.heap_bytes() + self.v6.heap_bytes();
        let segments = self.v4_segments.heap_bytes() + self.v6_segments.heap_bytes();
        ranges + segments + self.columns.heap_bytes()
    }

    fn smallest_v4(&self, address: u32) -> SubnetId {
        let place = self.v4_segments.owner(address).unwrap_or_else(|| self.search_v4(address));
        SubnetId::new(place as u32)
    }

    fn smallest_v6(&self, address: u128) -> SubnetId {
        let place = self.v6_segments.owner(address).unwrap_or_else(|| self.search_v6(address));
        SubnetId::new((self.v4.len() + place) as u32)
    }

    // Rare. Apart from the lookup, so that its code does not slow down every other address.
    #[cold]
    fn search_v4(&self, address: u32) -> usize {
        self.v4.smallest(address, |place| self.columns.parent[place].index())
    }

    #[cold]
    fn search_v6(&self, address: u128) -> usize {
        let root = self.v4.len();
        self.v6.smallest(address, |place| self.columns.parent[root + place].index() - root)
    }

    pub(crate) fn v6_root(&self) -> SubnetId {
        SubnetId::new(self.v4.len() as u32)
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    pub(crate) fn families(&self) -> (&Family<u32>, &Family<u128>) {
        (&self.v4, &self.v6)
    }

    /// The range of a subnet of this generation.
    pub(crate) fn range(&self, id: SubnetId) -> Option<Range> {
        match id.index().checked_sub(self.v6_root().index()) {
            None => self.v4.bounds(id.index()).map(|(first, last)| Range::of_numbers(first, last)),
            Some(place) => {
                self.v6.bounds(place).map(|(first, last)| Range::of_numbers(first, last))
            }
        }
    }
}

/// Identifies a numbering of subnets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Numbering {
    generation: Generation,
    subnets: usize,
}

impl fmt::Debug for Hierarchy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hierarchy")
            .field("generation", &self.generation.get())
            .field("subnets", &self.len())
            .field("companies", &self.companies.len())
            .finish_non_exhaustive()
    }
}
