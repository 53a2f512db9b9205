//! Companies: the holders of subnets.

use std::collections::HashMap;

use crate::id::CompanyId;
use crate::registry::Registry;
use crate::strings::StringColumn;

/// A holder of subnets at one registry. Registries do not share handles, so that the same
/// organisation at two registries is two companies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Company<'h> {
    /// The registry that assigned the handle.
    pub registry: Registry,
    /// Identifier within the registry: an opaque id or an organisation handle.
    pub handle: &'h str,
    /// Readable name, where a source has one.
    pub name: Option<&'h str>,
}

/// All companies of one generation, numbered in the order in which they were added.
#[derive(Debug, Clone, Default)]
pub struct Companies {
    pub(crate) registries: Vec<Registry>,
    pub(crate) handles: StringColumn,
    pub(crate) names: StringColumn,
}

impl Companies {
    /// Adds a company and returns its id. Duplicates are not detected; [`CompanyIndex`] does that.
    pub fn push(&mut self, company: Company<'_>) -> CompanyId {
        let id = CompanyId::new(self.registries.len() as u32);
        self.registries.push(company.registry);
        self.handles.push(company.handle);
        self.names.push(company.name.unwrap_or_default());
        id
    }

    pub fn get(&self, id: CompanyId) -> Option<Company<'_>> {
        let registry = *self.registries.get(id.index())?;
        let handle = self.handles.get(id.index())?;
        let name = self.names.get(id.index()).filter(|name| !name.is_empty());
        Some(Company { registry, handle, name })
    }

    /// The number of companies.
    pub fn len(&self) -> usize {
        self.registries.len()
    }

    /// Whether the list has no company.
    pub fn is_empty(&self) -> bool {
        self.registries.is_empty()
    }

    /// The companies with their ids, in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = (CompanyId, Company<'_>)> {
        (0..self.len() as u32).map(CompanyId::new).filter_map(|id| Some((id, self.get(id)?)))
    }

    /// The companies whose handle or name contains `text`, regardless of case.
    pub fn containing(&self, text: &str) -> impl Iterator<Item = CompanyId> {
        let lowercase = text.to_lowercase();
        let fits = move |part: &str| contains(part, &lowercase);
        self.iter()
            .filter(move |(_, company)| fits(company.handle) || company.name.is_some_and(&fits))
            .map(|(id, _)| id)
    }

    pub(crate) fn shrink(&mut self) {
        self.registries.shrink_to_fit();
        self.handles.shrink();
        self.names.shrink();
    }
}

/// Whether a text contains another, which is lowercase. Hundreds of thousands of names are
/// compared, nearly all of them ASCII, for which no lowercase copy is made.
fn contains(text: &str, lowercase: &str) -> bool {
    if !text.is_ascii() {
        return text.to_lowercase().contains(lowercase);
    }
    let Some(first) = lowercase.bytes().next() else { return true };
    let starts = text.bytes().enumerate().filter(|(_, byte)| byte.to_ascii_lowercase() == first);
    let rest = |start: usize| text.as_bytes().get(start..start + lowercase.len());
    starts
        .filter_map(|(start, _)| rest(start))
        .any(|part| part.eq_ignore_ascii_case(lowercase.as_bytes()))
}

/// Companies during collection: the same handle of the same registry always gets the same id.
#[derive(Debug, Clone, Default)]
pub struct CompanyIndex {
    companies: Companies,
    numbers: HashMap<Registry, HashMap<Box<str>, CompanyId>>,
}

impl CompanyIndex {
    /// The id of this company, which is added if it is new.
    pub fn number(&mut self, registry: Registry, handle: &str) -> CompanyId {
        let known = self.numbers.entry(registry).or_default();
        if let Some(id) = known.get(handle) {
            return *id;
        }
        let id = self.companies.push(Company { registry, handle, name: None });
        known.insert(handle.into(), id);
        id
    }

    /// The collected companies in the order of their ids.
    pub fn into_companies(self) -> Companies {
        self.companies
    }
}
