//! A scope as columns.

use std::net::IpAddr;

use hierarchy::Scope;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use crate::StoreError;
use crate::columns::range;

/// As `constraints` has it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Columns<'a> {
    pub(crate) scope: &'static str,
    pub(crate) first: Option<IpAddr>,
    pub(crate) last: Option<IpAddr>,
    pub(crate) registry: Option<&'static str>,
    pub(crate) handle: Option<&'a str>,
    pub(crate) country: Option<&'a str>,
}

impl<'a> Columns<'a> {
    pub(crate) fn of(scope: &'a Scope) -> Self {
        match scope {
            Scope::Range(range) => Self {
                scope: "range",
                first: Some(range.first()),
                last: Some(range.last()),
                ..Self::default()
            },
            Scope::Company { registry, handle } => Self {
                scope: "company",
                registry: Some(registry.as_str()),
                handle: Some(handle),
                ..Self::default()
            },
            Scope::Country(country) => {
                Self { scope: "country", country: Some(country.as_str()), ..Self::default() }
            }
        }
    }
}

/// The scope that was written there.
pub(crate) fn read_scope(row: &PgRow) -> sqlx::Result<Scope> {
    let unreadable = || StoreError::unreadable("constraints.scope");
    Ok(match row.try_get("scope")? {
        "range" => Scope::Range(range(row.try_get("first")?, row.try_get("last")?)?),
        "company" => {
            let registry: &str = row.try_get("registry")?;
            let registry = registry.parse().map_err(|_| unreadable())?;
            Scope::Company { registry, handle: row.try_get("handle")? }
        }
        "country" => {
            let country: &str = row.try_get("country")?;
            Scope::Country(country.parse().map_err(|_| unreadable())?)
        }
        _ => return Err(unreadable().into()),
    })
}
