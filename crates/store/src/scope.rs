//! A scope as columns.

use std::net::IpAddr;

use hierarchy::Scope;
use sqlx::Row as _;
use sqlx::postgres::PgRow;

use crate::StoreError;
use crate::columns::range;

/// As `constraints` has it.
#[derive(Debug, Clone)]
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
