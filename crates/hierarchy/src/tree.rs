//! One generation of the hierarchy and the questions it answers.

use std::fmt;
use std::net::IpAddr;
use std::ops;
use std::sync::OnceLock;

use crate::address::Address;
use crate::columns::Columns;
use crate::company::{Companies, Company};
use crate::family::Family;
use crate::holdings::Holdings;
use crate::id::{CompanyId, Generation, SubnetId};
use crate::range::{Bounds, Range};
use crate::record::SubnetKind;
use crate::subnet::Subnet;
use crate::trie::Trie;
use crate::walk::{Ancestors, Children};

/// The upper bits of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2).
const MAPPED: u128 = 0xffff;

/// All subnets of one generation below two roots, 0.0.0.0/0 and ::/0, which are always there.
///
/// Ids are places in pre-order. One that lies beyond the last subnet cannot come from this
/// generation; it has no parent, no ancestors, no children, no siblings and no descendants, and
/// [`Hierarchy::get`] answers `None` for it.
#[derive(Clone)]
pub struct Hierarchy {
    generation: Generation,
    v4: Family<u32>,
    v6: Family<u128>,
    /// Once [`Hierarchy::quicken`] was called.
    tries: OnceLock<Tries>,
    columns: Columns,
    holdings: Holdings,
    companies: Companies,
}

/// What answers lookups quickly; made anew from the rest wherever a hierarchy comes from.
#[derive(Clone)]
struct Tries {
    v4: Trie,
    v6: Trie,
}

impl Hierarchy {
    pub(crate) fn assemble(
        generation: Generation,
        (v4, v6): (Family<u32>, Family<u128>),
        columns: Columns,
        mut companies: Companies,
    ) -> Self {
        companies.shrink();
        let holdings = Holdings::new(&columns.holder, companies.len());
        let tries = OnceLock::new();
        Self { generation, v4, v6, tries, columns, holdings, companies }
    }

    /// Makes what lets [`Hierarchy::smallest`] answer in one or two reads of memory, for ten
    /// million ranges in one to two seconds. A hierarchy that was built has it; one that was read
    /// answers from the columns until then, some ten times more slowly. Doing it again does
    /// nothing.
    pub fn quicken(&self) {
        self.tries.get_or_init(|| Tries { v4: Trie::new(&self.v4), v6: Trie::new(&self.v6) });
    }

    /// Which generation this is.
    pub fn generation(&self) -> Generation {
        self.generation
    }

    /// How many subnets there are, the two roots and the blocks included.
    pub fn len(&self) -> usize {
        self.columns.parent.len()
    }

    /// Never: the roots are always there. (Whether anything was loaded: is `len` above 2?)
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The smallest subnet that holds the address; a root where nothing smaller does. An
    /// IPv4-mapped IPv6 address counts as the IPv4 address it carries.
    // `IpAddr::to_canonical` writes the address down again, which the processor can read only once
    // everything before is done: lookups would no longer overlap.
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

    /// The subnet of that id, `None` when this generation has none. Use it for ids that were stored
    /// or came from outside.
    pub fn get(&self, id: SubnetId) -> Option<Subnet<'_>> {
        (id.index() < self.len()).then(|| Subnet::new(self, id))
    }

    /// The subnet of an id that this hierarchy gave out. (Any other id beyond the last subnet
    /// answers as the root 0.0.0.0/0; debug builds stop there, because it is a mistake of the
    /// caller.)
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
        let place = match range.0 {
            Bounds::V4 { first, last } => self.v4.find(first, last)?,
            Bounds::V6 { first, last } => self.v6_root().index() + self.v6.find(first, last)?,
        };
        Some(SubnetId::new(place as u32))
    }

    /// The smallest subnet that holds the whole range: its own when there is one, a root where
    /// nothing smaller does.
    pub fn smallest_holding(&self, range: &Range) -> SubnetId {
        let from = match range.0 {
            Bounds::V4 { first, .. } => self.smallest_v4(first),
            Bounds::V6 { first, .. } => self.smallest_v6(first),
        };
        let holds = |id: &SubnetId| self.subnet(*id).range().contains_range(range);
        std::iter::once(from).chain(self.ancestors(from)).find(holds).unwrap_or(from)
    }

    /// The largest delegated subnets that lie wholly inside the range, in order; the range itself
    /// when it is one.
    pub fn inside(&self, range: &Range) -> impl Iterator<Item = SubnetId> {
        let mut id = self.first_from(range);
        std::iter::from_fn(move || {
            while let Some(subnet) = self.get(id) {
                let here = subnet.range();
                if here.is_v4() != range.is_v4() || here.first() > range.last() {
                    return None;
                }
                if subnet.kind() == SubnetKind::Delegated && range.contains_range(&here) {
                    let found = id;
                    id = self.subtree(id).end;
                    return Some(found);
                }
                id = SubnetId::new(id.get() + 1);
            }
            None
        })
    }

    /// The first subnet that begins where the range begins, or after.
    fn first_from(&self, range: &Range) -> SubnetId {
        let place = match range.0 {
            Bounds::V4 { first, .. } => self.v4.first_from(first),
            Bounds::V6 { first, .. } => self.v6_root().index() + self.v6.first_from(first),
        };
        SubnetId::new(place as u32)
    }

    /// The smallest subnet around the subnet; `None` for a root.
    pub fn parent(&self, id: SubnetId) -> Option<SubnetId> {
        self.columns.parent.get(id.index()).copied().filter(|parent| *parent != id)
    }

    /// The subnets around the subnet, nearest first, the root last.
    pub fn ancestors(&self, id: SubnetId) -> Ancestors<'_> {
        Ancestors::new(self, id)
    }

    /// The subnets directly below, in order.
    pub fn children(&self, id: SubnetId) -> Children<'_> {
        Children::new(self, self.descendants(id))
    }

    /// The other children of the subnet's parent, in order.
    pub fn siblings(&self, id: SubnetId) -> impl Iterator<Item = SubnetId> {
        let parent = self.parent(id);
        parent
            .into_iter()
            .flat_map(|parent| self.children(parent))
            .filter(move |sibling| *sibling != id)
    }

    /// Everything below the subnet, itself left out: ids from `start` up to, not including, `end`.
    pub fn descendants(&self, id: SubnetId) -> ops::Range<SubnetId> {
        let ops::Range { start, end } = self.subtree(id);
        SubnetId::new(start.get().saturating_add(1)).min(end)..end
    }

    /// The subnet and everything below it: ids from `start` up to, not including, `end`.
    pub fn subtree(&self, id: SubnetId) -> ops::Range<SubnetId> {
        let root = self.v6_root().index();
        let end = match id.index().checked_sub(root) {
            None => self.v4.subtree_end(id.index()),
            Some(place) => root + self.v6.subtree_end(place),
        };
        id..SubnetId::new(end as u32)
    }

    /// The company of that number.
    pub fn company(&self, id: CompanyId) -> Option<Company<'_>> {
        self.companies.get(id)
    }

    /// All companies of this generation.
    pub fn companies(&self) -> &Companies {
        &self.companies
    }

    /// The subnets that a company holds, in order.
    pub fn company_subnets(&self, id: CompanyId) -> &[SubnetId] {
        self.holdings.of(id)
    }

    /// What the hierarchy takes in memory.
    pub fn heap_bytes(&self) -> HeapBytes {
        let ranges = self.v4.heap_bytes() + self.v6.heap_bytes();
        let tries =
            self.tries.get().map_or(0, |tries| tries.v4.heap_bytes() + tries.v6.heap_bytes());
        let ranges = ranges + tries;
        let subnets = ranges + self.columns.heap_bytes() + self.holdings.heap_bytes();
        HeapBytes { subnets, companies: self.companies.heap_bytes() }
    }

    fn smallest_v4(&self, address: u32) -> SubnetId {
        let parent = |place: usize| self.columns.parent[place].index();
        let told = self.tries.get().and_then(|tries| tries.v4.owner(address.into()));
        SubnetId::new(told.unwrap_or_else(|| self.v4.smallest(address, parent)) as u32)
    }

    fn smallest_v6(&self, address: u128) -> SubnetId {
        let root = self.v4.len();
        let parent = |place: usize| self.columns.parent[root + place].index() - root;
        let told = self.tries.get().and_then(|tries| tries.v6.owner(address.head()));
        SubnetId::new((root + told.unwrap_or_else(|| self.v6.smallest(address, parent))) as u32)
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
        let bounds = match id.index().checked_sub(self.v6_root().index()) {
            None => self.v4.bounds(id.index()).map(|(first, last)| Bounds::V4 { first, last }),
            Some(place) => self.v6.bounds(place).map(|(first, last)| Bounds::V6 { first, last }),
        };
        bounds.map(Range)
    }
}

/// Bytes on the heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HeapBytes {
    /// Ranges, tree, lookup table, and who holds what.
    pub subnets: usize,
    /// Handles and names of the companies.
    pub companies: usize,
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
