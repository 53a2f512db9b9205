//! Reads a generation into memory.

use std::net::IpAddr;

use futures_util::TryStreamExt;
use hierarchy::{
    Builder, Companies, Company, CompanyId, Country, Generation, Hierarchy, Range, Record,
    Registry, SubnetKind,
};

use crate::{Store, StoreError};

/// Reads a generation; `None` when there is none of that number. Its subnets and companies get the
/// ids they were stored with.
pub async fn read(store: &Store, generation: Generation) -> Result<Option<Hierarchy>, StoreError> {
    let Ok(id) = i32::try_from(generation.get()) else { return Ok(None) };
    let found: Option<i32> = sqlx::query_scalar("SELECT subnets FROM generations WHERE id = $1")
        .bind(id)
        .fetch_optional(&store.pool())
        .await
        .map_err(StoreError::doing("look for a generation"))?;
    let Some(subnets) = found else { return Ok(None) };
    let companies = companies(store, id).await?;
    let (hierarchy, _) = subnets_of(store, id).await?.build(generation, companies);
    // Rows deleted by hand, or a swap between the two statements, would give every subnet a wrong
    // id.
    let whole = i32::try_from(hierarchy.len()) == Ok(subnets);
    whole
        .then_some(hierarchy)
        .map(Some)
        .ok_or_else(|| StoreError::unreadable("the number of rows in subnets"))
}

async fn companies(store: &Store, generation: i32) -> Result<Companies, StoreError> {
    let statement =
        "SELECT registry, handle, name FROM companies WHERE generation = $1 ORDER BY ordinal";
    let pool = store.pool();
    let mut rows = sqlx::query_as(statement).bind(generation).fetch(&pool);
    let mut companies = Companies::default();
    while let Some(row) = rows.try_next().await.map_err(StoreError::doing("read the companies"))? {
        let (registry, handle, name): (String, String, Option<String>) = row;
        companies.push(Company {
            registry: registry_of(&registry)?,
            handle: &handle,
            name: name.as_deref(),
        });
    }
    Ok(companies)
}

type Row = (IpAddr, IpAddr, String, Option<String>, Option<i32>, Option<String>);

async fn subnets_of(store: &Store, generation: i32) -> Result<Builder, StoreError> {
    let statement = "SELECT first, last, kind, registry, company, country FROM subnets
                     WHERE generation = $1 AND kind <> 'root' ORDER BY ordinal";
    let pool = store.pool();
    let mut rows = sqlx::query_as(statement).bind(generation).fetch(&pool);
    let mut builder = Builder::default();
    while let Some(row) = rows.try_next().await.map_err(StoreError::doing("read the subnets"))? {
        builder.add(record(row)?);
    }
    Ok(builder)
}

fn record((first, last, kind, registry, company, country): Row) -> Result<Record, StoreError> {
    let kinds = SubnetKind::ALL.into_iter();
    let country = country.map(|text| text.parse::<Country>()).transpose();
    let company = company.map(u32::try_from).transpose();
    Ok(Record {
        range: Range::new(first, last)
            .map_err(|_| StoreError::unreadable("subnets.first, subnets.last"))?,
        kind: kinds
            .into_iter()
            .find(|k| k.as_str() == kind)
            .ok_or_else(|| StoreError::unreadable("subnets.kind"))?,
        registry: registry.map(|text| registry_of(&text)).transpose()?,
        company: company
            .map_err(|_| StoreError::unreadable("subnets.company"))?
            .map(CompanyId::new),
        country: country.map_err(|_| StoreError::unreadable("subnets.country"))?,
    })
}

fn registry_of(text: &str) -> Result<Registry, StoreError> {
    text.parse().map_err(|_| StoreError::unreadable("registry in subnets or companies"))
}
