//! Registry data of a few companies, for scenarios with scripted agents.

use std::time::Instant;

use hierarchy::{
    Builder, CompanyIndex, Generation, Hierarchy, Range, Record, Registry, SubnetKind,
};
use store::Store;
use store::generations::Load;

/// The home subnet of agent `number`, which enrols from 127.0.1.`number`, and its company.
pub(crate) fn home(number: usize) -> (Range, String) {
    (format!("127.0.1.{number}/32").parse().unwrap(), format!("home {number}"))
}

/// A hierarchy of these ranges, each with its company.
fn hierarchy(records: impl IntoIterator<Item = (Range, String)>) -> Hierarchy {
    let mut companies = CompanyIndex::default();
    let mut builder = Builder::default();
    for (range, company) in records {
        builder.add(Record {
            range,
            kind: SubnetKind::Delegated,
            registry: Some(Registry::RipeNcc),
            company: Some(companies.number(Registry::RipeNcc, &company)),
            country: "CY".parse().ok(),
        });
    }
    builder.build(Generation::new(0), companies.into_companies()).0
}

/// Loads these ranges, each with its company.
pub(crate) async fn load(store: &Store, records: impl IntoIterator<Item = (Range, String)>) {
    let mut load = Load::wait(store).await.unwrap();
    load.copy(&hierarchy(records), &|_| {}).await.unwrap();
    load.swap(Instant::now(), &[]).await.unwrap();
}
