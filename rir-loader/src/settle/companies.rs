//! Companies while they are collected: the same holder always gets the same number.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use hierarchy::{Companies, Company, CompanyId, Country, Registry};

use super::holder::Basis;
use super::names::{is_same_name, normalize};

/// Position of a company in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CompanyNumber(NonZeroU32);

impl CompanyNumber {
    fn new(index: usize) -> Self {
        let index = u32::try_from(index).unwrap_or(u32::MAX - 1);
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

#[derive(Debug)]
struct Entry {
    handle: Box<str>,
    name: Option<Box<str>>,
    registry: Registry,
    country: Option<Country>,
    /// Ranges that the delegated files give to the company.
    delegated: u32,
}

/// All companies that any source names.
#[derive(Debug, Default)]
pub struct CompanyTable {
    entries: Vec<Entry>,
    /// Finds a company by registry and normalized handle; the handles themselves are in `entries`.
    numbers: HashTable<CompanyNumber>,
    hasher: RandomState,
}

/// Longest handle or name in bytes.
const MAX_TEXT: usize = 1024;

impl CompanyTable {
    /// The number of this company, a new one for a new company. Texts that only differ in case,
    /// blanks and punctuation name the same company; texts of a different basis never do.
    pub fn number(&mut self, registry: Registry, basis: Basis, text: &str) -> CompanyNumber {
        let handle = format!("{}{text}", basis.prefix());
        let handle = truncate(&handle);
        let hash = hash_of(&self.hasher, registry, handle);
        let is_known = |number: &CompanyNumber| {
            let entry = &self.entries[number.index()];
            entry.registry == registry && is_same_name(&entry.handle, handle)
        };
        if let Some(number) = self.numbers.find(hash, is_known) {
            return *number;
        }
        let number = CompanyNumber::new(self.entries.len());
        self.entries.push(Entry {
            handle: handle.into(),
            name: None,
            registry,
            country: None,
            delegated: 0,
        });
        self.numbers.insert_unique(hash, number, |number| {
            let entry = &self.entries[number.index()];
            hash_of(&self.hasher, entry.registry, &entry.handle)
        });
        number
    }

    /// Sets the name of a company; the first name counts.
    pub fn set_name(&mut self, number: CompanyNumber, name: &str) {
        self.entries[number.index()].name.get_or_insert_with(|| truncate(name).into());
    }

    /// Sets the country of a company; the first country counts.
    pub fn set_country(&mut self, number: CompanyNumber, country: Country) {
        self.entries[number.index()].country.get_or_insert(country);
    }

    /// Country of a company.
    pub fn country(&self, number: CompanyNumber) -> Option<Country> {
        self.entries[number.index()].country
    }

    /// Counts a delegated range of a company.
    pub fn count_delegated(&mut self, number: CompanyNumber) {
        self.entries[number.index()].delegated += 1;
    }

    /// Delegated ranges of a company.
    pub fn delegated(&self, number: CompanyNumber) -> u32 {
        self.entries[number.index()].delegated
    }

    /// All companies in the order of their numbers.
    pub fn numbers(&self) -> impl Iterator<Item = CompanyNumber> {
        (0..self.entries.len()).map(CompanyNumber::new)
    }

    /// Registry, handle and name of a company.
    pub fn get(&self, number: CompanyNumber) -> Company<'_> {
        let entry = &self.entries[number.index()];
        Company { registry: entry.registry, handle: &entry.handle, name: entry.name.as_deref() }
    }

    /// The companies that hold a range, and the new id of each by its old number. Organisations
    /// without a range are left out.
    pub fn into_used(self, used: &[bool]) -> (Companies, Vec<Option<CompanyId>>) {
        let mut companies = Companies::default();
        let ids = self
            .numbers()
            .map(|number| used[number.index()].then(|| companies.push(self.get(number))))
            .collect();
        (companies, ids)
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }
}

fn truncate(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

fn hash_of(hasher: &RandomState, registry: Registry, handle: &str) -> u64 {
    hasher.hash_one((registry, normalize(handle)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_holder_gets_the_same_number() {
        let mut table = CompanyTable::default();
        let ripe = Registry::RipeNcc;
        let one = table.number(ripe, Basis::Description, "Example Ltd.");
        assert_eq!(table.number(ripe, Basis::Description, "EXAMPLE  LTD"), one);
        assert_ne!(table.number(Registry::Apnic, Basis::Description, "Example Ltd."), one);
        assert_ne!(table.number(ripe, Basis::Organisation, "Example Ltd."), one);
        assert_eq!(table.get(one).handle, "descr:Example Ltd.");
    }

    #[test]
    fn a_name_may_come_later_and_unused_companies_are_left_out() {
        let mut table = CompanyTable::default();
        let unused = table.number(Registry::Arin, Basis::Organisation, "A");
        let used = table.number(Registry::Arin, Basis::Organisation, "B");
        table.set_name(used, "B & Co");
        table.set_name(used, "too late");
        let (companies, ids) = table.into_used(&[false, true]);
        assert_eq!(ids[unused.index()], None);
        let company = companies.get(ids[used.index()].unwrap()).unwrap();
        assert_eq!((companies.len(), company.handle, company.name), (1, "B", Some("B & Co")));
    }
}
