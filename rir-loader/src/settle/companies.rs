//! Companies while they are collected: the same holder always gets the same number.
//!
//! Millions of holders are known by their handle only, or by a line of description; each text is
//! held once, end to end with the others.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use hierarchy::{Companies, Company, CompanyId, Country, Registry};

use super::holder::Basis;
use super::normal::same;

/// A company's place among those that were collected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompanyNo(NonZeroU32);

impl CompanyNo {
    fn new(place: usize) -> Self {
        let place = u32::try_from(place).unwrap_or(u32::MAX - 1);
        Self(NonZeroU32::MIN.saturating_add(place))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// A text in the heap of texts.
#[derive(Debug, Clone, Copy, Default)]
struct Text {
    start: u32,
    length: u16,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    handle: Text,
    name: Text,
    registry: Registry,
    country: Option<Country>,
}

/// Companies and how to find them again.
#[derive(Debug, Default)]
pub struct CompanyBook {
    entries: Vec<Entry>,
    texts: Vec<u8>,
    numbers: HashTable<CompanyNo>,
    hasher: RandomState,
    /// Ranges that delegated files give to each company.
    delegated: Vec<u32>,
}

impl CompanyBook {
    /// The number of this company, a new one when it was not seen before. What a text is taken from
    /// tells how it is compared: handles letter by letter, descriptions by what they mean.
    pub fn number(&mut self, registry: Registry, basis: Basis, text: &str) -> CompanyNo {
        let handle = format!("{}{text}", basis.prefix());
        let handle = cut(&handle);
        let hash = self.hash(registry, handle);
        let (entries, texts) = (&self.entries, &self.texts);
        let is_it = |number: &CompanyNo| {
            let entry = &entries[number.index()];
            entry.registry == registry && same(text_of(texts, entry.handle), handle)
        };
        if let Some(number) = self.numbers.find(hash, is_it) {
            return *number;
        }
        let number = CompanyNo::new(self.entries.len());
        let handle = self.keep(handle);
        self.entries.push(Entry { handle, name: Text::default(), registry, country: None });
        let (entries, texts, hasher) = (&self.entries, &self.texts, &self.hasher);
        let rehash = |number: &CompanyNo| {
            let entry = &entries[number.index()];
            hash_of(hasher, entry.registry, text_of(texts, entry.handle))
        };
        self.numbers.insert_unique(hash, number, rehash);
        number
    }

    /// What people call a company, unless that is known already.
    pub fn name(&mut self, number: CompanyNo, name: &str) {
        if self.entries[number.index()].name.length == 0 {
            self.entries[number.index()].name = self.keep(cut(name));
        }
    }

    /// Where a company is, unless that is known already.
    pub fn place(&mut self, number: CompanyNo, country: Country) {
        self.entries[number.index()].country.get_or_insert(country);
    }

    /// Where a company is.
    pub fn country(&self, number: CompanyNo) -> Option<Country> {
        self.entries[number.index()].country
    }

    /// Counts a delegated range of a company.
    pub fn count_delegated(&mut self, number: CompanyNo) {
        let index = number.index();
        if self.delegated.len() <= index {
            self.delegated.resize(index + 1, 0);
        }
        self.delegated[index] += 1;
    }

    /// How many delegated ranges a company has.
    pub fn delegated(&self, number: CompanyNo) -> u32 {
        self.delegated.get(number.index()).copied().unwrap_or(0)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// All companies, in order.
    pub fn numbers(&self) -> impl Iterator<Item = CompanyNo> {
        (0..self.entries.len()).map(CompanyNo::new)
    }

    /// Registry, handle and name of a company.
    pub fn get(&self, number: CompanyNo) -> Company<'_> {
        let entry = &self.entries[number.index()];
        let name = text_of(&self.texts, entry.name);
        Company {
            registry: entry.registry,
            handle: text_of(&self.texts, entry.handle),
            name: (!name.is_empty()).then_some(name),
        }
    }

    /// Those that `used` says hold something, numbered anew in order, and their new numbers.
    pub fn into_used(mut self, used: impl Fn(CompanyNo) -> bool) -> (Companies, Renumbered) {
        self.numbers = HashTable::new();
        let mut companies = Companies::default();
        let new = self
            .numbers()
            .map(|number| used(number).then(|| companies.push(self.get(number))))
            .collect();
        (companies, Renumbered(new))
    }

    fn hash(&self, registry: Registry, handle: &str) -> u64 {
        hash_of(&self.hasher, registry, handle)
    }

    fn keep(&mut self, text: &str) -> Text {
        let Ok(start) = u32::try_from(self.texts.len()) else { return Text::default() };
        self.texts.extend_from_slice(text.as_bytes());
        Text { start, length: u16::try_from(text.len()).unwrap_or(0) }
    }
}

/// New numbers of the companies that are kept.
#[derive(Debug)]
pub struct Renumbered(Vec<Option<CompanyId>>);

impl Renumbered {
    /// The new number.
    pub fn get(&self, number: CompanyNo) -> Option<CompanyId> {
        self.0.get(number.index()).copied().flatten()
    }
}

fn text_of(texts: &[u8], text: Text) -> &str {
    let start = text.start as usize;
    let bytes = texts.get(start..start + usize::from(text.length)).unwrap_or_default();
    str::from_utf8(bytes).unwrap_or_default()
}

/// Bytes of the longest handle or name.
const LONGEST: usize = 1024;

fn cut(text: &str) -> &str {
    &text[..text.floor_char_boundary(LONGEST)]
}

fn hash_of(hasher: &RandomState, registry: Registry, handle: &str) -> u64 {
    use std::hash::{Hash, Hasher};
    let mut state = hasher.build_hasher();
    registry.hash(&mut state);
    super::normal::each_letter(handle, |letter| state.write_u8(letter));
    state.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_holder_gets_the_same_number() {
        let mut delegation_table = CompanyBook::default();
        let ripe = Registry::RipeNcc;
        let one = delegation_table.number(ripe, Basis::Description, "Example Ltd.");
        assert_eq!(delegation_table.number(ripe, Basis::Description, "EXAMPLE  LTD"), one);
        assert_ne!(
            delegation_table.number(Registry::Apnic, Basis::Description, "Example Ltd."),
            one
        );
        assert_ne!(delegation_table.number(ripe, Basis::Organisation, "Example Ltd."), one);
        assert_eq!(delegation_table.get(one).handle, "descr:Example Ltd.");
    }

    #[test]
    fn names_come_later_and_unused_companies_go() {
        let mut delegation_table = CompanyBook::default();
        let unused = delegation_table.number(Registry::Arin, Basis::Organisation, "A");
        let used = delegation_table.number(Registry::Arin, Basis::Organisation, "B");
        delegation_table.name(used, "B & Co");
        delegation_table.name(used, "too late");
        let (companies, new) = delegation_table.into_used(|number| number == used);
        assert_eq!(new.get(unused), None);
        let company = companies.get(new.get(used).unwrap()).unwrap();
        assert_eq!((companies.len(), company.handle, company.name), (1, "B", Some("B & Co")));
    }
}
