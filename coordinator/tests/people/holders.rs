//! Who holds which addresses is told for what the coordinator works with, never in bulk: registries
//! do not allow their WHOIS data to be passed on. What a new answer may tell is decided here.

use std::collections::BTreeSet;

use serde_json::Value;

/// The answers that name holders: of agents' homes, of delegations, and of the ranges around one
/// address.
const NAMING: [&str; 7] = [
    "/api/v1/agents",
    "/api/v1/agents/{id}",
    "/api/v1/delegations",
    "/api/v1/delegations/{id}",
    "/api/v1/delegations/{id}/why",
    "/api/v1/hierarchy/{address}",
    "/api/v1/landmarks",
];

/// Rows of a page at most.
const PAGE: u64 = 500;

fn document() -> Value {
    // That it is what the program serves, a test beside the routes sees to.
    serde_json::from_str(include_str!("../../openapi.json")).unwrap()
}

/// Whether a value of this schema holds a text that is a company.
fn names_a_company(document: &Value, schema: &Value, passed: &mut BTreeSet<String>) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        let new = passed.insert(name.to_owned());
        return new && names_a_company(document, &document["components"]["schemas"][name], passed);
    }
    let is_text = |field: &Value| field["type"].to_string().contains("string");
    if schema["properties"].get("company").is_some_and(is_text) {
        return true;
    }
    match schema {
        Value::Object(fields) => {
            fields.values().any(|field| names_a_company(document, field, passed))
        }
        Value::Array(several) => several.iter().any(|one| names_a_company(document, one, passed)),
        _ => false,
    }
}

#[test]
fn holders_are_named_in_few_answers_and_never_in_bulk() {
    let document = document();
    let paths = document["paths"].as_object().unwrap();
    let gets = paths.iter().filter_map(|(path, item)| Some((path.as_str(), item.get("get")?)));
    let naming: Vec<_> = gets
        .filter(|(_, get)| names_a_company(&document, &get["responses"], &mut BTreeSet::new()))
        .collect();
    assert_eq!(naming.iter().map(|(path, _)| *path).collect::<Vec<_>>(), NAMING);
    for (path, get) in naming.iter().filter(|(path, _)| !path.contains('{')) {
        let parameters = get["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|one| one["name"] == "limit").unwrap();
        assert_eq!(limit["schema"]["maximum"], PAGE, "{path}");
        assert!(
            get["security"].as_array().is_some_and(|by| !by.is_empty()),
            "{path} is for those who signed in"
        );
    }
}
