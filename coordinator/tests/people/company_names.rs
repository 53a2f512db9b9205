//! Names of companies appear only in few responses and never in bulk, because registries do not
//! allow their WHOIS data to be republished. A new response that names companies fails this test.

use std::collections::BTreeSet;

use serde_json::Value;

/// The operations whose responses name companies: of agents' homes, of delegations, and of the
/// subnets around one address.
const NAMING: [&str; 14] = [
    "get /api/v1/agents",
    "get /api/v1/agents/{id}",
    "post /api/v1/agents/{id}/approve",
    "delete /api/v1/agents/{id}/drain",
    "post /api/v1/agents/{id}/drain",
    "post /api/v1/agents/{id}/pause",
    "post /api/v1/agents/{id}/remove-pages",
    "post /api/v1/agents/{id}/resume",
    "post /api/v1/agents/{id}/revoke",
    "get /api/v1/delegations",
    "get /api/v1/delegations/{id}",
    "get /api/v1/delegations/{id}/explanation",
    "post /api/v1/delegations/{id}/override",
    "get /api/v1/hierarchy/{address}",
];

/// Most items of a page.
const PAGE: u64 = 500;

fn document() -> Value {
    // A test beside the routes holds that the program serves this document.
    serde_json::from_str(include_str!("../../openapi.json")).unwrap()
}

/// True when a value of this schema contains the name of a company.
fn names_a_company(document: &Value, schema: &Value, visited: &mut BTreeSet<String>) -> bool {
    if let Some(reference) = schema["$ref"].as_str() {
        let name = reference.rsplit('/').next().unwrap();
        let new = visited.insert(name.to_owned());
        return new && names_a_company(document, &document["components"]["schemas"][name], visited);
    }
    let is_text = |field: &Value| field["type"].to_string().contains("string");
    if schema["properties"].get("company").is_some_and(is_text) {
        return true;
    }
    match schema {
        Value::Object(fields) => {
            fields.values().any(|field| names_a_company(document, field, visited))
        }
        Value::Array(several) => several.iter().any(|one| names_a_company(document, one, visited)),
        _ => false,
    }
}

/// Every operation with its method and path.
fn operations(document: &Value) -> impl Iterator<Item = (String, &Value)> {
    let paths = document["paths"].as_object().unwrap();
    paths.iter().flat_map(|(path, item)| {
        let methods = item.as_object().unwrap().iter();
        methods.map(move |(method, operation)| (format!("{method} {path}"), operation))
    })
}

#[test]
fn companies_are_named_in_few_responses_and_never_in_bulk() {
    let document = document();
    let naming: Vec<_> = operations(&document)
        .filter(|(_, operation)| {
            names_a_company(&document, &operation["responses"], &mut BTreeSet::new())
        })
        .collect();
    let names: BTreeSet<&str> = naming.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, BTreeSet::from(NAMING));
    for (name, operation) in naming.iter().filter(|(name, _)| !name.contains('{')) {
        let parameters = operation["parameters"].as_array().unwrap();
        let limit = parameters.iter().find(|parameter| parameter["name"] == "limit").unwrap();
        assert_eq!(limit["schema"]["maximum"], PAGE, "{name}");
        assert!(
            operation["security"].as_array().is_some_and(|by| !by.is_empty()),
            "{name} needs a session"
        );
    }
}
