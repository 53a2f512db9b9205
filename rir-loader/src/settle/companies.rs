//! Companies while they are collected: the same holder always gets the same number.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;

use hashbrown::HashTable;
use hierarchy::{Companies, Company, CompanyId, Country, Registry};

use super::holder::CompanyKey;
use super::names::{is_same_name, normalize};

/// Position of a company in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct CompanyNumber(NonZeroU32);

impl CompanyNumber {
    fn new(index: usize) -> Self {
        let index = u32::try_from(index).unwrap_or(u32::MAX - 1);
        Self(NonZeroU32::MIN.saturating_add(index))
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }
}

/// What is known of a company.
#[derive(Debug)]
pub(super) struct CompanyEntry {
    pub(super) registry: Registry,
    pub(super) handle: Box<str>,
    pub(super) name: Option<Box<str>>,
    pub(super) country: Option<Country>,
    /// Ranges that the delegated files give to the company.
    pub(super) delegated: u32,
}

/// All companies that any source names.
#[derive(Debug, Default)]
pub(super) struct CompanyTable {
    entries: Vec<CompanyEntry>,
    /// Finds a company by registry and normalized handle; the handles themselves are in `entries`.
    numbers: HashTable<CompanyNumber>,
    hasher: RandomState,
}

/// Longest handle or name in bytes.
const MAX_TEXT: usize = 1024;

impl CompanyTable {
    /// The number of this company, a new one for a new company. Texts that only differ in case,
    /// blanks and punctuation name the same company; texts of a different basis never do.
    pub(super) fn number(
        &mut self,
        registry: Registry,
        basis: CompanyKey,
        text: &str,
    ) -> CompanyNumber {
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
        let handle = handle.into();
        self.entries.push(CompanyEntry {
            registry,
            handle,
            name: None,
            country: None,
            delegated: 0,
        });
        self.numbers.insert_unique(hash, number, |number| {
            let entry = &self.entries[number.index()];
            hash_of(&self.hasher, entry.registry, &entry.handle)
        });
        number
    }

    pub(super) fn get(&self, number: CompanyNumber) -> &CompanyEntry {
        &self.entries[number.index()]
    }

    /// Sets the name of a company; the first name counts.
    pub(super) fn set_name(&mut self, number: CompanyNumber, name: &str) {
        self.entries[number.index()].name.get_or_insert_with(|| truncate(name).into());
    }

    /// Sets the country of a company; the first country counts.
    pub(super) fn set_country(&mut self, number: CompanyNumber, country: Country) {
        self.entries[number.index()].country.get_or_insert(country);
    }

    pub(super) fn count_delegated(&mut self, number: CompanyNumber) {
        self.entries[number.index()].delegated += 1;
    }

    pub(super) fn entries(&self) -> &[CompanyEntry] {
        &self.entries
    }

    /// The companies that hold a range, and the new id of each by its old number. Organisations
    /// without a range are left out.
    pub(super) fn into_used(self, used: &[bool]) -> (Companies, Vec<Option<CompanyId>>) {
        let mut companies = Companies::default();
        let mut ids = vec![];
        for (entry, is_used) in self.entries.iter().zip(used) {
            let company = Company {
                registry: entry.registry,
                handle: &entry.handle,
                name: entry.name.as_deref(),
            };
            ids.push(is_used.then(|| companies.push(company)));
        }
        (companies, ids)
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
        let one = table.number(ripe, CompanyKey::Description, "Example Ltd.");
        assert_eq!(table.number(ripe, CompanyKey::Description, "EXAMPLE  LTD"), one);
        assert_ne!(table.number(Registry::Apnic, CompanyKey::Description, "Example Ltd."), one);
        assert_ne!(table.number(ripe, CompanyKey::Organisation, "Example Ltd."), one);
        assert_eq!(&*table.get(one).handle, "descr:Example Ltd.");
    }

    #[test]
    fn a_name_may_come_later_and_unused_companies_are_left_out() {
        let mut table = CompanyTable::default();
        let unused = table.number(Registry::Arin, CompanyKey::Organisation, "A");
        let used = table.number(Registry::Arin, CompanyKey::Organisation, "B");
        table.set_name(used, "B & Co");
        table.set_name(used, "too late");
        let (companies, ids) = table.into_used(&[false, true]);
        assert_eq!(ids[unused.index()], None);
        let company = companies.get(ids[used.index()].unwrap()).unwrap();
        assert_eq!((companies.len(), company.handle, company.name), (1, "B", Some("B & Co")));
    }
}
