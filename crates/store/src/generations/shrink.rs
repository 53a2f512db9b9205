//! Checks that the files of a new generation are not cut short.

use std::collections::BTreeMap;

use super::Source;
use crate::StoreError;

/// A registry loses at most this share of its records from one load to the next, in percent;
/// between 2013 and 2018 none lost any.
const MOST_LOST: u64 = 20;

/// The error that a load of the new files ends with unless it is forced; `None` when they may take
/// the place of those in use. It names the registries of which more than a fifth of the records are
/// missing, in the order of their names: a download cut short, an empty file, a file forgotten.
pub fn refusal(in_use: &[Source], new: &[Source]) -> Option<StoreError> {
    let new = records(new);
    let shrunken = records(in_use).into_iter().filter_map(|(registry, before)| {
        let now = new.get(registry).copied().unwrap_or(0);
        let lost = u128::from(before.saturating_sub(now));
        let is_suspicious = lost * 100 > u128::from(before) * u128::from(MOST_LOST);
        let left = if now == 0 { "none".to_owned() } else { now.to_string() };
        is_suspicious.then(|| format!("{registry}: {left}, {before} in use"))
    });
    let list = shrunken.collect::<Vec<_>>().join("; ");
    (!list.is_empty()).then_some(StoreError::Shrunken { list })
}

fn records(sources: &[Source]) -> BTreeMap<&str, u64> {
    let mut records = BTreeMap::new();
    // Without a table of routes holders lack names, and no range is missing.
    for source in sources.iter().filter(|source| source.registry != Source::ROUTES) {
        let sum: &mut u64 = records.entry(source.registry.as_str()).or_default();
        *sum = sum.saturating_add(source.records);
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sources(records: &[(&str, u64)]) -> Vec<Source> {
        let source = |(registry, records): &(&str, u64)| Source {
            registry: (*registry).to_owned(),
            file: String::new(),
            serial: String::new(),
            date: None,
            records: *records,
        };
        records.iter().map(source).collect()
    }

    fn verdict(in_use: &[(&str, u64)], new: &[(&str, u64)]) -> String {
        match refusal(&sources(in_use), &sources(new)) {
            Some(StoreError::Shrunken { list }) => list,
            _ => String::new(),
        }
    }

    #[test]
    fn a_fifth_may_go_and_not_a_record_more() {
        assert_eq!(verdict(&[("arin", 1_000)], &[("arin", 800)]), "");
        assert_eq!(verdict(&[("arin", 1_000)], &[("arin", 799)]), "arin: 799, 1000 in use");
        assert_eq!(verdict(&[("arin", u64::MAX)], &[("arin", u64::MAX)]), "");
    }

    #[test]
    fn several_files_of_a_registry_count_together() {
        assert_eq!(verdict(&[("arin", 500), ("arin", 500)], &[("arin", 900)]), "");
        assert_eq!(
            verdict(&[("arin", 1_000)], &[("arin", 400), ("arin", 300)]),
            "arin: 700, 1000 in use"
        );
    }

    #[test]
    fn a_table_of_routes_may_go() {
        let in_use = [("arin", 1_000), (Source::ROUTES, 1_000)];
        assert_eq!(verdict(&in_use, &[("arin", 1_000)]), "");
    }

    #[test]
    fn a_registry_that_is_missing_has_shrunk_and_a_new_one_has_not() {
        let in_use = [("lacnic", 10), ("apnic", 20)];
        assert_eq!(verdict(&in_use, &[("lacnic", 10), ("arin", 1)]), "apnic: none, 20 in use");
        assert_eq!(verdict(&in_use, &[]), "apnic: none, 20 in use; lacnic: none, 10 in use");
        assert_eq!(verdict(&[], &in_use), "");
        assert_eq!(verdict(&[("arin", 0)], &[]), "");
    }
}
