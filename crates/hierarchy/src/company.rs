//! Who holds subnets.

use std::collections::HashMap;

use crate::id::CompanyId;
use crate::registry::Registry;
use crate::texts::Texts;

/// A holder of subnets, as one registry knows it. Registries do not share their handles, so that
/// the same organisation at two registries is two companies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Company<'h> {
    /// The registry whose handle this is.
    pub registry: Registry,
    /// The registry's name for the holder: an opaque id or an organisation handle.
    pub handle: &'h str,
    /// What people call it, where a source says so.
    pub name: Option<&'h str>,
}

/// All companies of one generation, numbered in the order in which they were pushed.
#[derive(Debug, Clone, Default)]
pub struct Companies {
    pub(crate) registries: Vec<Registry>,
    pub(crate) handles: Texts,
    pub(crate) names: Texts,
}

impl Companies {
    /// Appends a company and returns its number. Whether it is there already is not looked up: see
    /// [`CompanyIndex`].
    pub fn push(&mut self, company: Company<'_>) -> CompanyId {
        let id = CompanyId::new(self.registries.len() as u32);
        self.registries.push(company.registry);
        self.handles.push(company.handle);
        self.names.push(company.name.unwrap_or_default());
        id
    }

    /// The company of that number.
    pub fn get(&self, id: CompanyId) -> Option<Company<'_>> {
        let registry = *self.registries.get(id.index())?;
        let handle = self.handles.get(id.index())?;
        let name = self.names.get(id.index()).filter(|name| !name.is_empty());
        Some(Company { registry, handle, name })
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.registries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.registries.is_empty()
    }

    /// All of them with their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (CompanyId, Company<'_>)> {
        (0..self.len() as u32).map(CompanyId::new).filter_map(|id| Some((id, self.get(id)?)))
    }

    pub(crate) fn heap_bytes(&self) -> usize {
        self.registries.capacity() + self.handles.heap_bytes() + self.names.heap_bytes()
    }

    pub(crate) fn shrink(&mut self) {
        self.registries.shrink_to_fit();
        self.handles.shrink();
        self.names.shrink();
    }
}

/// Companies that are still being collected: the same handle of the same registry always gets the
/// same number.
#[derive(Debug, Clone, Default)]
pub struct CompanyIndex {
    companies: Companies,
    numbers: HashMap<Registry, HashMap<Box<str>, CompanyId>>,
}

impl CompanyIndex {
    /// The number of this company, a new one when it was not seen before.
    pub fn number(&mut self, registry: Registry, handle: &str) -> CompanyId {
        let known = self.numbers.entry(registry).or_default();
        if let Some(id) = known.get(handle) {
            return *id;
        }
        let id = self.companies.push(Company { registry, handle, name: None });
        known.insert(handle.into(), id);
        id
    }

    /// The collected companies, by number.
    pub fn into_companies(self) -> Companies {
        self.companies
    }
}
