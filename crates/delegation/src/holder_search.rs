//! Holder search: delegated subnets by the name of their company, or by their country.

use std::collections::BTreeMap;

use hierarchy::{Country, Hierarchy, SubnetId};
use model::AgentId;

use crate::DelegationTable;

/// Delegated subnets whose country is `text`, or whose company's handle or name contains it
/// regardless of case, with their agents in the order of the hierarchy: at most `most` of each
/// kind.
pub fn held_by_name(
    hierarchy: &Hierarchy,
    table: &DelegationTable,
    text: &str,
    most: usize,
) -> Vec<(SubnetId, AgentId)> {
    let companies = hierarchy.companies().containing(text);
    let of_companies = companies.flat_map(|company| table.subnets_of_company(company));
    let with_agent = |subnet| Some((subnet, table.agent_of(subnet)?));
    let mut found: BTreeMap<SubnetId, AgentId> =
        of_companies.filter_map(with_agent).take(most).collect();
    // Countries are written in capitals.
    if let Ok(country) = text.to_ascii_uppercase().parse::<Country>() {
        let is_there = |subnet| hierarchy.subnet(subnet).country() == Some(country);
        let of_country = table.iter().filter(|(subnet, _)| is_there(*subnet));
        found.extend(of_country.map(|(subnet, held)| (subnet, held.agent)).take(most));
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use hierarchy::{Builder, Companies, Company, Generation, Record, Registry, SubnetKind};
    use model::Reason;

    use super::*;
    use crate::Delegation;

    #[test]
    fn companies_are_found_by_a_part_of_their_name_and_countries_by_their_code() {
        let mut companies = Companies::default();
        let registry = Registry::RipeNcc;
        let named = |handle, name| Company { registry, handle, name: Some(name) };
        let first = companies.push(named("ORG-1", "University of Cyprus"));
        let second = companies.push(named("ORG-2", "Ελληνικό Δίκτυο"));
        let mut builder = Builder::default();
        let records = [("10.0.0.0/8", first, "CY"), ("11.0.0.0/8", second, "GR")];
        for (range, company, country) in records {
            builder.add(Record {
                range: range.parse().unwrap(),
                kind: SubnetKind::Delegated,
                registry: Some(registry),
                company: Some(company),
                country: country.parse().ok(),
            });
        }
        let hierarchy = builder.build(Generation::new(1), companies).0;
        let delegation = Delegation { agent: AgentId::new(1), reason: Reason::Home };
        let subnets =
            ["10.0.0.0/8", "11.0.0.0/8"].map(|range| hierarchy.find(&range.parse().unwrap()));
        let entries = subnets.map(|subnet| (subnet.unwrap(), delegation));
        let table = DelegationTable::of(&hierarchy, entries);
        let found = |text: &str, most| {
            let found = held_by_name(&hierarchy, &table, text, most);
            let range =
                |(subnet, _): &(SubnetId, AgentId)| hierarchy.subnet(*subnet).range().to_string();
            found.iter().map(range).collect::<Vec<_>>()
        };
        assert_eq!(found("university", 9), ["10.0.0.0/8"]);
        assert_eq!(found("ΔΊΚΤ", 9), ["11.0.0.0/8"]);
        assert_eq!(found("org-", 9), ["10.0.0.0/8", "11.0.0.0/8"]);
        assert_eq!(found("org-", 1), ["10.0.0.0/8"]);
        assert_eq!(found("gr", 9), ["11.0.0.0/8"]);
        assert_eq!(found("de", 9), [""; 0]);
    }
}
