//! A scope as columns.

use std::net::IpAddr;

use hierarchy::Scope;
use sqlx::FromRow;

use crate::StoreError;
use crate::columns::range;

/// As `constraints` has it.
#[derive(Debug, Clone, FromRow)]
pub(crate) struct Columns {
    pub(crate) scope: String,
    pub(crate) first: Option<IpAddr>,
    pub(crate) last: Option<IpAddr>,
    pub(crate) registry: Option<String>,
    pub(crate) handle: Option<String>,
    pub(crate) country: Option<String>,
}

impl Columns {
    pub(crate) fn of(scope: &Scope) -> Self {
        let none = Self {
            scope: String::new(),
            first: None,
            last: None,
            registry: None,
            handle: None,
            country: None,
        };
        match scope {
            Scope::Range(range) => Self {
                scope: "range".into(),
                first: Some(range.first()),
                last: Some(range.last()),
                ..none
            },
            Scope::Company { registry, handle } => Self {
                scope: "company".into(),
                registry: Some(registry.as_str().into()),
                handle: Some(handle.clone()),
                ..none
            },
            Scope::Country(country) => {
                Self { scope: "country".into(), country: Some(country.as_str().into()), ..none }
            }
        }
    }
}

/// The scope that was written there.
pub(crate) fn scope_of(columns: Columns) -> Result<Scope, StoreError> {
    let unreadable = || StoreError::unreadable("constraints.scope");
    match columns {
        Columns { first: Some(first), last: Some(last), .. } => {
            Ok(Scope::Range(range(first, last)?))
        }
        Columns { registry: Some(registry), handle: Some(handle), .. } => {
            Ok(Scope::Company { registry: registry.parse().map_err(|_| unreadable())?, handle })
        }
        Columns { country: Some(country), .. } => {
            Ok(Scope::Country(country.parse().map_err(|_| unreadable())?))
        }
        _ => Err(unreadable()),
    }
}
